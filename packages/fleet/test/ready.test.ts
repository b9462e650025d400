import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountValue, Board, LaneValue, WorkerEvent, WorkerValue } from '../src/index.ts';
import { BoardMemory, memoryBoard } from '../src/index.ts';
import { accountKey, laneKey, workerKey } from '../src/lanes/keys.ts';
import { advance, newLane } from '../src/lanes/lane.ts';
import { isDead, lookAround } from '../src/lanes/presence.ts';
import { draw, readyWork } from '../src/lanes/ready.ts';
import { Pace } from '../src/worker/pace.ts';
import { memoryLimit, mostSlots, nextSlots } from '../src/worker/slots.ts';
import { newAccount } from './worker-scene.ts';

const ttl = 30_000;

/** A board whose clock the test moves, with accounts of two lanes. */
async function openBoard() {
  const clock = { now: 1_000_000 };
  const board = memoryBoard(new BoardMemory({ now: () => clock.now }));
  const put = async (key: string, value: object): Promise<void> => {
    await board.write(key, JSON.parse(JSON.stringify(value)), board.get(key)?.revision ?? 0);
  };
  const account = (id: string, changes: Partial<AccountValue> = {}) =>
    put(accountKey(id), { ...newAccount(id, 4, 20), ...changes });
  const lane = (id: string, k: number, changes: Partial<LaneValue> = {}) =>
    put(laneKey(id, k), { ...newLane(k, 4), ...changes });
  const worker = (name: string, changes: Partial<WorkerValue> = {}) =>
    put(workerKey(name), { state: 'working', slots: 4, ...changes });
  const ready = (me = 'w-me', isMine: (key: string) => boolean = () => false) => {
    const { candidates, ...rest } = readyWork(board, lookAround(board, me, ttl), 2, isMine);
    return { ...rest, names: candidates.map(({ kind, entry }) => `${kind} ${entry.key}`).sort() };
  };
  return { board, clock, account, lane, worker, ready };
}

const done = (k: number): LaneValue => {
  const sums = { records: 1, requests: 1, bytes: 1 };
  return advance(advance(newLane(k, 4), k, 2, sums), k + 2, 2, sums);
};

describe('what is ready', () => {
  it('are the lanes with work of accounts that are read', async () => {
    const { account, lane, ready } = await openBoard();
    await account('101');
    await lane('101', 0);
    await lane('101', 1, done(1));
    await account('102', { phase: 'aside' });
    await lane('102', 0);
    await lane('102', 1);
    expect(ready()).toEqual({ names: ['parcel lane.101.0'], accounts: 2, isOver: false, next: null });
  });

  it('is an account whose lanes are all at their end, and not one whose lanes are not all there', async () => {
    const { account, lane, ready } = await openBoard();
    await account('101');
    await lane('101', 0, done(0));
    expect(ready().names).toEqual([]);
    await lane('101', 1, done(1));
    expect(ready().names).toEqual(['close account.101']);
    expect(ready('w-me', (key) => key === 'account.101').names).toEqual([]);
  });

  it('is a sync whose time has come', async () => {
    const { account, clock, ready } = await openBoard();
    await account('1.01', { phase: 'syncing', notBefore: clock.now + 500 });
    expect(ready()).toMatchObject({ names: [], next: clock.now + 500 });
    clock.now += 500;
    expect(ready().names).toEqual(['sync account.1=2E01']);
  });

  it('is nothing that has to wait, and says until when', async () => {
    const { account, lane, clock, ready } = await openBoard();
    await account('101');
    await lane('101', 0, { notBefore: clock.now + 2000 });
    await lane('101', 1, { notBefore: clock.now + 1000 });
    expect(ready()).toMatchObject({ names: [], next: clock.now + 1000, isOver: false });
    clock.now += 1000;
    expect(ready()).toMatchObject({ names: ['parcel lane.101.1'], next: clock.now + 1000 });
  });

  it('is over when all accounts are final or set aside', async () => {
    const { account, ready } = await openBoard();
    await account('101', { phase: 'final' });
    await account('102', { phase: 'aside' });
    expect(ready()).toEqual({ names: [], accounts: 2, isOver: true, next: null });
  });

  it('is what the dead hold, but not what the living do', async () => {
    const { account, lane, worker, clock, ready } = await openBoard();
    await account('101');
    await worker('w-dead');
    await lane('101', 0, { by: 'w-dead' });
    clock.now += ttl - 1;
    await worker('w-alive');
    await lane('101', 1, { by: 'w-alive' });
    expect(ready().names).toEqual([]);
    clock.now += 1;
    expect(ready().names).toEqual(['parcel lane.101.0']);
    // One that has said that it is gone is not waited for.
    await worker('w-alive', { state: 'gone' });
    expect(ready().names).toEqual(['parcel lane.101.0', 'parcel lane.101.1']);
  });

  it('is what this worker holds without knowing, since the answer to a write was lost', async () => {
    const { account, lane, ready } = await openBoard();
    await account('101');
    await lane('101', 0, { by: 'w-me' });
    await lane('101', 1, { by: 'w-other' });
    expect(ready().names).toEqual(['parcel lane.101.0']);
    expect(ready('w-me', (key) => key === 'lane.101.0').names).toEqual([]);
  });

  it('are lanes that a worker has opened again before it died', async () => {
    const { account, lane, worker, clock, ready } = await openBoard();
    await account('101', { phase: 'closing', by: 'w-dead' });
    await lane('101', 0, { ...done(0), again: [2] });
    await lane('101', 1, done(1));
    await worker('w-dead');
    expect(ready().names).toEqual([]);
    clock.now += ttl;
    expect(ready().names).toEqual(['parcel lane.101.0']);
  });
});

