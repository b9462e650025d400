import { type Checkpoint, intervalOf, spanOf } from '../checkpoint/checkpoint.ts';
import { addSpan } from '../checkpoint/intervals.ts';
import { markOf } from '../slicing/judge.ts';
import type { Batch } from '../slicing/run.ts';

/** What a stream counts: a batch counted by records can be taken in part. */
type Unit = 'record' | 'byte' | 'batch';

/**
 * Keeps what the consumer has taken. Batches are entered as they are handed to the stream, and counted as they leave
 * it, so that a checkpoint never covers a record that still lies in a buffer.
 */
export class Ledger {
  readonly #query: string;
  readonly #waiting: { batch: Batch; size: number; end: number; unit: Unit }[] = [];
  #entered = 0;
  #taken = 0;
  #done: Checkpoint['done'];
  #place: Checkpoint['place'];
  #total: number;
  #delivered: number;

  constructor(query: string, from: Checkpoint | null) {
    this.#query = query;
    this.#done = from?.done ?? [];
    this.#place = from?.place ?? null;
    this.#total = from?.total ?? 0;
    this.#delivered = from?.delivered ?? 0;
  }

  /** A batch is on its way to the consumer; `size` is its length in what the stream counts. */
  enter(batch: Batch, size: number, unit: Unit): void {
    this.#entered += size;
    this.#waiting.push({ batch, size, end: this.#entered, unit });
  }

  /** A record of the batch entered last does not go out after all; `index` is its place in the page. */
  skip(index: number): void {
    const last = this.#waiting.at(-1);
    if (last === undefined) {
      this.#delivered -= 1;
      return;
    }
    const keep = (last.batch.keep ?? last.batch.sids.map((_, i) => i)).filter((i) => i !== index);
    last.batch = { ...last.batch, keep };
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
      this.#close(head.batch);
    }
  }

  /** The place as of the last `settle`. */
  checkpoint(): Checkpoint {
    const head = this.#waiting[0];
    const isInside = head?.unit === 'record' && this.#taken > head.end - head.size;
    const inPage = isInside ? Math.min(this.#taken - (head.end - head.size), sizeOf(head.batch)) : 0;
    const place = isInside ? placeIn(head.batch, inPage) : null;
    return {
      version: 1,
      query: this.#query,
      done: this.#done,
      place: place ?? this.#place,
      total: this.#total,
      delivered: this.#delivered + inPage,
    };
  }

  #close(batch: Batch): void {
    this.#delivered += sizeOf(batch);
    if (!batch.isLast) {
      this.#place = placeIn(batch, sizeOf(batch)) ?? this.#place;
      return;
    }
    this.#done = addSpan(this.#done.map(spanOf), batch.slice.span).map(intervalOf);
    this.#place = null;
    this.#total += batch.slice.pass.count;
  }
}

/** Records of a batch that go out. */
export function sizeOf({ keep, sids }: Batch): number {
  return keep === null ? sids.length : keep.length;
}

// A second pass does not meet the records in the order they went out, so it leaves the place of the first as it is.
function placeIn(batch: Batch, taken: number): Checkpoint['place'] {
  const { slice, sids, keep, offset, mark } = batch;
  if (slice.passes > 1) return null;
  const isWhole = taken === sizeOf(batch);
  const end = isWhole ? sids.length : keep === null ? taken : (keep[taken - 1] ?? -1) + 1;
  const [from, to] = intervalOf(slice.span);
  return { from, to, taken: offset + end, mark: sids.slice(0, end).reduce(markOf, mark) };
}
