import { channel } from 'node:diagnostics_channel';
import { setImmediate } from 'node:timers/promises';
import { apiKeys, type Call } from '@call-attribution/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type AccountValue,
  type Board,
  BoardMemory,
  type CredentialSource,
  cancelJob,
  createWorker,
  FleetError,
  type Json,
  memoryBoard,
  type ParcelClaim,
  type PinnedJob,
  pauseJob,
  readStatus,
  resumeJob,
  type Target,
  type WorkerEvent,
  type WorkerValue,
} from '../src/index.ts';
import { setAccountAside } from '../src/lanes/account-entry.ts';
import { accountKey, jobKey, workerKey } from '../src/lanes/keys.ts';
import { changeEntry } from '../src/worker/change-entry.ts';
import {
  accountOn,
  callsOf,
  fakeApi,
  keysOf,
  laneOn,
  newShelf,
  planOf,
  plantJob,
  shelfTarget,
  sidsOn,
  testJob,
} from './worker-scene.ts';

type Fault = Parameters<typeof fakeApi>[1];

/** A planned job over a simulated API, a board whose clock runs a hundred times as fast, and a target in memory. */
async function openScene({
  accounts = { 101: 24, 102: 11, 103: 0 } as Record<string, number>,
  fault = undefined as Fault,
  job: changes = {} as Partial<PinnedJob>,
} = {}) {
  const began = Date.now();
  const memory = new BoardMemory({ now: () => began + (Date.now() - began) * 100 });
  const board = memoryBoard(memory);
  const calls = new Map(Object.entries(accounts).map(([id, count]) => [id, callsOf(id, count)]));
  const plans = new Map([...calls].map(([id, list]) => [id, planOf(list, 5)]));
  const job = testJob(changes);
  await plantJob(board, job, plans);
  const shelf = newShelf(plans);
  const target = shelfTarget(shelf, job);
  const api = fakeApi(calls, fault);
  const events: WorkerEvent[] = [];
  const worker = (changes: Partial<Parameters<typeof createWorker>[0]> = {}) =>
    createWorker({
      board,
      credentials: keysOf,
      target,
      name: 'w-one',
      slots: 2,
      ttl: 120,
      random: () => 0,
      fetch: api.fetch,
      onEvent: (event) => events.push(event),
      ...changes,
    });
  const all = [...calls.values()]
    .flat()
    .map(({ sid }) => sid)
    .sort();
  return { board, memory, job, shelf, target, api, worker, events, all, calls };
}

const outcomes = (events: readonly WorkerEvent[], kind: 'parcel' | 'account'): string[] =>
  events.flatMap((event) => (event.kind === kind ? [`${event.account} ${event.outcome}`] : []));

/** Resolves when it holds, which is asked after each change of the board. */
async function until(board: Board, holds: () => boolean): Promise<void> {
  for (let i = 0; i < 2000 && !holds(); i += 1) await board.changed({ within: 5 });
  if (!holds()) throw new Error('It never came to that.');
}

const workerOn = (board: Board): WorkerValue | undefined =>
  board.get(workerKey('w-one'))?.value as unknown as WorkerValue | undefined;

