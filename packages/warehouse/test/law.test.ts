import { expect, test } from 'vitest';
import { checkLaw } from './law/law.ts';
import { testWarehouse } from './support.ts';

test('DuckDB and plain JavaScript give one answer to random questions', async () => {
  let asked = 0;
  await checkLaw(async () => (await testWarehouse({ threads: 1 })).warehouse, {
    sets: 5,
    questions: 100,
    seen: () => {
      asked += 1;
    },
  });
  expect(asked).toBe(500);
});
