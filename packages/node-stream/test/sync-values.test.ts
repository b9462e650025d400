import { formatNaive } from '@call-attribution/core/time';
import { describe, expect, test } from 'vitest';
import type { CopyStretch } from '../src/proof.ts';
import { conclude } from '../src/sync/conclude.ts';
import type { Part } from '../src/sync/state.ts';
import { type TakenSlice, take } from '../src/sync/take.ts';

// What a copy has, as values: with a slice more, and after the counts of a run.

const hour = 3_600_000;
const now = Date.UTC(2026, 5, 1);
const ages = { lookback: 24 * hour, settle: 240 * hour };
const part: Part = {
  version: 'v3',
  filter: '',
  latest: null,
  asked: [],
  stretches: [],
  firsts: [],
  countedTo: null,
  pace: null,
  paged: null,
};
const one = Date.UTC(2026, 0, 1);
const two = Date.UTC(2026, 0, 2);
const three = Date.UTC(2026, 0, 3);
const may = Date.UTC(2026, 4, 1);
const proved: CopyStretch = {
  from: one,
  to: two,
  is: 'proved',
  counted: 3,
  shared: 0,
  calls: 3,
  at: null,
  read: now,
  run: 2,
  open: 0,
  ends: [1, 1],
};

describe('a slice that is taken', () => {
  const call = (at: number, ppc_status = 'Processed') => ({
    date_added: formatNaive(at),
    ppc_status,
  });
  const found: TakenSlice = {
    slice: {
      from: one,
      to: two,
      border: [],
      first: null,
      pace: null,
      pages: null,
      stretches: [proved],
    },
    range: { from: one, to: two },
    calls: [call(one), call(one + 12 * hour), call(two, 'Not Processed')],
    read: now,
    run: 2,
    until: three,
  };

  test('its stretch has the calls at its ends, those that are not final, and its run', () => {
    const after = take(part, found, 0, ages);
    expect(after).toMatchObject({ latest: two, stretches: [{ ...proved, open: 1 }] });
    expect(part.stretches).toEqual([]);
  });

  test('calls that were not taken are missing of it', () => {
    const { stretches } = take(part, found, 2, ages);
    expect(stretches).toMatchObject([{ is: 'short', why: 'unreadable', missing: 2, calls: 1 }]);
  });

  test('a call at the border counts with the stretch before it', () => {
    const before = { ...proved, from: two, to: three, ends: [1, 0] as const };
    const { stretches } = take({ ...part, stretches: [before] }, found, 0, ages);
    expect(stretches).toMatchObject([{ calls: 3 }, { from: two, shared: 1, calls: 2 }]);
  });

  test('a time that no clock shows yet is not the latest one', () => {
    const late = { ...found, calls: [call(Date.UTC(2031, 0, 1))] };
    expect(take(part, late, 0, ages).latest).toBeNull();
  });
});

describe('the counts of a run', () => {
  const settings = { ...ages, maxPages: undefined };
  const counts = { others: [], isFirst: true, now, run: 2, until: three };
  const after = (before: Partial<CopyStretch>, counted: Partial<CopyStretch>) => {
    const was = { ...proved, ...before };
    const state = { ...part, latest: may, stretches: [was] };
    return conclude(state, { ...counts, counted: [{ ...was, ...counted }] }, settings);
  };

  test.each<[string, Partial<CopyStretch>, Partial<CopyStretch>, Partial<CopyStretch>, boolean]>([
    ['as many as before', {}, {}, { is: 'proved', at: now }, false],
    [
      'more',
      {},
      { is: 'short', why: 'rose', missing: 1 },
      { is: 'short', why: 'rose', at: now },
      true,
    ],
    ['fewer', {}, { is: 'unproven', why: 'fell' }, { is: 'unproven', why: 'fell', at: now }, true],
    [
      'none that the server gives: it waits for a later count',
      {},
      { is: 'unproven', why: 'uncounted' },
      { is: 'proved', at: null },
      false,
    ],
    [
      'short as it was read by this run',
      { is: 'short', why: 'fewer' },
      { is: 'short', why: 'fewer' },
      { is: 'short', at: now },
      false,
    ],
    [
      'short as an earlier run has left it',
      { is: 'short', why: 'fewer', run: 1 },
      {},
      { is: 'short', at: now },
      true,
    ],
    [
      'without totals as an earlier run has left it',
      { is: 'unproven', why: 'no_total', run: 1 },
      {},
      { is: 'unproven', at: now },
      false,
    ],
    [
      'what is left of a stretch that was cut, by an earlier run',
      { counted: null, run: 1 },
      {},
      { is: 'proved', at: null },
      true,
    ],
  ])('%s', (_, before, counted, expected, isAgain) => {
    const { part: found, again } = after(before, counted);
    expect(found).toMatchObject({ countedTo: three, stretches: [expected] });
    expect(again).toEqual(isAgain ? [{ from: one, to: two }] : []);
  });

  test('what an earlier run has read and may have changed since is read again, unless pages are few', () => {
    const old = { to: may, run: 1, read: now - 2 * hour };
    expect(after(old, {}).again).toHaveLength(1);
    const few = conclude(
      { ...part, latest: old.to, stretches: [{ ...proved, ...old }] },
      { ...counts, counted: [{ ...proved, ...old }] },
      { ...settings, maxPages: 3 },
    );
    expect(few.again).toEqual([]);
  });

  test('what the first answer counted and nothing has brought is told', () => {
    const firsts = [{ from: one, to: two, total: 5 }];
    const { part: found } = conclude(
      { ...part, stretches: [proved], firsts },
      { ...counts, counted: [proved] },
      settings,
    );
    expect(found.firsts).toEqual([{ ...firsts[0], lacks: 2 }]);
  });
});
