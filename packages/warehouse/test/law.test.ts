import { afterAll, test } from 'vitest';
import { checkLaw } from './law.ts';
import { cleanUp } from './support.ts';

afterAll(cleanUp);

test('DuckDB and plain JavaScript give one answer to random questions', async () => {
  await checkLaw(Number(process.env.CALLS_LAW_RUNS ?? 5), 20);
});