describe('who is dead', () => {
  it('is who has neither beaten nor written for a TTL, seen by somebody with contact for as long', () => {
    const at = fc.integer({ min: -100_000, max: 0 });
    fc.assert(
      fc.property(at, fc.option(at), fc.option(at), (writtenAt, beatAt, contactSince) => {
        const silence = -Math.max(writtenAt, beatAt ?? Number.NEGATIVE_INFINITY);
        const expected = silence >= ttl && contactSince !== null && -contactSince >= ttl;
        const now = 5_000_000;
        const traces = {
          now,
          ttl,
          writtenAt: now + writtenAt,
          beatAt: beatAt === null ? null : now + beatAt,
          contactSince: contactSince === null ? null : now + contactSince,
        };
        expect(isDead(traces)).toBe(expected);
      }),
    );
  });

  it('is nobody after an outage of the board, until there was contact for a TTL', async () => {
    const { board, clock, lane, account, worker } = await openBoard();
    await account('101');
    await lane('101', 0, { by: 'w-other' });
    await worker('w-other');
    clock.now += 10 * ttl;
    const back = { ...without(board), contactSince: clock.now - ttl + 1 };
    expect(lookAround(back, 'w-me', ttl).isFree('w-other', 1_000_000)).toBe(false);
    const away = { ...without(board), contactSince: null };
    expect(lookAround(away, 'w-me', ttl).isFree('w-other', 1_000_000)).toBe(false);
    expect(lookAround(board, 'w-me', ttl).isFree('w-other', 1_000_000)).toBe(true);
  });

  it('counts the slots of those who are there', async () => {
    const { board, clock, worker } = await openBoard();
    await worker('w-dead');
    clock.now += ttl;
    await worker('w-a');
    await worker('w-b', { slots: 3 });
    await worker('w-c', { state: 'leaving' });
    await worker('w-d', { state: 'gone' });
    await worker('w-me');
    expect(lookAround(board, 'w-me', ttl).slots).toBe(7);
  });
});

describe('the choice', () => {
  it('is among those that have waited longest', () => {
    const account = newAccount('101', 4, 20);
    const candidates = [5, 1, 4, 2, 3].map((since) => ({
      kind: 'close' as const,
      since,
      account,
      entry: { key: `k${since}`, value: account, revision: 1, at: since },
    }));
    const drawn = (among: number, at: number) => draw(candidates, among, () => at)?.since;
    expect([drawn(1, 0.99), drawn(3, 0), drawn(3, 0.5), drawn(3, 0.99)]).toEqual([1, 1, 2, 3]);
    expect(drawn(99, 0.99)).toBe(5);
    expect(draw([], 3, () => 0.5)).toBeUndefined();
  });
});

describe('slots', () => {
  const load = { slots: 4, busy: 4, elu: 0.5, rss: 300e6, memory: 2e9 };

  it('grow while there is time and memory, and shrink when there is none', () => {
    expect(nextSlots(load)).toBe(5);
    expect(nextSlots({ ...load, busy: 3 })).toBe(4);
    expect(nextSlots({ ...load, elu: 0.8 })).toBe(4);
    expect(nextSlots({ ...load, elu: 0.96 })).toBe(3);
    expect(nextSlots({ ...load, rss: 1.99e9 })).toBe(4);
    expect(nextSlots({ ...load, rss: 2.1e9 })).toBe(3);
    expect(nextSlots({ ...load, slots: 1, elu: 1 })).toBe(1);
    expect(nextSlots({ ...load, slots: mostSlots, busy: mostSlots })).toBe(mostSlots);
  });

  it('know the limit of a container', () => {
    expect(memoryLimit(8e9, undefined)).toBe(4e9);
    expect(memoryLimit(8e9, 0)).toBe(4e9);
    expect(memoryLimit(8e9, 2e9)).toBe(1e9);
    expect(memoryLimit(8e9, 2 ** 63)).toBe(4e9);
  });
});

describe('rest', () => {
  it('is one for all turns that fail at the same time, and one turn finds out whether it is over', () => {
    const events: WorkerEvent[] = [];
    const pace = new Pace(4, (event) => events.push(event));
    expect([pace.most, pace.restMs, pace.why]).toEqual([4, 0, null]);
    const full = { kind: 'target', code: 'ENOSPC', message: 'The disk is full.', waitMs: 0 } as const;
    for (let i = 0; i < 3; i += 1) pace.turnEnded(full);
    pace.turnEnded(null);
    expect(pace.most).toBe(1);
    expect(pace.restMs).toBeGreaterThan(0);
    expect(pace.why).toBe('The disk is full.');
    expect(events).toEqual([{ kind: 'wait', for: 'target', seconds: 5 }]);
  });
});

function without(board: Board): Board {
  return { ...board, get: board.get, entries: board.entries, now: board.now };
}