describe('a worker', () => {
  it('reads all parcels of all accounts, proves them, and says what it did', async () => {
    const { worker, board, shelf, all, events } = await openScene();
    const summary = await worker().run();
    expect(sidsOn(shelf)).toEqual(all);
    const parcels = [...shelf.plans.values()].reduce((sum, plan) => sum + plan.parcels.length, 0);
    expect(summary).toMatchObject({ name: 'w-one', end: 'over', records: all.length });
    expect(summary.parcels).toEqual({ committed: parcels, done: 0, lost: 0, later: 0, aside: 0, dropped: 0 });
    expect(['101', '102', '103'].map((id) => accountOn(board, id)?.phase)).toEqual([
      'final',
      'final',
      'final',
    ]);
    expect(accountOn(board, '101')?.verdict).toMatchObject({ records: 24, total: 24 });
    expect(workerOn(board)).toMatchObject({ state: 'gone', why: null, records: all.length, busy: 0 });
    expect(outcomes(events, 'account').sort()).toEqual(['101 proved', '102 proved', '103 proved']);
    const lanes = [0, 1].map((k) => laneOn(board, '101', k));
    expect(lanes.reduce((sum, lane) => sum + (lane?.records ?? 0), 0)).toBe(24);
    expect(lanes.every((lane) => lane?.by === null)).toBe(true);
    for (const { verdict } of shelf.parcels.values())
      expect(verdict).toMatchObject({ records: verdict?.total, by: 'w-one', skipped: 0 });
  });

  it('counts its requests as the server does', async () => {
    const { worker, api, events } = await openScene({ accounts: { 101: 24 } });
    await worker().run();
    const counted = events.reduce((sum, event) => sum + (event.kind === 'parcel' ? event.requests : 0), 0);
    // One is the total that proves the account.
    expect(counted).toBe(api.requests.length - 1);
  });

  it('finds what was committed before the board was lost, and reads none of it again', async () => {
    const { worker, shelf, job, api, all } = await openScene();
    await worker().run();
    const before = api.requests.length;
    const board = memoryBoard();
    await plantJob(board, job, shelf.plans);
    const summary = await worker({ board }).run();
    expect(summary.parcels).toMatchObject({ committed: 0, done: 8 });
    expect(api.requests.length - before).toBe(3);
    expect(sidsOn(shelf)).toEqual(all);
    expect(readStatus(board).records.done).toBe(all.length);
  });

  it('publishes what it does for who listens', async () => {
    const { worker } = await openScene({ accounts: { 101: 11 } });
    const seen: string[] = [];
    for (const kind of ['parcel', 'account', 'worker', 'board'] as const) {
      const listen = (event: unknown): void => void seen.push((event as WorkerEvent).kind);
      const own = channel(`call-attribution:fleet:${kind}`);
      own.subscribe(listen);
      onTestFinished(() => void own.unsubscribe(listen));
    }
    await worker().run();
    expect(new Set(seen)).toEqual(new Set(['parcel', 'account', 'worker', 'board']));
  });
});

