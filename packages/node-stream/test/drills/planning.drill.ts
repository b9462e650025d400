import { type Counts, openDrill, rounds, type Tally } from '@call-attribution/test-tools/drill';
import { test } from 'vitest';
import { playAnyPolicy } from '../laws/any-policy.ts';
import { playHistories } from '../laws/planning.ts';
import { type History, regimes } from '../simulator/history.ts';

// So many find every mistake of planted-mistakes.drill.ts: the rarest needs 5,424 histories.
const each = Math.ceil(rounds(6_000, 500_000) / regimes.length);
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

const counting =
  (of: Tally) =>
  ({ violations }: History): void => {
    of.add({ runs: 1 });
    for (const violation of violations)
      of.add({ [kinds.find(([pattern]) => pattern.test(violation))?.[1] ?? 'lied']: 1 });
  };

test.each(regimes)(
  `${each} histories of "%s" lose no record, deliver none twice, and are whole only when they are`,
  { timeout: 3_600_000 },
  (regime) => playHistories(regime, each, counting(tally)),
);

const anyPolicy = openDrill({
  name: 'any-policy',
  kind: 'moving lists',
  what: 'The same with a policy that chooses at random among what the proof allows: it may give up, and loses, doubles and calls whole nothing that it should not',
});
const random = rounds(1000, 10_000);
test(
  `${random} histories with a policy that chooses at random keep the laws`,
  { timeout: 3_600_000 },
  () => playAnyPolicy(random, counting(anyPolicy)),
);
