import type { Checkpoint } from './checkpoint.ts';

/**
 * A mark travels in the stream behind the records it covers. It says that every record of a slice of `date_added` has
 * passed, and carries the checkpoint from which a later run may go on. Windows close on it, the file sinks make their
 * output durable on it, and operators pass it on.
 */
export class Mark {
  /** All records with `date_added` before this naive time have passed; null when the slice has no upper end. */
  readonly until: string | null;
  /** Lower end of the slice that just ended, inclusive; null when it is open. */
  readonly from: string | null;
  /** Where the source goes on behind this mark; null when it cannot. */
  readonly checkpoint: Checkpoint | null;

  constructor(mark: { from?: string | null; until?: string | null; checkpoint?: Checkpoint | null }) {
    this.from = mark.from ?? null;
    this.until = mark.until ?? null;
    this.checkpoint = mark.checkpoint ?? null;
  }
}

/** True for the marks between the records of a stream that was asked for marks. */
export function isMark(item: unknown): item is Mark {
  return item instanceof Mark;
}
