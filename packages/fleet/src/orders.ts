import type { Engine } from './engine/engine.ts';
import type { JobCard, Ticket } from './engine/ticket.ts';
import { FleetError } from './errors.ts';
import { isCredentialTrouble } from './worker/trouble.ts';

/** What an order has changed. */
export interface OrderResult {
  /** What the job was before. */
  readonly before: JobCard['state'];
  /** What it is now. */
  readonly state: JobCard['state'];
}

async function change(engine: Engine, to: (card: JobCard) => Partial<JobCard>): Promise<OrderResult> {
  let before: JobCard | null = null;
  const card = await engine.setCard((found) => {
    before = found;
    if (found === null || found.state === 'cancelled') return null;
    return { ...found, ...to(found) };
  });
  const was: JobCard | null = before;
  if (card === null || was === null) throw unknownJob(engine);
  return { before: stateOf(was), state: card.state };
}

const stateOf = ({ state }: JobCard): JobCard['state'] => state;

/** The error for a job that the engine does not have. */
const unknownJob = (engine: Engine): FleetError =>
  new FleetError(
    'unknown_job',
    `The engine ${engine.name} has no such job. Start a worker with its file first.`,
  );

/** How a job is paused. */
export interface PauseOptions {
  /** Drop what is under way, too. It is read again later. */
  readonly now?: boolean;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Lets workers take nothing new. */
export const pauseJob = (engine: Engine, { now = false, at }: PauseOptions): Promise<OrderResult> =>
  change(engine, (card) => ({ state: 'paused', now, since: card.state === 'paused' ? card.since : at }));

/** Lets workers go on. */
export const resumeJob = (engine: Engine, at: number): Promise<OrderResult> =>
  change(engine, (card) => (card.state === 'paused' ? { state: 'running', now: false, since: at } : {}));

/** Ends a job for good. What was read stays. */
export const cancelJob = (engine: Engine, at: number): Promise<OrderResult> =>
  change(engine, () => ({ state: 'cancelled', now: true, since: at }));

/** What `retryAside` has done with an account. */
export interface RetryResult {
  /** Id of the account. */
  readonly account: string;
  /** `again`: it goes back to work; `refused`: its keys do not open it; `sooner`: it was not set aside, and its turn comes now. */
  readonly outcome: 'again' | 'refused' | 'sooner';
  /** Why it stays aside. */
  readonly code: string | null;
  /** The same in words. */
  readonly message: string | null;
}

/** What is put back to work. */
export interface RetryOptions {
  /** Only these accounts; they need not be set aside. Default: all that are. */
  readonly accounts?: readonly string[];
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Tries the keys of an account that was set aside because of them. Default: its next turn does. */
  readonly tryKeys?: (account: string) => Promise<{ readonly code: string; readonly message: string } | null>;
}

/** Puts accounts that were set aside back to work. */
export async function retryAside(
  engine: Engine,
  { accounts = [], at, tryKeys = async () => null }: RetryOptions,
): Promise<RetryResult[]> {
  const { card, tickets } = await engine.look();
  if (card === null) throw unknownJob(engine);
  const unknown = accounts.find((id) => !tickets.some(({ account }) => account === id));
  if (unknown !== undefined)
    throw new FleetError('unknown_account', `The job ${card.name} has no account ${unknown}.`, {
      hint: 'calls fleet status --all lists its accounts',
    });
  const chosen = tickets.filter(({ account, note }) =>
    accounts.length > 0 ? accounts.includes(account) : note.state === 'aside',
  );
  const results: RetryResult[] = [];
  for (const { key, account, note } of chosen) {
    const isAside = note.state === 'aside';
    const refusal = isAside && isCredentialTrouble(note.trouble?.code ?? '') ? await tryKeys(account) : null;
    if (refusal === null) await engine.edit(key, (ticket) => again(ticket, at));
    const outcome = refusal !== null ? 'refused' : isAside ? 'again' : 'sooner';
    results.push({ account, outcome, code: refusal?.code ?? null, message: refusal?.message ?? null });
  }
  return results;
}

function again(ticket: Ticket, at: number): Ticket {
  const note = {
    ...ticket.note,
    state: 'open',
    tries: 0,
    failingSince: null,
    trouble: null,
    round: null,
  } as const;
  return { ...ticket, dueAt: at, note };
}