describe('trouble of a worker', () => {
  it('sets an account aside at once when its keys are refused, and continues with the others', async () => {
    const fault: Fault = (account) => (account === '102' ? { status: 401 } : null);
    const { worker, board, shelf, calls } = await openScene({ fault });
    expect((await worker().run()).end).toBe('over');
    expect(accountOn(board, '102')).toMatchObject({
      phase: 'aside',
      aside: { code: 'unauthorized', by: 'w-one' },
    });
    expect(accountOn(board, '102')?.aside?.message).toMatch(/ calls fleet retry history --account 102$/);
    expect([0, 1].map((k) => laneOn(board, '102', k)?.by)).toEqual([null, null]);
    const others = [...(calls.get('101') as Call[]), ...(calls.get('103') as Call[])];
    expect(sidsOn(shelf)).toEqual(others.map(({ sid }) => sid).sort());
  });

  it('takes keys that were replaced while it works, and sets nothing aside', async () => {
    let valid = 'old';
    let requests = 0;
    const { worker, calls, board, shelf, all } = await openScene({ accounts: { 101: 24 } });
    const api = fakeApi(calls);
    const secretOf = (init: { headers: readonly [string, string][] }): string | undefined =>
      init.headers.find(([name]) => name === 'secret_key')?.[1];
    const fetch: typeof api.fetch = async (url, init) => {
      requests += 1;
      // Replaced in the middle of the work.
      if (requests === 3) valid = 'new';
      return secretOf(init) === valid ? api.fetch(url, init) : new Response('{}', { status: 401 });
    };
    const credentials: CredentialSource = async (_reference, account) => apiKeys(account, valid);
    const { parcels } = await worker({ fetch, credentials }).run();
    expect(parcels).toMatchObject({ committed: 5, aside: 0 });
    expect(accountOn(board, '101')?.phase).toBe('final');
    expect(sidsOn(shelf)).toEqual(all);
  });

  it('stops reading an account at its next page once it is set aside', async () => {
    const { worker, board, target, events } = await openScene({ accounts: { 101: 24 } });
    const claim: Target['claim'] = async (account, parcel, holder) => {
      const real = await target.claim(account, parcel, holder);
      // Another worker has found the keys refused.
      const why = { code: 'unauthorized', message: 'Refused.', at: 0, by: 'w-two' };
      await changeEntry<AccountValue>(board, accountKey(account), (value) => setAccountAside(value, why));
      return real;
    };
    await worker({ target: { ...target, claim } }).run();
    expect(outcomes(events, 'parcel')).toEqual(['101 dropped', '101 dropped']);
  });

  it('says no word of credentials that cannot be read', async () => {
    const credentials = async (): Promise<never> => {
      throw new Error('secret-key-4711 is not JSON');
    };
    const { worker, board } = await openScene({ accounts: { 101: 3 } });
    await worker({ credentials }).run();
    expect(accountOn(board, '101')).toMatchObject({ phase: 'aside', aside: { code: 'credential_missing' } });
    expect(JSON.stringify([...board.entries('')])).not.toContain('4711');
  });

  it('tries again without end while the server is away, and sets nothing aside', async () => {
    let failures = 20;
    const fault: Fault = (account) => (account === '101' && failures-- > 0 ? { status: 503 } : null);
    const { worker, board, shelf, all, events } = await openScene({ fault });
    const run = worker().run();
    await until(board, () => [0, 1].some((k) => laneOn(board, '101', k)?.why === 'server_error'));
    const { parcels } = await run;
    expect(sidsOn(shelf)).toEqual(all);
    expect(parcels.later).toBeGreaterThan(2);
    expect(parcels.aside).toBe(0);
    expect(laneOn(board, '101', 0)).toMatchObject({ tries: 0, why: null, failingSince: 0 });
    expect(events).toContainEqual(expect.objectContaining({ kind: 'wait', for: 'server' }));
  });

  it('sets a parcel aside after its tries, names it, and reads the rest', async () => {
    const { worker, board, shelf, calls, events } = await openScene({
      accounts: { 101: 24 },
      // The second parcel only: its filter has both ends.
      fault: (_account, query) => (query.includes(secondEnd()) ? { status: 400 } : null),
    });
    function secondEnd(): string {
      return ` TO ${planOf(callsOf('101', 24), 5).parcels[1]?.to}}`;
    }
    await worker().run();
    expect(laneOn(board, '101', 1)?.aside).toEqual([[1, 'bad_request']]);
    expect(accountOn(board, '101')).toMatchObject({ phase: 'aside' });
    const sids = (calls.get('101') as Call[]).map(({ sid }) => sid);
    expect(sidsOn(shelf)).toEqual([...sids.slice(0, 5), ...sids.slice(10)]);
    expect(outcomes(events, 'parcel').filter((text) => text.endsWith('later'))).toHaveLength(2);
    expect(outcomes(events, 'parcel').filter((text) => text.endsWith('aside'))).toHaveLength(1);
  });

  it('rests and says why when the disk is full, and others can have its lane', async () => {
    const { worker, board, target, events } = await openScene({ accounts: { 101: 24 } });
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const claim: Target['claim'] = async () => {
      throw full;
    };
    const resting = worker({ target: { ...target, claim } });
    const run = resting.run();
    await until(board, () => workerOn(board)?.state === 'resting');
    expect(workerOn(board)?.why).toBe('The target failed with ENOSPC.');
    expect([0, 1].map((k) => laneOn(board, '101', k))).toMatchObject([
      { by: null, tries: 0 },
      { by: null, tries: 0 },
    ]);
    await resting.leave(0);
    expect((await run).end).toBe('left');
    expect(events).toContainEqual(expect.objectContaining({ kind: 'wait', for: 'target' }));
    expect((await worker({ name: 'w-two' }).run()).parcels.committed).toBe(5);
  });

  it('commits what it has while the board is away, and tells it afterwards', async () => {
    const { worker, board, shelf, all } = await openScene();
    let isAway = false;
    let refused = 0;
    const flaky: Board = {
      ...board,
      write: async (key, value, revision) => {
        // Away from the first parcel that was read on.
        isAway ||= refused === 0 && key.startsWith('lane.') && (value as { by: null }).by === null;
        if (isAway) refused += 1;
        if (refused > 3) isAway = false;
        if (isAway) throw new FleetError('board_unavailable', 'It does not answer.');
        return board.write(key, value, revision);
      },
      get contactSince() {
        return isAway ? null : board.contactSince;
      },
    };
    const { parcels } = await worker({ board: flaky }).run();
    expect(refused).toBeGreaterThan(3);
    expect(sidsOn(shelf)).toEqual(all);
    expect(parcels).toMatchObject({ committed: 8, done: 0, lost: 0 });
  });

  it('leaves out records that cannot be read only when the job says so, and counts them', async () => {
    const broken = (calls: readonly Call[]): Call[] =>
      calls.map((call, i) =>
        i === 3 ? ({ ...call, talk_minutes: { odd: true } } as unknown as Call) : call,
      );
    for (const skip of [false, true]) {
      const { worker, board, shelf, calls } = await openScene({ accounts: { 101: 11 }, job: { skip } });
      const api = fakeApi(new Map([['101', broken(calls.get('101') as Call[])]]));
      const unreadable: typeof api.fetch = async (url, init) => {
        const response = await api.fetch(url, init);
        const text = await new Response(response.body as ReadableStream).text();
        const headers = [...(response.headers as Headers)] as [string, string][];
        return new Response(text.replace('{"odd":true}', '{"odd":tru }'), { headers });
      };
      await worker({ fetch: unreadable }).run();
      const [first] = [...shelf.parcels.values()].filter(({ verdict }) => verdict?.index === 0);
      if (skip) expect(first?.verdict).toMatchObject({ records: 4, total: 5, skipped: 1 });
      else expect(laneOn(board, '101', 0)?.aside).toHaveLength(1);
      expect(sidsOn(shelf)).toHaveLength(skip ? 10 : 6);
    }
  });
});

