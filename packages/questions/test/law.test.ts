import { expect, test } from 'vitest';
import { checkLaw } from './law/law.ts';

test('random questions are answered as plain loops answer them', async () => {
  let asked = 0;
  let rows = 0;
  await checkLaw({
    sets: 30,
    questions: 10,
    seen: (answer) => {
      asked += 1;
      rows += answer.rows.length;
    },
  });
  expect(asked).toBe(300);
  expect(rows).toBeGreaterThan(300);
});
