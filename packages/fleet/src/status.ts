import {
  type FleetFacts,
  livingMs,
  type NotedTrouble,
  type SeenTicket,
  type WorkerCard,
} from './engine/engine.ts';

/**
 * How an account is: at work, or waiting for its turn; later, after trouble; read, until the next
 * time; done; or set aside.
 */
export type AccountState = 'working' | 'waiting' | 'later' | 'read' | 'done' | 'aside';

/** An account of a job. */
export interface AccountStatus {
  /** Its id. */
  readonly id: string;
  /** What becomes of it. */
  readonly state: AccountState;
  /** Calls in the target; null while nobody knows. */
  readonly calls: number | null;
  /** Calls that the server counts; null while nobody knows. */
  readonly total: number | null;
  /** `date_added` of the newest call that was read. */
  readonly newest: string | null;
  /** Whether all is proved to be there; null while it was not read to its end. */
  readonly whole: boolean | null;
  /** What is not whole, in a sentence. */
  readonly lacks: string | null;
  /** What kept its last turn from its end. */
  readonly trouble: NotedTrouble | null;
  /** How long that lasts, in milliseconds. */
  readonly troubleForMs: number;
  /** Milliseconds until its turn; null when none comes by itself, 0 when it is due. */
  readonly dueInMs: number | null;
  /** Milliseconds since all of it was read; null when it never was. */
  readonly readAgoMs: number | null;
  /** The worker that has it. */
  readonly worker: string | null;
}

/** A worker of a job. */
export interface WorkerStatus
  extends Pick<
    WorkerCard,
    'name' | 'version' | 'slots' | 'callsPerSecond' | 'requestsPerSecond' | 'why'
  > {
  /** Turns that it works on. */
  readonly busy: number;
  /** What it does; `silent`: it gives no more signs of life. */
  readonly state: WorkerCard['state'] | 'silent';
  /** Milliseconds since its last sign of life. */
  readonly silentForMs: number;
  /** Milliseconds since its start. */
  readonly forMs: number;
}

/** How a job is. */
export interface FleetStatus {
  /** Name of the job. */
  readonly job: string;
  /** Where records go. */
  readonly into: string;
  /** `done`: nothing is left to do but for what is set aside. */
  readonly state: 'running' | 'done';
  /** Milliseconds since its first worker started. */
  readonly forMs: number;
  /** The accounts, by id. */
  readonly accounts: readonly AccountStatus[];
  /** How many accounts are in which state. */
  readonly states: Readonly<Record<AccountState, number>>;
  /** The workers, by name. */
  readonly workers: readonly WorkerStatus[];
  /** Calls in the target. */
  readonly calls: number;
  /** Null while the totals of some accounts are unknown. */
  readonly total: number | null;
  /** Calls that all workers write in a second. */
  readonly callsPerSecond: number;
  /** Requests that all workers send in a second. */
  readonly requestsPerSecond: number;
  /** Time left at this rate, in milliseconds; null while unknown. */
  readonly leftMs: number | null;
  /** Milliseconds since the account was read that waits longest; null without one. */
  readonly lagMs: number | null;
}

/** How a job is, from what an engine knows; null when it does not know the job. */
export function statusOf({ card, tickets, workers }: FleetFacts, now: number): FleetStatus | null {
  if (card === null) return null;
  const holders = new Map(
    workers.flatMap(({ name, accounts }) => accounts.map((id) => [id, name] as const)),
  );
  const accounts = tickets
    .map((ticket) => accountOf(ticket, holders.get(ticket.account) ?? null, now))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const shown = workers
    .map((worker) => workerOf(worker, now))
    .filter(({ state, silentForMs }) => state !== 'silent' || silentForMs < forgottenMs)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const living = shown.filter(({ state }) => state !== 'silent');
  const sum = <T>(list: readonly T[], of: (each: T) => number) =>
    list.reduce((total, each) => total + of(each), 0);
  const calls = sum(accounts, (account) => account.calls ?? 0);
  const open = accounts.filter(({ state }) => state !== 'aside');
  const isCounted = open.every(({ total }) => total !== null);
  const total = isCounted
    ? sum(accounts, (account) => Math.max(account.calls ?? 0, account.total ?? 0))
    : null;
  const callsPerSecond = sum(living, (worker) => worker.callsPerSecond);
  const states = { working: 0, waiting: 0, later: 0, read: 0, done: 0, aside: 0 };
  for (const { state } of accounts) states[state] += 1;
  const isOver = accounts.length > 0 && accounts.length === states.done + states.aside;
  const lags = open.map(({ readAgoMs }) => readAgoMs).filter((ago) => ago !== null);
  return {
    job: card.name,
    into: card.into,
    state: isOver ? 'done' : 'running',
    forMs: Math.max(0, now - card.since),
    accounts,
    states,
    workers: shown,
    calls,
    total,
    callsPerSecond,
    requestsPerSecond: sum(living, (worker) => worker.requestsPerSecond),
    leftMs:
      total === null || callsPerSecond === 0 ? null : ((total - calls) / callsPerSecond) * 1000,
    lagMs: lags.length === 0 ? null : Math.max(...lags),
  };
}

/** A worker that gave no sign of life for so long is no longer shown. */
const forgottenMs = 600_000;

function accountOf(ticket: SeenTicket, worker: string | null, now: number): AccountStatus {
  const { account, note, trouble, dueAt } = ticket;
  const { calls, total, newest, whole, lacks, readAt } = note;
  return {
    id: account,
    state: stateOf(ticket, now),
    calls,
    total,
    newest,
    whole,
    lacks,
    trouble,
    troubleForMs: trouble === null ? 0 : Math.max(0, now - trouble.since),
    dueInMs: ticket.state === 'open' ? Math.max(0, dueAt - now) : null,
    readAgoMs: readAt === null ? null : Math.max(0, now - readAt),
    worker: ticket.state === 'active' ? worker : null,
  };
}

function stateOf({ state, trouble, note, dueAt }: SeenTicket, now: number): AccountState {
  if (state === 'active') return 'working';
  if (state !== 'open') return state;
  if (trouble !== null) return 'later';
  return note.readAt !== null && dueAt > now ? 'read' : 'waiting';
}

function workerOf(card: WorkerCard, now: number): WorkerStatus {
  const { name, version, slots, accounts, callsPerSecond, requestsPerSecond, why, since, at } =
    card;
  const silentForMs = Math.max(0, now - at);
  const state = silentForMs > livingMs ? 'silent' : card.state;
  return {
    name,
    version,
    slots,
    busy: accounts.length,
    callsPerSecond,
    requestsPerSecond,
    why,
    state,
    silentForMs,
    forMs: Math.max(0, now - since),
  };
}
