import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callAxis } from '../src/calls/call-axis.ts';
import type { PageView } from '../src/reader/page-view.ts';
import { type PlanEvent, type Step, step } from '../src/reader/plan.ts';
import { newPlan, type Output, type Plan } from '../src/reader/state.ts';
import { playHistories } from './laws/planning.ts';
import { type History, playHistory, regimes } from './simulator/history.ts';
import { mistakes } from './simulator/mistakes.ts';

const mostToFindAMistake = 5_000;

// Many more are in drills/planning.drill.ts.
test.each(regimes)(
  '150 histories of "%s" lose no record, deliver none twice, and are complete only when they are',
  (regime) => playHistories(regime, 150),
);

/** As large as a history may get: a smaller one that fails is easier to read. */
const plans = fc.record({
  seed: fc.nat(),
  regime: fc.constantFrom(...regimes),
  records: fc.integer({ min: 0, max: 26 }),
  runs: fc.integer({ min: 1, max: 4 }),
  unrest: fc.constantFrom(0, 0.3, 1),
  hasFaults: fc.boolean(),
});
const laws = fc.property(plans, (plan) => {
  const { violations } = playHistory(plan);
  // One line to replay it.
  if (violations.length > 0)
    throw new Error(`playHistory(${JSON.stringify(plan)}): ${violations.join('; ')}`);
});

test('as many histories as fit into five seconds keep the laws', () => {
  fc.assert(laws, { numRuns: 1_000_000, interruptAfterTimeLimit: 5000, markInterruptAsFailure: false });
});

test('a history that fails is made smaller', () => {
  const reducer = mistakes['the end of a list is forgotten'];
  const broken = fc.property(plans, (plan) => playHistory(plan, reducer).violations.length === 0);
  const { failed, counterexample } = fc.check(broken, { seed: 1, numRuns: 5000 });
  expect(failed).toBe(true);
  expect(counterexample?.[0]).toMatchObject({ runs: 1, hasFaults: false });
});

describe('the simulator finds a planted mistake', () => {
  test.each(Object.entries(mistakes))('%s', (_, reducer) => {
    const found = firstViolation((seed) => playHistory(seed, reducer));
    expect(found).not.toBeNull();
  });
});

function firstViolation(play: (seed: number) => History): string | null {
  for (let seed = 0; seed < mostToFindAMistake; seed += 1) {
    const [violation] = play(seed).violations;
    if (violation !== undefined) return violation;
  }
  return null;
}

test('the same state and event always give the same step, and no state is ever changed', () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const steps: { plan: Plan; event: PlanEvent; next: Step }[] = [];
    playHistory(seed, (plan, event) => {
      freeze(plan);
      const next = step(plan, event);
      steps.push({ plan, event, next });
      return next;
    });
    // All of them once more, the last first: what came later has left no trace in earlier states.
    for (const { plan, event, next } of steps.reverse()) expect(step(plan, event)).toEqual(next);
  }
});

const frozen = () => {
  throw new TypeError('a state is changed');
};

/** Freezes a state and all that it holds; a map or a set by its methods. */
function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  if (value instanceof Map || value instanceof Set)
    Object.assign(value, { set: frozen, add: frozen, delete: frozen, clear: frozen });
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
}

describe('a slice that never agrees', () => {
  const second = 1000;
  const settings = {
    axis: callAxis,
    rows: 10,
    slicePages: 4,
    tries: 5,
    sealedBefore: Date.UTC(2027, 0, 1),
    countBefore: Date.UTC(2027, 0, 1),
    horizon: Date.UTC(2027, 0, 1),
    lookahead: { pages: 4, bytes: 1e6 },
    lower: Date.UTC(2026, 0, 1),
    upper: Date.UTC(2026, 6, 1),
    hasExclusiveBound: false,
    keepsFirst: false,
  };

  /** Reads from a server that makes each page up. */
  function readFrom(pageOf: (request: Extract<Output, { kind: 'request' }>) => Partial<PageView>) {
    let plan = newPlan(settings, [{ from: null, to: null }], { style: 'half-open' });
    const queue: PlanEvent[] = [{ kind: 'wanted' }];
    let requests = 0;
    for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
      const { plan: next, outputs } = step(plan, event);
      plan = next;
      for (const output of outputs) {
        if (output.kind === 'failure') return { failure: output.failure, requests };
        if (output.kind === 'end') return { failure: null, requests };
        if (output.kind === 'batch') queue.push({ kind: 'wanted' });
        if (output.kind !== 'request') continue;
        requests += 1;
        if (requests > 10_000) throw new Error('it asks without end');
        const page: PageView = {
          count: 0,
          first: output.start * output.rows + 1,
          total: 0,
          bytes: 0,
          ids: () => [],
          positionOf: () => Number.NaN,
          checksumOf: () => 0,
          ...pageOf(output),
        };
        queue.push({ kind: 'arrived', id: output.id, page });
      }
    }
    throw new Error('it waits for nothing');
  }

  test('it is given up after a bounded number of requests, however it is cut', () => {
    // Each list holds one call less than the server counts, and the call seems to lie at its very beginning.
    const { failure, requests } = readFrom(({ span, start }) =>
      start > 0
        ? { total: 2 }
        : {
            count: 1,
            total: 2,
            ids: () => ['a'],
            positionOf: () => (span.from ?? settings.lower) + 0 * second,
          },
    );
    expect(failure).toMatchObject({ kind: 'incomplete', trouble: 'short_page', tries: 5 });
    expect(requests).toBeLessThan(1000);
  });

  test('it is read when its halves agree', () => {
    // Lists of more than one page are in another order each time.
    const times = Array.from({ length: 35 }, (_, i) => settings.lower + i * 3600 * second);
    let turn = 0;
    const { failure, requests } = readFrom(({ span, rows, start }) => {
      turn += 1;
      const inside = times.filter(
        (time) => time >= (span.from ?? 0) && time < (span.to ?? Number.POSITIVE_INFINITY),
      );
      const turned = inside.map((_, i) => inside[(i + turn) % inside.length] as number);
      const page = turned.slice(start * rows, (start + 1) * rows);
      return {
        count: page.length,
        total: inside.length,
        ids: () => page.map(String),
        positionOf: (i) => page[i] ?? Number.NaN,
      };
    });
    expect(failure).toBeNull();
    expect(requests).toBeLessThan(60);
  });
});
