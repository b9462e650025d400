import { expect } from 'vitest';
import { anyChoice } from '../simulator/any-choice.ts';
import { diceOf } from '../simulator/dice.ts';
import { type History, planOf, playHistory, type Reader } from '../simulator/history.ts';
import { withWrongFunctions } from '../simulator/planting.ts';

/** A read may give up, as soon as it has asked more than what came allows. */
const mayHappen = new Set([
  'too many requests',
  'ranges ignored, and noticed late',
  'the read asks without end',
]);

/**
 * Plays histories with a policy that chooses at random among what is allowed: nothing is lost,
 * doubled, or called whole when it is not. So no mistake in the policy can make a read wrong.
 */
export async function playAnyPolicy(
  count: number,
  onHistory: (history: History) => void = () => {},
): Promise<void> {
  const dice = { ...diceOf(1) };
  const reader = await withWrongFunctions<Reader>('./reader.ts', (plant) =>
    plant('reader/choose.ts', () => anyChoice(dice)),
  );
  let whole = 0;
  for (let seed = 0; seed < count; seed += 1) {
    Object.assign(dice, diceOf(seed ^ 0xa11));
    const plan = planOf(seed);
    const history = await playHistory(plan, reader);
    const violations = history.violations.filter((one) => !mayHappen.has(one));
    onHistory({ ...history, violations });
    if (violations.length > 0)
      throw new Error(`history ${seed}, ${plan.regime}: ${violations.join('; ')}`);
    if (history.verdict?.proof === 'whole') whole += 1;
  }

  // One that never ends well would keep the law as well.
  expect(whole / count).toBeGreaterThan(0.2);
}
