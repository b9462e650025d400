import type { Call } from '@call-attribution/core';
import { Operator } from './operator.ts';

/** Options of `dedupe`. */
export interface DedupeOptions<T> {
  /** What makes two items the same. Default the `sid`. */
  key?: (item: T) => string;
  /** Keys remembered at most; the oldest is forgotten first. Default 1,000,000 (about 100 MB of sids). */
  capacity?: number;
  /** Told of each item left out. */
  onDuplicate?: (item: T) => void;
}

/**
 * Lets each `sid` through once. A mark (end of a slice) forgets what was seen, since a call has one `date_added` and
 * so lies in one slice only; without marks the memory is bounded by `capacity`.
 */
export function dedupe<T = Call>(options: DedupeOptions<T> = {}): Operator<T, T> {
  const key = options.key ?? ((item: T) => (item as { sid: string }).sid);
  const capacity = options.capacity ?? 1_000_000;
  if (!(capacity >= 1)) throw new RangeError(`capacity is ${capacity}; expected at least 1`);
  return new Operator<T, T>(({ emit }) => {
    const seen = new Set<string>();
    return {
      push(item) {
        const id = key(item);
        if (seen.has(id)) {
          options.onDuplicate?.(item);
          return;
        }
        if (seen.size >= capacity) seen.delete(seen.values().next().value as string);
        seen.add(id);
        emit(item);
      },
      mark: () => seen.clear(),
    };
  });
}
