import type { NotedTrouble, Ticket } from '../engine/ticket.ts';
import type { PlannedJob } from '../job.ts';
import type { TurnEnd } from '../targets/target.ts';
import { brief, retryWait, serverWait, type Trouble } from './trouble.ts';

/** Turns in a row that may end with trouble of the account before it is set aside. */
const mostTries = 5;

/** What the end of a turn is judged by. */
export interface TurnFacts {
  readonly job: PlannedJob;
  readonly ticket: Ticket;
  readonly startedAt: number;
  readonly now: number;
  /** Calls that were committed. */
  readonly calls: number;
  readonly worker: string;
}

const quiet = { trouble: null, tries: 0, failingSince: null } as const;

/** The ticket after a turn that ended well. */
export function afterTurn(facts: TurnFacts, end: TurnEnd): Ticket {
  const { job, ticket, startedAt, now } = facts;
  const round = ticket.note.round ?? startedAt;
  const note = { ...ticket.note, ...end.note, ...quiet, turns: ticket.note.turns + 1 };
  if (end.kind === 'cut') return { ...ticket, dueAt: now, note: { ...note, round } };
  const read = { ...note, round: null, readAt: now };
  if (job.every !== null) return { ...ticket, dueAt: Math.max(now, round + job.every), note: read };
  if (note.whole === true) return { ...ticket, dueAt: null, note: { ...read, state: 'done' } };
  const message = note.lacks ?? 'It is not known whether all calls are there.';
  const kind = { kind: 'account', code: 'not_whole', message, waitMs: 0 } as const;
  return afterTrouble(
    { ...facts, ticket: { ...ticket, note: { ...read, tries: ticket.note.tries } }, calls: 0 },
    kind,
  );
}

/** The ticket after a turn that ended with trouble of the API, the credentials or the account. */
export function afterTrouble(
  facts: TurnFacts,
  { kind, code, message, waitMs }: Extract<Trouble, { kind: NotedTrouble['kind'] }>,
): Ticket {
  const { ticket, now, calls, worker } = facts;
  const isProgress = calls > 0;
  const failingSince = isProgress ? now : (ticket.note.failingSince ?? now);
  const before = kind === 'account' && isProgress ? 0 : ticket.note.tries;
  const tries = kind === 'account' ? before + 1 : before;
  const trouble = { kind, code, message: brief(message), at: now, by: worker };
  const note = { ...ticket.note, trouble, tries, failingSince, turns: ticket.note.turns + 1 };
  if (kind === 'credential' || (kind === 'account' && tries >= mostTries)) {
    return { ...ticket, dueAt: null, note: { ...note, state: 'aside' } };
  }
  const wait = kind === 'server' ? serverWait(now - failingSince, waitMs) : retryWait(tries);
  return { ...ticket, dueAt: now + wait, note };
}

/** The ticket of a turn that was dropped, or whose claim was lost: it is tried later, and nothing is wrong with it. */
export function afterDrop({ ticket, now }: TurnFacts, waitMs: number): Ticket {
  return { ...ticket, dueAt: now + waitMs };
}