describe('orders', () => {
  /** A target whose pages wait until they are let through. */
  function heldBack(target: Target) {
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const dropped: number[] = [];
    const claim: Target['claim'] = async (account, parcel, holder) => {
      const real = await target.claim(account, parcel, holder);
      const slow: ParcelClaim = {
        ...real,
        put: (page) => gate.then(() => real.put(page)),
        drop: async () => void dropped.push(parcel.index),
      };
      return slow;
    };
    return { target: { ...target, claim }, open, dropped };
  }
  const reads = (board: Board): boolean => workerOn(board)?.busy === 2;

  it('pause lets what is under way end, and resume goes on', async () => {
    const { worker, board, target, shelf, all } = await openScene();
    const held = heldBack(target);
    const run = worker({ target: held.target }).run();
    await until(board, () => reads(board));
    await pauseJob(board);
    held.open();
    await until(board, () => workerOn(board)?.busy === 0);
    const committed = [...shelf.parcels.values()].filter(({ verdict }) => verdict !== null);
    expect(committed).toHaveLength(2);
    expect(workerOn(board)?.state).toBe('waiting');
    await resumeJob(board);
    expect((await run).end).toBe('over');
    expect(sidsOn(shelf)).toEqual(all);
  });

  it('pause now drops what is under way and gives it back', async () => {
    const { worker, board, target, shelf, all, events } = await openScene();
    const held = heldBack(target);
    const run = worker({ target: held.target }).run();
    await until(board, () => reads(board));
    await pauseJob(board, { now: true });
    // The worker has heard of it by then.
    await setImmediate();
    held.open();
    await until(board, () => workerOn(board)?.busy === 0);
    expect(outcomes(events, 'parcel').filter((text) => !text.endsWith('dropped'))).toEqual([]);
    expect(held.dropped).toHaveLength(2);
    await resumeJob(board);
    await run;
    expect(sidsOn(shelf)).toEqual(all);
  });

  it('cancel ends a worker once what is under way has ended', async () => {
    const { worker, board, target, shelf } = await openScene();
    const held = heldBack(target);
    const run = worker({ target: held.target }).run();
    await until(board, () => reads(board));
    await cancelJob(board);
    held.open();
    expect((await run).end).toBe('cancelled');
    expect([...shelf.parcels.values()].filter(({ verdict }) => verdict !== null)).toHaveLength(2);
  });

  it('leaving ends what is under way, takes nothing new and gives everything back', async () => {
    const { worker, board, target, shelf } = await openScene();
    const held = heldBack(target);
    const one = worker({ target: held.target });
    const run = one.run();
    await until(board, () => reads(board));
    const left = one.leave();
    await until(board, () => workerOn(board)?.state === 'leaving');
    held.open();
    await left;
    expect(await run).toMatchObject({ end: 'left', parcels: { committed: 2 } });
    expect(workerOn(board)?.state).toBe('gone');
    expect([...board.entries('lane.')].map(({ value }) => (value as { by: Json }).by)).toEqual(
      Array(6).fill(null),
    );
    expect([...shelf.parcels.values()].filter(({ verdict }) => verdict !== null)).toHaveLength(2);
  });

  it('the signal drops what is under way at once', async () => {
    const { worker, board, target, shelf, all } = await openScene();
    const held = heldBack(target);
    const stop = new AbortController();
    const run = worker({ target: held.target }).run(stop.signal);
    await until(board, () => reads(board));
    stop.abort();
    held.open();
    expect(await run).toMatchObject({ end: 'left', parcels: { committed: 0, dropped: 2 } });
    await worker({ name: 'w-two' }).run();
    expect(sidsOn(shelf)).toEqual(all);
  });
});

