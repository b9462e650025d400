import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mistakes } from './fixtures/planted-mistakes.ts';
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

test.each(mistakes)('%s can be planted as a mistake in %s', (_, file, right) => {
  const text = readFileSync(join(import.meta.dirname, '../..', file), 'utf8');
  expect(text.split(right)).toHaveLength(2);
});
