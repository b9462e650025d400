/** How busy a worker is. */
export interface Load {
  /** Slots it has, and how many of them are in use. */
  readonly slots: number;
  readonly busy: number;
  /** Event loop utilization since the last look, from 0 to 1. */
  readonly elu: number;
  /** Memory of the process and what it may have, in bytes. */
  readonly rss: number;
  readonly memory: number;
}

/** The most slots of a worker that chooses their number itself. */
export const mostSlots = 16;

/** What a slot takes: pages ahead, records parsed, a part that is encoded. */
const slotBytes = 40 * 2 ** 20;

/**
 * How many slots a worker should have from now on. One more while there is time and memory for it and all are in use, one less
 * when the process does nothing but this. A slot that waits for its rate costs nothing, so a job with a rate gets many.
 */
export function nextSlots({ slots, busy, elu, rss, memory }: Load): number {
  if (elu > 0.95 || rss > memory) return Math.max(1, slots - 1);
  const hasRoom = elu < 0.75 && rss + slotBytes < memory;
  return hasRoom && busy >= slots ? Math.min(mostSlots, slots + 1) : slots;
}

/** What the process may have: half of the machine or of its container. */
export function memoryLimit(total: number, constrained: number | undefined): number {
  // Without a limit, Node.js answers 0 or a number beyond all memory.
  const most = constrained !== undefined && constrained > 0 ? Math.min(total, constrained) : total;
  return Math.floor(most / 2);
}