describe('the start of a worker', () => {
  it('refuses a board without a job, or waits for it', async () => {
    const { worker, job, shelf, all } = await openScene();
    const board = memoryBoard();
    await expect(worker({ board }).run()).rejects.toMatchObject({ code: 'unknown_job' });
    const run = worker({ board, wait: true }).run();
    await plantJob(board, job, shelf.plans);
    expect((await run).records).toBe(all.length);
    const idle = worker({ board: memoryBoard(), wait: true });
    const waiting = idle.run();
    await idle.leave();
    expect((await waiting).end).toBe('left');
  });

  it('refuses a job of a later release, also one that comes while it works', async () => {
    const { worker, board } = await openScene();
    const entry = board.get(jobKey);
    await board.write(jobKey, { ...(entry?.value as object), format: 2 }, entry?.revision ?? 0);
    await expect(worker().run()).rejects.toMatchObject({ code: 'job_newer' });

    const other = await openScene({ job: { sync: { every: 1e9, lookback: 1, settle: 1 } } });
    const run = other.worker().run();
    await until(other.board, () => workerOn(other.board)?.state === 'working');
    const planned = other.board.get(jobKey);
    await other.board.write(jobKey, { ...(planned?.value as object), format: 2 }, planned?.revision ?? 0);
    await expect(run).rejects.toMatchObject({ code: 'job_newer' });
    expect([...other.board.entries('lane.')].every(({ value }) => (value as { by: Json }).by === null)).toBe(
      true,
    );
  });

  it('refuses a target that holds another job of this name', async () => {
    const { worker, target, job } = await openScene();
    const other: Target = { ...target, pin: async () => ({ ...job, filter: 'talk_minutes:[2 TO *]' }) };
    await expect(worker({ target: other }).run()).rejects.toMatchObject({ code: 'job_differs' });
  });

  it('refuses options that are wrong, and a second run', async () => {
    const { worker, board } = await openScene();
    expect(() => createWorker({ board, credential: keysOf } as never)).toThrow(/did you mean "?credentials/i);
    expect(() => worker({ slots: 0 })).toThrow(/slots/);
    const one = worker();
    await one.run();
    expect(() => one.run()).toThrow(/once/);
  });
});
