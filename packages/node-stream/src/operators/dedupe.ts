import type { Call } from '@call-attribution/core';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { reading } from '../option-kinds.ts';
import type { Operator } from './forms.ts';
import { type Key, keyOf } from './keys.ts';
import { type Reading, reader } from './measures.ts';
import { defineOperator } from './operator.ts';
import { each } from './step.ts';

const dedupeOptions = <T>() =>
  defineOptions({
    /** Items with the same key are duplicates: a field or a function. Items without a key are all passed on. */
    key: reading<Reading<NoInfer<T>>>().required(),
    /** Most keys to remember; the oldest is forgotten first. Default 1,000,000 (about 100 MB of numbers of callers). */
    capacity: option.whole(1).default(1_000_000),
    /** Called with each duplicate. */
    onDuplicate: option.callback<(item: NoInfer<T>) => void>(),
  });

/** Settings of `dedupe`. */
export interface DedupeOptions<T> extends OptionsOf<typeof dedupeOptions<T>> {}

/**
 * Lets the first item of each key through. A key that was forgotten counts as new. A stream of calls has each call once already.
 *
 * @example
 * createCallStream(client).through(dedupe({ key: 'ani' })); // the first call of each caller
 */
export function dedupe<T = Call>(options: DedupeOptions<T>): Operator<T, T> {
  const { key, capacity, onDuplicate } = dedupeOptions<T>().read(options);
  const read = reader(key);
  return defineOperator<T, T>({
    name: 'dedupe',
    settings: { key: typeof key === 'string' ? key : null, capacity },
    begin(state) {
      // Where the next key goes: over the oldest one, once the ring is full. A Set alone slows down when its oldest are deleted.
      const ring: Key[] = Array.isArray(state) ? [...state] : [];
      const seen = new Set(ring);
      let at = ring.length % capacity;
      return {
        take: each((item, out) => {
          const id = keyOf(read(item), 'the key', item);
          if (id === null) return void out.push(item);
          if (seen.has(id)) return onDuplicate?.(item);
          if (ring.length === capacity) seen.delete(ring[at] ?? null);
          ring[at] = id;
          at = (at + 1) % capacity;
          seen.add(id);
          out.push(item);
        }),
        // The oldest first.
        save: () => (ring.length < capacity ? [...ring] : [...ring.slice(at), ...ring.slice(0, at)]),
      };
    },
  });
}
