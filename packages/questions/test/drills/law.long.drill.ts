import { expect, test } from 'vitest';
import { checkLaw } from '../law/law.ts';

test('5,000 random questions are answered as plain loops answer them', async () => {
  let asked = 0;
  await checkLaw({
    sets: 250,
    questions: 20,
    seen: () => {
      asked += 1;
    },
  });
  expect(asked).toBe(5000);
});

const mistakes = [
  'shareOfKnown',
  'shortIsMissed',
  'rateOfCalls',
  'p90',
  'callersByText',
  'sundays',
  'judgesAll',
  'reachedByAny',
  'comparesTotals',
  'comparesWhole',
  'percentOfLater',
];
test.each(mistakes)('a rule that is read in another way is found: %s', async (mistake) => {
  // It ends with the first one that is found; some mistakes show in one of 200 sets.
  await expect(
    checkLaw({ sets: 2500, questions: 20, mistakes: { [mistake]: true } }),
  ).rejects.toThrow('Property failed');
});
