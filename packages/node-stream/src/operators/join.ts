import type { Call } from '@call-attribution/core';
import { ConfigurationError, propertyOf } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { ItemError } from '../errors.ts';
import { reading } from '../option-kinds.ts';
import { type Reading, reader } from './measures.ts';
import { Operator } from './operator.ts';

/** The other side of a join: rows, rows by key, or a function that looks a key up. */
export type JoinTable<R> = ReadonlyMap<unknown, R> | Iterable<R> | AsyncIterable<R> | Lookup<R>;

/** Looks up the row of a key. */
export type Lookup<R> = (key: unknown) => R | undefined | Promise<R | undefined>;

const joinOptions = <T, R, O>() =>
  defineOptions({
    /** The key of an item: a field or a function. A null key matches nothing. */
    on: reading<Reading<NoInfer<T>>>().required(),
    /** The key of a row, for tables given as rows. Default: the same field as `on`. */
    key: reading<Reading<NoInfer<R>>>(),
    /** Combines an item and its row; the row is undefined when nothing matches. Default `{ ...item, ...row }`. */
    merge: option
      .callback<(item: NoInfer<T>, row: NoInfer<R> | undefined) => O>()
      .default((item, row) => ({ ...item, ...row }) as O),
    /** What happens to items without a match: `keep` (default) or `drop`. */
    unmatched: option.oneOf('keep', 'drop').default('keep'),
  });

/** Settings of `join`. */
export interface JoinOptions<T, R, O> extends OptionsOf<typeof joinOptions<T, R, O>> {}

/**
 * Adds the columns of a matching row to each item: campaign costs, branch names, CRM data. Rows are read into memory
 * once, before the first item passes; a function is called for each item instead.
 *
 * @example
 * const costs = [{ ppc_campaign_id: '77', cost: 12.5 }];
 * createCallStream(client).pipe(join(costs, { on: 'ppc_campaign_id' }));
 */
export function join<R, T = Call, O = T & Partial<R>>(
  table: JoinTable<R>,
  options: JoinOptions<T, R, O>,
): Operator<T, O> {
  const { on, key: keyOfRow, merge, unmatched } = joinOptions<T, R, O>().read(options);
  const read = reader(on);
  const open = opener(table, on, keyOfRow);
  return new Operator<T, O>(({ emit }) => {
    let lookup: Lookup<R> | undefined;
    const put = (item: T, row: R | undefined) => {
      if (row !== undefined || unmatched === 'keep') emit(merge(item, row));
    };
    const match = (item: T): void | Promise<void> => {
      const key = read(item);
      const row = key === null || key === undefined ? undefined : lookup?.(key);
      if (row instanceof Promise) return row.then((found) => put(item, found));
      put(item, row);
    };
    return {
      push(item) {
        if (lookup !== undefined) return match(item);
        return open().then((opened) => {
          lookup = opened;
          return match(item);
        });
      },
    };
  });
}

/** Says how the table is opened. Throws when the key of its rows is not known. */
function opener<T, R>(
  table: JoinTable<R>,
  on: Reading<T>,
  keyOfRow: Reading<R> | undefined,
): () => Promise<Lookup<R>> {
  if (typeof table === 'function') return async () => table;
  if (isMap(table)) return async () => (id) => table.get(id);
  if (keyOfRow !== undefined) return () => readRows(table, reader(keyOfRow));
  if (typeof on === 'string') return () => readRows(table, (row) => propertyOf(row, on));
  throw new ConfigurationError(
    'invalid_option',
    'join: on is a function, so key is needed too: the field or function that gives the key of a row',
  );
}

const isMap = <R>(table: JoinTable<R>): table is ReadonlyMap<unknown, R> => table instanceof Map;

async function readRows<R>(
  table: Iterable<R> | AsyncIterable<R>,
  read: (row: R) => unknown,
): Promise<Lookup<R>> {
  const rows = new Map<unknown, R>();
  for await (const row of table) {
    const id = read(row);
    if (rows.has(id))
      throw new ItemError(
        'repeated_key',
        'join: two rows of the table have the same key; pass a table in which each key appears once',
      );
    rows.set(id, row);
  }
  return (id) => rows.get(id);
}
