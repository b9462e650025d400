import { expect, test } from 'vitest';
import {
  type AccountValue,
  type Board,
  type BoardEntry,
  createStatusReader,
  createWorkerMetrics,
  type FleetStatus,
  type JobValue,
  type Json,
  type LaneValue,
  readStatus,
  type WorkerValue,
} from '../src/index.ts';

// A board is read here, never written to, so that values of any age can be shown.
const minute = 60_000;
const now = 1_800_000_000_000;

type Values = Record<string, { value: unknown; at?: number }>;

function boardWith(values: Values, contactSince: number | null = 0): Board & { values: Values } {
  const entry = (key: string): BoardEntry | undefined => {
    const found = values[key];
    return found && { key, value: found.value as Json, revision: 1, at: found.at ?? now };
  };
  return {
    values,
    name: 'memory:',
    contactSince,
    now: () => now,
    get: entry,
    *entries(prefix) {
      for (const key of Object.keys(values)) if (key.startsWith(prefix)) yield entry(key) as BoardEntry;
    },
    write: () => Promise.reject(new Error('nothing is written here')),
    changed: () => Promise.resolve(),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

const job = (more: Partial<JobValue> = {}): JobValue => ({
  format: 1,
  state: 'running',
  now: false,
  job: {
    name: 'history',
    baseUrl: 'https://api.example.com',
    version: 'v3',
    filter: 'inc_gce:1',
    from: null,
    to: '2026-11-21 01:00:00',
    into: 'folder:out',
    format: 'parquet',
    columns: ['sid'],
    partition: 'month',
    parcel: 50_000,
    lanes: 2,
    pages: 10,
    requestsPerMinute: null,
    tries: 5,
    skip: false,
    sync: null,
  },
  accounts: 2,
  parcels: 9,
  records: 900,
  ...more,
});

const account = (id: string, more: Partial<AccountValue> = {}): AccountValue => ({
  id,
  name: null,
  credential: `file:${id}.json`,
  requestsPerMinute: null,
  phase: 'reading',
  parcels: 5,
  total: 500,
  by: null,
  notBefore: 0,
  tries: 0,
  rounds: 0,
  aside: null,
  verdict: null,
  sync: null,
  ...more,
});

const lane = (next: number, more: Partial<LaneValue> = {}): LaneValue => ({
  next,
  parcels: 5,
  again: [],
  aside: [],
  by: null,
  notBefore: 0,
  tries: 0,
  why: null,
  failingSince: 0,
  done: 0,
  records: 0,
  requests: 0,
  bytes: 0,
  ...more,
});

const worker = (more: Partial<WorkerValue> = {}): WorkerValue => ({
  host: 'app1',
  pid: 7,
  version: '0.1.0',
  state: 'working',
  why: null,
  slots: 8,
  busy: 3,
  elu: 810,
  rss: 412e6,
  records: 0,
  requests: 0,
  beat: 1,
  ...more,
});

test('parcels count once, however often they are read, and those set aside are told apart', () => {
  const status = readStatus(
    boardWith({
      job: { value: job() },
      'account.101': { value: account('101') },
      // Parcels 0, 2, 4 of five: at its end, one to be read again, though four were committed.
      'lane.101.0': { value: lane(6, { again: [2], done: 4, records: 200 }) },
      'lane.101.1': { value: lane(3, { aside: [[1, 'incomplete']] }) },
      'account.a=2Eb': { value: account('a.b', { parcels: 4, total: 400 }) },
      'lane.a=2Eb.0': { value: lane(0, { parcels: 4 }) },
      'lane.a=2Eb.1': { value: lane(1, { parcels: 4, by: 'w-1' }) },
    }),
  );
  expect(status).toMatchObject({
    state: 'running',
    parcels: { done: 2, total: 9, aside: 1 },
    records: { done: 200, total: 900 },
    phases: { reading: 2, aside: 0 },
  });
  expect(status.accounts).toMatchObject([
    { id: '101', trouble: { kind: 'parcels', code: 'incomplete' }, parcels: { done: 2, total: 5, aside: 1 } },
    { id: 'a.b', trouble: null, workers: ['w-1'], parcels: { done: 0, total: 4, aside: 0 } },
  ]);
});

test('a lane is failing after ten minutes of failures, not before, and what is set aside comes first', () => {
  const failing = (minutes: number) =>
    lane(0, { tries: 3, why: 'server_error', failingSince: now - minutes * minute });
  const aside = { code: 'unauthorized', message: 'the server refused the keys', at: now - minute, by: 'w-1' };
  const { accounts, phases } = readStatus(
    boardWith({
      job: { value: job() },
      'account.1': { value: account('1') },
      'lane.1.0': { value: failing(9) },
      'account.2': { value: account('2') },
      'lane.2.0': { value: failing(14) },
      'lane.2.1': { value: failing(11) },
      'account.3': { value: account('3', { phase: 'aside', aside }) },
    }),
  );
  expect(accounts.map(({ id, trouble }) => [id, trouble])).toEqual([
    ['3', { kind: 'aside', code: 'unauthorized', message: 'the server refused the keys', forMs: minute }],
    ['2', { kind: 'failing', code: 'server_error', message: null, forMs: 14 * minute }],
    ['1', null],
  ]);
  expect(phases).toMatchObject({ reading: 2, aside: 1 });
});

test('rates come from two signs of life of each worker, and silence is told from leaving', () => {
  const board = boardWith({
    job: { value: job() },
    'account.1': { value: account('1') },
    'lane.1.0': { value: lane(2, { records: 100 }) },
    'worker.w-1': { value: worker({ records: 1000, requests: 10 }), at: now - 10_000 },
    'worker.w-2': { value: worker({ beat: 9 }), at: now - 31_000 },
    'worker.w-3': { value: worker({ state: 'gone' }), at: now - 1000 },
    'worker.w-4': { value: worker(), at: now - 4_000_000 },
  });
  const reader = createStatusReader(board);
  const first = reader.read();
  expect(first).toMatchObject({ recordsPerSecond: 0, leftMs: null });
  expect(first.workers).toMatchObject([
    { name: 'w-1', state: 'working', recordsPerSecond: null, load: 0.81 },
    { name: 'w-2', state: 'silent', busy: 0, silentFor: 31_000 },
  ]);
  board.values['worker.w-1'] = { value: worker({ records: 1500, requests: 20, beat: 2 }), at: now };
  expect(reader.read()).toMatchObject({ recordsPerSecond: 50, requestsPerSecond: 1, leftMs: 8000 });
  // The same worker after a restart: it counts from 0, which must not make the rate negative.
  board.values['worker.w-1'] = { value: worker({ records: 3, beat: 1 }), at: now + 5000 };
  expect(reader.read().workers[0]).toMatchObject({ recordsPerSecond: null });
});

test('a job is done when every account is final or set aside, and the lag of syncs is the largest', () => {
  const verdict = { records: 500, total: 500, at: now - 5 * minute };
  const values: Values = {
    job: { value: job() },
    'account.1': { value: account('1', { phase: 'final', verdict }) },
    'account.2': { value: account('2', { phase: 'final', verdict }) },
  };
  expect(readStatus(boardWith(values))).toMatchObject({
    state: 'done',
    records: { done: 1000, total: 1000 },
  });
  const sync = { runs: 3, new: 1, changed: 1, pending: 0, at: now - 2 * minute };
  values['account.1'] = { value: account('1', { phase: 'syncing', verdict, sync }) };
  values['account.2'] = { value: account('2', { phase: 'syncing', verdict }) };
  expect(readStatus(boardWith(values))).toMatchObject({ state: 'running', syncLagMs: 5 * minute });
});

test('a board without the job says so', () => {
  expect(() => readStatus(boardWith({}))).toThrow(expect.objectContaining({ code: 'unknown_job' }));
  expect(() => readStatus(boardWith({ job: { value: { gone: true } } }))).toThrow(/no such job/);
});

test('a thousand lanes of a million parcels are read without the parcels', () => {
  const values: Values = { job: { value: job({ accounts: 500, parcels: 1e6, records: 5e10 }) } };
  for (let id = 0; id < 500; id++) {
    values[`account.${id}`] = { value: account(String(id), { parcels: 2000, total: 1e8 }) };
    for (const k of [0, 1])
      values[`lane.${id}.${k}`] = { value: lane(1000 + k, { parcels: 2000, records: 25e6 }) };
  }
  const { parcels, records }: FleetStatus = readStatus(boardWith(values));
  expect(parcels).toEqual({ done: 500_000, total: 1e6, aside: 0 });
  expect(records).toEqual({ done: 25e9, total: 5e10 });
});

test('metrics count the events of a worker and report the job without naming an account', async () => {
  const board = boardWith({
    job: { value: job() },
    'account.101': {
      value: account('101', { phase: 'syncing', verdict: { records: 5, total: 5, at: now - 90_000 } }),
    },
    'worker.w-1': { value: worker() },
  });
  const metrics = createWorkerMetrics(board, 'w-1');
  const parcel = { kind: 'parcel', account: '101', index: 0, seconds: 1, bytes: 9, code: null } as const;
  metrics.observe({ ...parcel, outcome: 'committed', records: 500, requests: 3 });
  metrics.observe({ ...parcel, outcome: 'lost', records: 100, requests: 1 });
  metrics.observe({ kind: 'board', outcome: 'won', seconds: 0.004 });
  metrics.observe({ kind: 'wait', for: 'rate', seconds: 1.5 });
  const text = await metrics.metrics();
  for (const line of [
    'fleet_records_total 500',
    'fleet_requests_total 4',
    'fleet_parcels_total{outcome="lost"} 1',
    'fleet_claims_lost_total 1',
    'fleet_wait_seconds_total{for="rate"} 1.5',
    'fleet_slots{state="busy"} 3',
    'fleet_slots{state="idle"} 5',
    'fleet_board_writes_total{outcome="won"} 1',
    'fleet_board_write_seconds_bucket{le="0.001"} 0',
    'fleet_board_write_seconds_bucket{le="0.005"} 1',
    'fleet_board_write_seconds_count 1',
    'fleet_job_accounts{phase="syncing"} 1',
    'fleet_sync_lag_seconds 90',
  ])
    expect(text).toContain(`${line}\n`);
  expect(text).not.toContain('101');
});

test('a worker is ready while its board answers and it does not rest', () => {
  const metrics = createWorkerMetrics(boardWith({ job: { value: job() } }), 'w-1');
  expect(metrics.ready()).toBeNull();
  metrics.observe({ kind: 'worker', state: 'resting', why: 'no space left on the disk' });
  expect(metrics.ready()).toBe('it rests: no space left on the disk');
  metrics.observe({ kind: 'worker', state: 'working', why: null });
  expect(metrics.ready()).toBeNull();
  const cut = createWorkerMetrics(boardWith({ job: { value: job() } }, null), 'w-1');
  expect(cut.ready()).toMatch(/the board memory: does not answer/);
});
