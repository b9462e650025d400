import { type Clock, systemClock } from '@call-attribution/core';
import type { Engine, Turn } from './engine.ts';
import type { JobCard, Ticket, WorkerCard } from './ticket.ts';

interface Held {
  ticket: Ticket;
  /** When it was put back, which is what fairness goes by. */
  order: number;
  /** The turn that has it; null when nobody has. */
  turn: string | null;
}

/**
 * An engine in the memory of one process, for one worker, which needs no server.
 *
 * @example
 * const worker = createWorker({ job, engine: memoryEngine(), target, credentials });
 */
export function memoryEngine(clock: Pick<Clock, 'now'> = systemClock): Engine {
  const held = new Map<string, Held>();
  const workers = new Map<string, WorkerCard>();
  let card: JobCard | null = null;
  let orders = 0;
  const dueAt = ({ ticket }: Held): number => ticket.dueAt ?? Number.POSITIVE_INFINITY;
  const due = (): Held[] => {
    const now = clock.now();
    return [...held.values()]
      .filter((one) => one.turn === null && dueAt(one) <= now)
      .sort((a, b) => a.order - b.order);
  };
  const put = (ticket: Ticket): void => {
    orders += 1;
    held.set(ticket.key, { ticket, order: orders, turn: null });
  };
  const heldBy = ({ key, id }: Turn): Held | null => {
    const one = held.get(key);
    return one?.turn === id ? one : null;
  };
  return {
    name: 'memory',
    isShared: false,
    async put(tickets) {
      for (const ticket of tickets) if (!held.has(ticket.key)) put(ticket);
    },
    async take(most) {
      return due()
        .slice(0, most)
        .map((one) => {
          orders += 1;
          one.turn = String(orders);
          return { ...one.ticket, id: one.turn, attempt: 0 };
        });
    },
    async keep(turns) {
      const ours = turns.flatMap((turn) => heldBy(turn) ?? []);
      return new Set(ours.flatMap(({ turn }) => turn ?? []));
    },
    async end(turn, next) {
      if (heldBy(turn) === null) return false;
      held.delete(turn.key);
      if (next !== null) put(next);
      return true;
    },
    async edit(key, change) {
      const one = held.get(key);
      if (one === undefined || one.turn !== null) return false;
      const next = change(one.ticket);
      if (next === null) held.delete(key);
      else one.ticket = next;
      return true;
    },
    card: async () => card,
    async setCard(change) {
      card = change(card) ?? card;
      return card;
    },
    async beat(worker) {
      workers.set(worker.name, worker);
    },
    async gone(worker) {
      workers.delete(worker);
    },
    look: async () => ({
      card,
      tickets: [...held.values()].map((one) => ({ ...one.ticket, isActive: one.turn !== null })),
      workers: [...workers.values()],
    }),
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}
