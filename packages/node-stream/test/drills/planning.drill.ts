import { type Counts, openDrill, rounds } from '@call-attribution/test-tools/drill';
import { test } from 'vitest';
import { playHistories } from '../laws/planning.ts';
import { regimes } from '../simulator/history.ts';

const each = Math.ceil(rounds(10_000, 500_000) / regimes.length);
const tally = openDrill({
  name: 'planning',
  kind: 'moving lists',
  what: 'Random servers, moves, faults and resumed runs are simulated; the reader loses no record, delivers none twice, ends, and says whole only when it is',
});

const kinds: readonly (readonly [RegExp, Exclude<keyof Counts, 'runs'>])[] = [
  [/ lost$/, 'lost'],
  [/ was delivered (again|twice)/, 'doubled'],
  [/^(the read asks without end|too many requests)$/, 'hung'],
  [/./, 'lied'],
];

test.each(regimes)(
  `${each} histories of "%s" lose no record, deliver none twice, and are whole only when they are`,
  { timeout: 3_600_000 },
  (regime) =>
    playHistories(regime, each, ({ violations }) => {
      tally.add({ runs: 1 });
      for (const violation of violations)
        tally.add({ [kinds.find(([pattern]) => pattern.test(violation))?.[1] ?? 'lied']: 1 });
    }),
);
