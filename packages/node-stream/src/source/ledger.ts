import { type Checkpoint, withDone } from '../checkpoint/checkpoint.ts';
import { timeSliceOf } from '../query/time-slice.ts';
import { addSid } from '../slicing/judge.ts';
import type { PlannedBatch } from '../slicing/state.ts';
import { withCounted } from './settled.ts';

/** What a stream counts: a batch counted by records can be taken in part. */
type Unit = 'record' | 'byte' | 'batch';

interface Entry {
  batch: PlannedBatch;
  size: number;
  end: number;
  readonly unit: Unit;
  /** Places in the page of records that could not be read: left out, or passed to the caller as bytes. */
  readonly skipped: number[];
  readonly setAside: number[];
}

/**
 * Keeps what the consumer has taken. Batches are entered as they are handed to the stream, and counted as they leave
 * it, so that a checkpoint never covers a record that is still in a buffer.
 */
export class Ledger {
  readonly #waiting: Entry[] = [];
  #entered = 0;
  #taken = 0;
  #covered: Checkpoint;

  /** `before`: the time from before which records are counted for the count at the end. */
  constructor(query: string, from: Checkpoint | null, before: string) {
    const settled = { before, stretches: [] };
    const { done, total, delivered } = { done: [], total: 0, delivered: 0 };
    this.#covered = from ?? { version: 1, query, done, place: null, total, delivered, settled };
  }

  /** The server counts so many records in the whole query. */
  expect(total: number): void {
    this.#covered = { ...this.#covered, expected: Math.max(this.#covered.expected ?? 0, total) };
  }

  /** A batch is on its way to the consumer; `size` is its length in what the stream counts. */
  enter(batch: PlannedBatch, size: number, unit: Unit): void {
    this.#entered += size;
    this.#waiting.push({ batch, size, end: this.#entered, unit, skipped: [], setAside: [] });
  }

  /** A record of the batch entered last does not go out after all. `index` is its place in the page. */
  skip(index: number, isLost: boolean): void {
    const last = this.#waiting.at(-1);
    if (last === undefined) {
      this.#covered = added(this.#covered, -1, isLost ? 1 : 0, isLost ? 0 : 1);
      return;
    }
    const keep = (last.batch.keep ?? last.batch.sids.map((_, i) => i)).filter((i) => i !== index);
    last.batch = { ...last.batch, keep };
    (isLost ? last.skipped : last.setAside).push(index);
    if (last.unit !== 'record') return;
    last.size -= 1;
    last.end -= 1;
    this.#entered -= 1;
  }

  /** The consumer has taken all but `left` of what was entered. */
  settle(left: number): void {
    this.#taken = this.#entered - left;
    for (
      let head = this.#waiting[0];
      head !== undefined && head.end <= this.#taken;
      head = this.#waiting[0]
    ) {
      this.#waiting.shift();
      this.#covered = covering(this.#covered, head);
    }
  }

  /** What was taken as of the last `settle`. */
  checkpoint(): Checkpoint {
    const head = this.#waiting[0];
    const begun = head === undefined ? 0 : this.#taken - (head.end - head.size);
    if (head?.unit !== 'record' || begun <= 0) return this.#covered;
    const taken = Math.min(begun, sizeOf(head.batch));
    const end = endOf(head.batch, taken);
    const upTo = (places: readonly number[]) => places.filter((i) => i < end).length;
    const covered = added(this.#covered, taken, upTo(head.skipped), upTo(head.setAside));
    return { ...covered, place: placeIn(head.batch, taken, covered.place) };
  }
}

/** Records of a batch that go out. */
export function sizeOf({ keep, sids }: PlannedBatch): number {
  return keep === null ? sids.length : keep.length;
}

function covering(before: Checkpoint, { batch, skipped, setAside }: Entry): Checkpoint {
  const taken = added(before, sizeOf(batch), skipped.length, setAside.length);
  const after = { ...taken, ...sum('changed', taken.changed, batch.changed) };
  if (!batch.isLast) return { ...after, place: placeIn(batch, sizeOf(batch), after.place) };
  const counted = { span: batch.span, count: batch.settled, hasStrays: batch.hasStrays };
  return {
    ...after,
    ...sum('rereads', after.rereads, batch.passes - 1),
    done: withDone(after, batch.span),
    place: null,
    total: after.total + batch.count,
    settled: withCounted(after.settled, counted),
    ...(batch.total === null ? { unproven: true as const } : {}),
  };
}

function added(checkpoint: Checkpoint, delivered: number, skipped: number, setAside: number): Checkpoint {
  return {
    ...checkpoint,
    delivered: checkpoint.delivered + delivered,
    ...sum('skipped', checkpoint.skipped, skipped),
    ...sum('setAside', checkpoint.setAside, setAside),
  };
}

/** A count that is absent while it is zero. */
function sum<Name extends string>(name: Name, before: number | undefined, more: number) {
  const count = (before ?? 0) + more;
  return count > 0 ? ({ [name]: count } as { [key in Name]: number }) : {};
}

/**
 * The place after so many records of a batch. While an earlier run or an earlier pass came further in the same slice, its
 * place stands for more.
 */
function placeIn(batch: PlannedBatch, taken: number, before: Checkpoint['place']): Checkpoint['place'] {
  const { span, sids, offset, sidChecksum } = batch;
  const end = endOf(batch, taken);
  const { from, to } = timeSliceOf(span);
  const isSameSlice = before !== null && before.from === from && before.to === to;
  if (isSameSlice && before.taken > offset + end) return before;
  return { from, to, taken: offset + end, sidChecksum: sids.slice(0, end).reduce(addSid, sidChecksum) };
}

/** The place in the page after the records taken. */
function endOf({ keep, sids }: PlannedBatch, taken: number): number {
  if (keep === null) return taken;
  return taken === keep.length ? sids.length : (keep[taken - 1] ?? -1) + 1;
}
