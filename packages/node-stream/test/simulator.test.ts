import fc from 'fast-check';
import { test } from 'vitest';
import { playHistories } from './laws/planning.ts';
import { playHistory, regimes } from './simulator/history.ts';

// Many more are in drills/planning.drill.ts.
test.each(regimes)(
  '40 histories of "%s" lose no record, deliver none twice, and are whole only when they are',
  (regime) => playHistories(regime, 40),
);

/** As large as a history may get: a smaller one that fails is easier to read. */
const plans = fc.record({
  seed: fc.nat(),
  regime: fc.constantFrom(...regimes),
  records: fc.integer({ min: 0, max: 60 }),
  runs: fc.integer({ min: 1, max: 4 }),
  unrest: fc.constantFrom(0, 0.3, 1),
  hasFaults: fc.boolean(),
});

test('as many histories as fit into three seconds keep the laws', async () => {
  const laws = fc.asyncProperty(plans, async (plan) => {
    const { violations } = await playHistory(plan);
    // One line to replay it.
    if (violations.length > 0)
      throw new Error(`playHistory(${JSON.stringify(plan)}): ${violations.join('; ')}`);
  });
  await fc.assert(laws, {
    numRuns: 1_000_000,
    interruptAfterTimeLimit: 3000,
    markInterruptAsFailure: false,
  });
});
