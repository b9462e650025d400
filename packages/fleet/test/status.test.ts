import { describe, expect, test } from 'vitest';
import { blankNote } from '../src/engine/ticket.ts';
import {
  createWorkerMetrics,
  type FleetFacts,
  type JobCard,
  statusOf,
  type TicketNote,
  type WorkerCard,
} from '../src/index.ts';

const now = Date.UTC(2026, 10, 22, 12);
const card: JobCard = {
  ...{ name: 'history', since: now - 60_000, into: 'folder:out', every: null, digest: '' },
};
const worker = (changes: Partial<WorkerCard> = {}): WorkerCard => ({
  ...{
    name: 'w1',
    version: '1.0.0',
    slots: 4,
    busy: 2,
    keys: ['k1'],
    digest: '',
    state: 'working',
    why: null,
  },
  ...{
    callsPerSecond: 100,
    requestsPerSecond: 2,
    held: { rate: 1, server: 0 },
    since: now - 5_000,
    at: now - 1_000,
  },
  ...changes,
});
const ticket = (
  account: string,
  note: Partial<TicketNote>,
  more: { dueAt?: number | null; isActive?: boolean } = {},
) => ({
  ...{ key: `k${account}`, account, dueAt: now, isActive: false },
  ...more,
  note: { ...blankNote, ...note },
});
const trouble = {
  kind: 'server',
  code: 'server_error',
  message: 'It failed.',
  at: now - 2_000,
  by: 'w1',
} as const;

describe('the status of a job', () => {
  test.each<[string, Partial<TicketNote>, { dueAt?: number | null; isActive?: boolean }, object]>([
    ['working', { calls: 5, total: 10 }, { isActive: true }, { worker: 'w1' }],
    ['waiting', {}, {}, { dueInMs: 0 }],
    [
      'later',
      { trouble, failingSince: now - 700_000 },
      { dueAt: now + 5_000 },
      { troubleForMs: 700_000, dueInMs: 5_000 },
    ],
    ['read', { readAt: now - 9_000, whole: true }, { dueAt: now + 60_000 }, { readAgoMs: 9_000 }],
    ['done', { state: 'done', whole: true }, { dueAt: null }, { dueInMs: null }],
    ['aside', { state: 'aside', trouble }, { dueAt: null }, { trouble }],
  ])('an account is %s by its ticket', (state, note, more, expected) => {
    const status = statusOf({ card, tickets: [ticket('1', note, more)], workers: [worker()] }, now);
    expect(status?.accounts).toMatchObject([{ id: '1', state, ...expected }]);
  });

  const facts: FleetFacts = {
    card,
    tickets: [
      ticket('1', { calls: 400, total: 1_000 }, { isActive: true }),
      ticket('2', { calls: 500, total: 500, state: 'done', whole: true }, { dueAt: null }),
      ticket('3', { state: 'aside', trouble }, { dueAt: null }),
    ],
    workers: [
      worker(),
      worker({ name: 'w2', keys: [], at: now - 40_000 }),
      worker({ name: 'w3', at: now - 3_600_000 }),
    ],
  };

  test('adds up what tickets and workers say', () => {
    expect(statusOf(facts, now)).toMatchObject({
      ...{ job: 'history', state: 'running', calls: 900, total: 1_500, callsPerSecond: 100, leftMs: 6_000 },
      states: { working: 1, done: 1, aside: 1, waiting: 0 },
      workers: [
        { name: 'w1', state: 'working' },
        { name: 'w2', state: 'silent', silentForMs: 40_000 },
      ],
    });
    expect(statusOf({ ...facts, card: null }, now)).toBeNull();
    expect(statusOf({ ...facts, tickets: facts.tickets.slice(1) }, now)?.state).toBe('done');
  });

  test('2,000 accounts are one look', () => {
    const tickets = Array.from({ length: 2_000 }, (_, i) => ticket(String(i), { calls: 1, total: 2 }));
    expect(statusOf({ ...facts, tickets }, now)).toMatchObject({ calls: 2_000, total: 4_000 });
  });

  test('metrics count turns, name no account, and go on without the engine', async () => {
    const metrics = createWorkerMetrics(
      () => ({ card: worker(), trouble: 'the engine does not answer' }),
      async () => statusOf(facts, now),
    );
    metrics.observe({
      ...{ kind: 'turn', account: '101', outcome: 'round', calls: 7, requests: 2, seconds: 1 },
      ...{ code: null, message: null },
    });
    const text = await metrics.metrics();
    for (const line of [
      'fleet_calls_total 7',
      'fleet_requests_total 2',
      'fleet_turns_total{outcome="round"} 1',
      'fleet_slots{state="busy"} 2',
      'fleet_job_accounts{state="aside"} 1',
      'fleet_job_calls 900',
    ])
      expect(text.split('\n')).toContain(line);
    expect(text).not.toContain('101');
    expect(metrics.ready()).toBe('the engine does not answer');
    const alone = createWorkerMetrics(
      () => null,
      () => Promise.reject(new Error('away')),
    );
    expect(await alone.metrics()).toContain('fleet_calls_total 0');
    expect(alone.ready()).toBeNull();
  });
});
