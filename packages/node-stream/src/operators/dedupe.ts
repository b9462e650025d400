import type { Call } from '@call-attribution/core';
import { checkOptions, kinds, type OptionKind, type OptionShape } from '@call-attribution/core/errors';
import { atLeastOne } from '../option-kinds.ts';
import { Operator } from './operator.ts';

/** Settings of `dedupe`. */
export interface DedupeOptions<T> {
  /** Items with the same key are duplicates. Default: the `sid`. */
  key?: ((item: T) => string) | undefined;
  /** Most keys to remember; the oldest is forgotten first. Default 1,000,000 (about 100 MB of sids). */
  capacity?: number | undefined;
  /** Called with each duplicate. */
  onDuplicate?: ((item: T) => void) | undefined;
}

const shape = {
  key: kinds.callback,
  capacity: atLeastOne,
  onDuplicate: kinds.callback,
} satisfies OptionShape & Record<keyof DedupeOptions<unknown>, OptionKind>;

/**
 * Lets each `sid` through once. At a mark, which ends a slice, all keys are forgotten: a call has one `date_added` and is
 * therefore in one slice only. Without marks, `capacity` bounds the memory.
 *
 * @example
 * createCallStream(client, { marks: true }).pipe(dedupe());
 */
export function dedupe<T = Call>(options: DedupeOptions<T> = {}): Operator<T, T> {
  checkOptions(options, shape);
  const key = options.key ?? ((item: T) => (item as { sid: string }).sid);
  const capacity = options.capacity ?? 1_000_000;
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
