import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  accountLater,
  continued,
  proved,
  readAgain,
  retried,
  setAccountAside,
  synced,
  takeToClose,
  takeToSync,
} from '../src/lanes/account-entry.ts';
import {
  advance,
  giveBack,
  grow,
  later,
  newLane,
  parcelAt,
  reopen,
  setParcelAside,
  take,
} from '../src/lanes/lane.ts';
import type { LaneValue } from '../src/lanes/values.ts';
import { newAccount } from './worker-scene.ts';

const sums = { records: 7, requests: 2, bytes: 100 };
const failure = { code: 'incomplete', isTry: true, at: 5, notBefore: 9 };

/** A history of a lane: what its workers do, and who interferes. */
type Step =
  | { readonly do: 'commit' | 'aside' | 'later' | 'give back' }
  | { readonly do: 'reopen'; readonly parcels: readonly number[] }
  | { readonly do: 'grow'; readonly by: number };

const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.constantFrom<Step>(
      { do: 'commit' },
      { do: 'commit' },
      { do: 'aside' },
      { do: 'later' },
      { do: 'give back' },
    ),
    fc.record({ do: fc.constant('reopen' as const), parcels: fc.array(fc.nat(40), { maxLength: 4 }) }),
    fc.record({ do: fc.constant('grow' as const), by: fc.nat(6) }),
  ),
  { maxLength: 60 },
);

const lengths = fc.record({ lanes: fc.integer({ min: 1, max: 4 }), parcels: fc.nat(30) });

/** What has become of the parcels of a lane. */
function play(history: readonly Step[], k: number, lanes: number, parcels: number) {
  const committed = new Set<number>();
  const counts = new Map<number, number>();
  let of = parcels;
  let lane = newLane(k, parcels);
  const after = (next: LaneValue): void => {
    lane = next;
    const aside = lane.aside.map(([index]) => index);
    expect(new Set([...lane.again, ...aside]).size).toBe(lane.again.length + aside.length);
    for (const index of [...lane.again, ...aside]) {
      expect(index % lanes).toBe(k);
      expect(index).toBeLessThan(lane.next);
      expect(index).toBeLessThan(of);
    }
  };
  for (const step of history) {
    if (step.do === 'reopen') {
      const isOpen = (index: number): boolean =>
        index % lanes === k && (committed.has(index) || lane.aside.some(([one]) => one === index));
      const opened = step.parcels.filter(isOpen);
      after(
        reopen(
          lane,
          k,
          lanes,
          step.parcels.map((index) => ({ index, records: 7, bytes: 100 })),
        ),
      );
      for (const index of opened) committed.delete(index);
      continue;
    }
    if (step.do === 'grow') {
      of += step.by;
      after(grow(lane, of));
      continue;
    }
    const index = parcelAt(lane);
    if (index === null) continue;
    expect(committed.has(index)).toBe(false);
    const held = take(lane, 'w');
    expect(held.by).toBe('w');
    if (step.do === 'commit') {
      committed.add(index);
      counts.set(index, (counts.get(index) ?? 0) + 1);
      after(advance(held, index, lanes, sums));
    } else if (step.do === 'aside') after(setParcelAside(held, index, lanes, 'incomplete'));
    else if (step.do === 'later') after(later(held, failure));
    else after(giveBack(held));
    expect(lane.by).toBeNull();
  }
  return { lane, committed, of };
}

describe('lanes', () => {
  it('come to every parcel once, whatever fails, is read again or is added', () => {
    fc.assert(
      fc.property(lengths, steps, fc.nat(3), ({ lanes, parcels }, history, n) => {
        const k = n % lanes;
        const { lane, committed, of } = play(history, k, lanes, parcels);
        const left: number[] = [];
        let rest = lane;
        for (let index = parcelAt(rest); index !== null; index = parcelAt(rest)) {
          left.push(index);
          rest = advance(rest, index, lanes, sums);
        }
        const all = [...committed, ...left, ...lane.aside.map(([index]) => index)].sort((a, b) => a - b);
        const mine = Array.from({ length: of }, (_, i) => i).filter((i) => i % lanes === k);
        expect(all).toEqual(mine);
        expect(rest.done).toBe(committed.size + left.length);
        expect(rest.records).toBe(7 * rest.done);
      }),
      { numRuns: 200 },
    );
  });

  it('count a parcel once, although two workers believe that they have committed it', () => {
    const once = advance(take(newLane(0, 6), 'a'), 0, 2, sums);
    expect(advance(take(once, 'b'), 0, 2, sums)).toEqual(once);
    expect(setParcelAside(take(once, 'b'), 0, 2, 'incomplete')).toEqual(once);
  });

  it('remember trouble until the parcel is done', () => {
    const failing = later(later(take(newLane(1, 6), 'a'), failure), {
      ...failure,
      code: 'server_error',
      isTry: false,
      at: 8,
    });
    expect(failing).toMatchObject({ by: null, notBefore: 9, tries: 1, why: 'server_error', failingSince: 5 });
    expect(advance(take(failing, 'a'), 1, 2, sums)).toMatchObject({
      next: 3,
      notBefore: 0,
      tries: 0,
      why: null,
      failingSince: 0,
    });
  });
});

describe('accounts', () => {
  const account = newAccount('101', 4, 20);
  const why = { code: 'unauthorized', message: 'The keys were refused.', at: 3, by: 'w' };

  it('are read, closed, synced or final, and set aside with a way back', () => {
    const closing = takeToClose(account, 'w');
    expect(closing).toMatchObject({ phase: 'closing', by: 'w' });
    const verdict = { records: 20, total: 20, at: 7 };
    expect(proved(closing, verdict, false)).toMatchObject({ phase: 'final', by: null, verdict });
    expect(readAgain(closing)).toMatchObject({ phase: 'reading', by: null, rounds: 1 });
    const syncing = proved(closing, verdict, true);
    const counts = { new: 2, changed: 1, pending: 5 };
    const twice = synced(takeToSync(synced(takeToSync(syncing, 'w'), counts, 8, 18), 'w'), counts, 19, 29);
    expect(twice).toMatchObject({ phase: 'syncing', by: null, notBefore: 29 });
    expect(twice.sync).toEqual({ runs: 2, new: 4, changed: 2, pending: 5, at: 19 });
    expect(continued(twice, 6, 30)).toMatchObject({ phase: 'reading', parcels: 6, total: 30, rounds: 0 });
    const aside = setAccountAside(takeToSync(twice, 'w'), why);
    expect(aside).toMatchObject({ phase: 'aside', by: null, aside: why });
    expect(retried(aside)).toMatchObject({ phase: 'reading', aside: null, tries: 0 });
    expect(retried(twice)).toBe(twice);
  });

  it('keep the last trouble until something works', () => {
    const twice = accountLater(accountLater(takeToClose(account, 'w'), why, 5), { ...why, at: 6 }, 9);
    expect(twice).toMatchObject({ phase: 'closing', by: null, notBefore: 9, tries: 2, aside: { at: 6 } });
    expect(readAgain(twice)).toMatchObject({ tries: 0, aside: null });
  });
});
