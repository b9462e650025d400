import { type Clock, systemClock } from '@call-attribution/core';
import {
  type Engine,
  type JobCard,
  joining,
  type SeenTicket,
  type Turn,
  troubleAfter,
  type WorkerCard,
} from './engine.ts';

/** Turns of an account with trouble, after which it is set aside. */
const mostTries = 3;

type Held = SeenTicket & { readonly turn: string | null };

/**
 * An engine in the memory of one process, which needs no server. Accounts have their turns one
 * after the other; one with trouble is tried twice more once all others are read, then set aside:
 * for good, or, in a job with `every`, until all are read again.
 *
 * @example
 * const worker = createWorker({ job, engine: memoryEngine(), target, credentials, name: 'w1' });
 */
export function memoryEngine(clock: Pick<Clock, 'now'> = systemClock): Engine {
  /** By account, in the order of their turns. */
  const held = new Map<string, Held>();
  const workers = new Map<string, WorkerCard>();
  let card: JobCard | null = null;
  let every: number | null = null;
  let turns = 0;

  const putLast = (ticket: SeenTicket): void => {
    held.delete(ticket.account);
    held.set(ticket.account, { ...ticket, turn: null });
  };

  const hasTurn = ({ account, id }: Turn): boolean => held.get(account)?.turn === id;
  const look = async () => ({ card, tickets: [...held.values()], workers: [...workers.values()] });
  return {
    name: 'memory',
    isShared: false,
    async join(job, worker) {
      const { removed, sent, card: joined } = joining(await look(), job, worker);
      card = joined;
      every = job.every;
      for (const account of removed) held.delete(account);
      for (const ticket of sent)
        putLast({ ...ticket, trouble: null, state: 'open', dueAt: clock.now() });
      workers.set(worker.name, worker);
    },
    async take(most) {
      const isDue = ({ state, dueAt }: Held): boolean => state === 'open' && dueAt <= clock.now();
      const isWell = ({ trouble }: Held): boolean => trouble === null;
      const next = [...held.values()].filter((one) => isDue(one) || one.state === 'active');

      // Those with trouble come once nobody else is left.
      const chosen = next.some(isWell) ? next.filter(isWell) : next;
      return chosen
        .filter(isDue)
        .slice(0, most)
        .map((ticket) => {
          turns += 1;
          const id = String(turns);
          held.set(ticket.account, { ...ticket, state: 'active', turn: id });
          return {
            account: ticket.account,
            note: ticket.note,
            trouble: ticket.trouble,
            id,
            attempt: 0,
          };
        });
    },
    async keep(kept, worker) {
      workers.set(worker.name, worker);
      return new Set(kept.filter(hasTurn).map(({ id }) => id));
    },
    async end(turn, note, dueAt) {
      if (!hasTurn(turn)) return false;
      const state = dueAt === null ? 'done' : 'open';
      putLast({ account: turn.account, note, trouble: null, state, dueAt: dueAt ?? 0 });
      return true;
    },
    async fail(turn, given) {
      if (!hasTurn(turn)) return 'lost';
      const trouble = troubleAfter(turn, given, clock.now());
      const isLast = trouble.kind === 'credential' || trouble.tries >= mostTries;
      const state = isLast && every === null ? 'aside' : 'open';
      const wait = isLast ? (every ?? 0) : trouble.tries * 1_000;
      putLast({
        account: turn.account,
        note: turn.note,
        trouble,
        state,
        dueAt: clock.now() + wait,
      });
      return isLast ? 'aside' : 'later';
    },
    async again(accounts) {
      for (const account of accounts) {
        const ticket = held.get(account);
        if (ticket !== undefined)
          putLast({ ...ticket, trouble: null, state: 'open', dueAt: clock.now() });
      }
    },
    async gone(worker) {
      workers.delete(worker);
    },
    look,
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}
