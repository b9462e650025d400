import { describe, expect, test } from 'vitest';
import { blankNote } from '../src/engine/engine.ts';
import {
  createWorkerMetrics,
  type FleetFacts,
  type JobCard,
  type NotedTrouble,
  type SeenTicket,
  statusOf,
  type TicketNote,
  type WorkerCard,
} from '../src/index.ts';

const now = Date.UTC(2026, 10, 22, 12);
const card: JobCard = {
  name: 'history',
  since: now - 60_000,
  into: 'folder:out',
  settings: {},
  digest: '',
};
const worker = (changes: Partial<WorkerCard> = {}): WorkerCard => ({
  name: 'w1',
  version: '1.0.0',
  slots: 4,
  accounts: ['1', '9'],
  state: 'working',
  why: null,
  callsPerSecond: 100,
  requestsPerSecond: 2,
  since: now - 5_000,
  at: now - 1_000,
  ...changes,
});
const ticket = (
  account: string,
  note: Partial<TicketNote>,
  more: Partial<Omit<SeenTicket, 'note'>> = {},
): SeenTicket => ({
  account,
  state: 'open',
  dueAt: now,
  trouble: null,
  ...more,
  note: { ...blankNote, ...note },
});
const trouble: NotedTrouble = {
  kind: 'server',
  code: 'server_error',
  message: 'It failed.',
  by: 'w1',
  tries: 3,
  since: now - 700_000,
};

describe('the status of a job', () => {
  test.each<[string, Partial<TicketNote>, Partial<Omit<SeenTicket, 'note'>>, object]>([
    ['working', { calls: 5, total: 10 }, { state: 'active' }, { worker: 'w1' }],
    ['waiting', {}, {}, { dueInMs: 0 }],
    ['later', {}, { trouble, dueAt: now + 5_000 }, { troubleForMs: 700_000, dueInMs: 5_000 }],
    ['read', { readAt: now - 9_000, whole: true }, { dueAt: now + 60_000 }, { readAgoMs: 9_000 }],
    ['done', { whole: true }, { state: 'done' }, { dueInMs: null }],
    ['aside', {}, { state: 'aside', trouble }, { trouble }],
  ])('an account is %s by its ticket', (state, note, more, expected) => {
    const status = statusOf({ card, tickets: [ticket('1', note, more)], workers: [worker()] }, now);
    expect(status?.accounts).toMatchObject([{ id: '1', state, ...expected }]);
  });

  const facts: FleetFacts = {
    card,
    tickets: [
      ticket('1', { calls: 400, total: 1_000 }, { state: 'active' }),
      ticket('2', { calls: 500, total: 500, whole: true }, { state: 'done' }),
      ticket('3', {}, { state: 'aside', trouble }),
    ],
    workers: [
      worker(),
      worker({ name: 'w2', accounts: [], at: now - 40_000 }),
      worker({ name: 'w3', at: now - 3_600_000 }),
    ],
  };

  test('adds up what tickets and workers say', () => {
    expect(statusOf(facts, now)).toMatchObject({
      job: 'history',
      state: 'running',
      calls: 900,
      total: 1_500,
      callsPerSecond: 100,
      leftMs: 6_000,
      states: { working: 1, done: 1, aside: 1, waiting: 0 },
      workers: [
        { name: 'w1', state: 'working' },
        { name: 'w2', state: 'silent', silentForMs: 40_000 },
      ],
    });
    expect(statusOf({ ...facts, card: null }, now)).toBeNull();
    expect(statusOf({ ...facts, tickets: facts.tickets.slice(1) }, now)?.state).toBe('done');
  });

  test('metrics count turns, name no account, and go on without the engine', async () => {
    const metrics = createWorkerMetrics(
      () => ({ card: worker(), trouble: 'the engine does not answer' }),
      async () => statusOf(facts, now),
    );
    metrics.observe({
      kind: 'turn',
      account: '101',
      outcome: 'round',
      calls: 7,
      requests: 2,
      seconds: 1,
      code: null,
      message: null,
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
