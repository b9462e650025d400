import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOperator } from './chain.ts';
import { type Key, keyOf, nameOf, namesOf, type Reading, reader } from './fields.ts';
import type { Operator } from './operator.ts';

/** Settings of `dedupe`. */
export interface DedupeOptions<T> {
  /** Items with the same key are duplicates: a field or a function. Items without a key are all passed on. */
  key: Reading<NoInfer<T>>;
  /** Most keys to remember; the oldest is forgotten first. Default 1,000,000 (about 100 MB of numbers of callers). */
  capacity?: number;
}

/**
 * Lets the first item of each key through. A key that was forgotten counts as new. A stream of calls has each call once already.
 *
 * @example
 * createCallStream(client).through(dedupe({ key: 'ani' })); // the first call of each caller
 */
export function dedupe<T = Call>(options: DedupeOptions<T>): Operator<T, T> {
  const { key, capacity = 1_000_000 } = options;
  if (!Number.isSafeInteger(capacity) || capacity < 1)
    throw new ConfigurationError('invalid_option', `capacity is ${capacity}; expected at least 1`);
  const read = reader(key);
  return defineOperator<T, T>({
    name: 'dedupe',
    settings: { key: nameOf(key), capacity },
    fields: namesOf(key),
    gives: 'same',
    begin(state) {
      // Where the next key goes: over the oldest one, once the ring is full. A Set alone slows down when its oldest are deleted.
      const ring: Key[] = Array.isArray(state) ? [...state] : [];
      const seen = new Set(ring);
      let at = ring.length % capacity;
      const isFirst = (item: T): boolean => {
        const id = keyOf(read(item), 'the key', item);
        if (id === null) return true;
        if (seen.has(id)) return false;
        if (ring.length === capacity) seen.delete(ring[at] ?? null);
        ring[at] = id;
        at = (at + 1) % capacity;
        seen.add(id);
        return true;
      };
      return {
        page: (items) => items.filter(isFirst),
        // The oldest first.
        save: () => (ring.length < capacity ? [...ring] : [...ring.slice(at), ...ring.slice(0, at)]),
      };
    },
  });
}
