import type { Call } from '@call-attribution/core';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { atLeastOne } from '../option-kinds.ts';
import { Operator } from './operator.ts';

const dedupeOptions = <T>() =>
  defineOptions({
    /** Items with the same key are duplicates. Default: the `sid`. */
    key: option.callback<(item: T) => string>().default((item) => (item as { sid: string }).sid),
    /** Most keys to remember; the oldest is forgotten first. Default 1,000,000 (about 100 MB of sids). */
    capacity: atLeastOne().default(1_000_000),
    /** Called with each duplicate. */
    onDuplicate: option.callback<(item: T) => void>(),
  });

/** Settings of `dedupe`. */
export interface DedupeOptions<T> extends OptionsOf<typeof dedupeOptions<T>> {}

/**
 * Lets each `sid` through once. At a mark, which ends a slice, all keys are forgotten: a call has one `date_added` and is
 * therefore in one slice only. Without marks, `capacity` bounds the memory.
 *
 * @example
 * createCallStream(client, { marks: true }).pipe(dedupe());
 */
export function dedupe<T = Call>(options: DedupeOptions<T> = {}): Operator<T, T> {
  const { key, capacity, onDuplicate } = dedupeOptions<T>().read(options);
  return new Operator<T, T>(({ emit }) => {
    const seen = new Set<string>();
    return {
      push(item) {
        const id = key(item);
        if (seen.has(id)) {
          onDuplicate?.(item);
          return;
        }
        if (seen.size >= capacity) {
          const oldest = seen.values().next();
          if (!oldest.done) seen.delete(oldest.value);
        }
        seen.add(id);
        emit(item);
      },
      mark: () => seen.clear(),
    };
  });
}
