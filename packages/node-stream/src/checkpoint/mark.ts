import type { Checkpoint } from './checkpoint.ts';

/**
 * Travels in the stream after the records of a slice: all of them have passed. It carries the checkpoint from which a later
 * run can resume. Windows close on marks, file sinks make their output durable on them, operators pass them on.
 */
export class Mark {
  /** All records with `date_added` before this naive time have passed; null when the slice has no upper end. */
  readonly to: string | null;
  /** Lower end of the slice that just ended, included; null when it is open. */
  readonly from: string | null;
  /** Where the source resumes after this mark; null when it cannot. */
  readonly checkpoint: Checkpoint | null;

  constructor(mark: { from?: string | null; to?: string | null; checkpoint?: Checkpoint | null }) {
    this.from = mark.from ?? null;
    this.to = mark.to ?? null;
    this.checkpoint = mark.checkpoint ?? null;
  }
}

/**
 * Whether an item of a stream with marks is a mark.
 *
 * @example
 * for await (const item of createCallStream(client, { marks: true })) if (!isMark(item)) console.log(item.sid);
 */
export function isMark(item: unknown): item is Mark {
  return item instanceof Mark;
}
