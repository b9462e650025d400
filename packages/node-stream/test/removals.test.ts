import type { Call } from '@call-attribution/core';
import { describe, expect, test } from 'vitest';
import { withoutCalls, withoutRecords } from '../src/copies/index.ts';
import { type SyncState, syncInto } from '../src/index.ts';
import { FakeServer, fakeRecords } from './fake-server.ts';
import { memoryStore } from './laws/sync.ts';

test('a line of a ledger loses what it says about some calls, and no other line changes', () => {
  const isGone = (sid: string, account: string | null) =>
    ['a', 'b'].includes(sid) && (account ?? '101') === '101';
  expect(
    withoutCalls(
      '{"type":"x","entries":[{"sid":"a"},{"sid":"c"},{"sid":"b","account":101,"n":[1]}]}',
      isGone,
    ),
  ).toBe('{"type":"x","entries":[{"sid":"c"}]}');

  for (const line of [
    '[{"sid":"a","account":"102"}]',
    '{"n": 1, "entries": [{"sid":"c"}]}',
    'a b',
    '["a"]',
    '{"sid":"a"}',
    '',
  ])
    expect(withoutCalls(line, isGone)).toBe(line);
});

describe('a sync', () => {
  const options = {
    clock: { now: () => Date.UTC(2026, 5, 1) },
    rows: 20,
    lookback: '1d',
    settle: '10d',
  } as const;

  test('gives its sink nothing that this leaves out', async () => {
    const server = new FakeServer(fakeRecords(60, () => 3600));
    const unwanted = new Set(server.records.filter((_, i) => i % 5 === 0).map(({ sid }) => sid));
    let isLeftOut = false;
    const store = memoryStore();
    const sink = { ...store, leavesOut: ({ sid }: Call) => isLeftOut && unwanted.has(sid) };
    await syncInto(server, sink, options);
    expect(store.rows.size).toBe(60);
    store.rows.clear();
    isLeftOut = true;
    expect(await syncInto(server, sink, options)).toMatchObject({ proof: 'whole', gaps: [] });
    expect([...store.rows.keys()].filter((sid) => unwanted.has(sid))).toEqual([]);
  });

  test('an erasure takes ids out of a state that names them', () => {
    const seen = ['a', 'b'].map((sid) => [sid, '2026-01-01 00:00:00', 'hash'] as const);
    const none = { asked: [], firsts: [], latest: null, countedTo: null, pace: null, paged: null };
    const doubled = {
      from: null,
      to: null,
      is: 'short',
      why: 'doubled',
      sids: ['a', 'c'],
    } as const;
    const stretches = [{ ...doubled, counted: 3, shared: 0, calls: 3, at: 1 }];
    const state: SyncState = {
      version: 2,
      account: null,
      seen,
      parts: [{ version: 'v3', filter: '', ...none, stretches }],
    };
    const after = withoutRecords(state, new Set(['a']));
    expect(after.seen).toEqual([seen[1]]);
    expect(after.parts[0]?.stretches).toMatchObject([{ sids: ['c'] }]);
  });
});
