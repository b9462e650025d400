import { afterAll, test } from 'vitest';
import { checkLaw } from './law/law.ts';
import { cleanUp, testWarehouse } from './support.ts';

afterAll(cleanUp);

test('DuckDB and plain JavaScript give one answer to random questions', async () => {
  const { warehouse } = await testWarehouse();
  await checkLaw(warehouse, { runs: Number(process.env.CALLS_LAW_RUNS ?? 5), questions: 20 });
}, 300_000);
