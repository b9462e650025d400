import { test } from 'vitest';
import { playHistory, regimes } from '../simulator/history.ts';

const histories = Number(process.env.CALLS_HISTORIES ?? 1_000_000);
const each = histories / regimes.length;

// The first 20,000 are the ones of the normal tests.
test.each(regimes.map((regime, at) => [regime, at] as const))(
  `${each} histories of "%s" lose no record, deliver none twice, and are complete only when they are`,
  { timeout: 3_600_000 },
  (regime, at) => {
    for (let i = 0; i < each; i += 1) {
      const seed = i * regimes.length + at;
      const { violations } = playHistory(seed);
      if (violations.length > 0) throw new Error(`history ${seed}, ${regime}: ${violations.join('; ')}`);
    }
  },
);
