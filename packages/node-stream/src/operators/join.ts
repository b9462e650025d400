import type { Call } from '@call-attribution/core';
import { ConfigurationError, propertyOf } from '@call-attribution/core/errors';
import { ItemError } from '../errors.ts';
import { defineOperator } from './chain.ts';
import { checkFields, nameOf, namesOf, type Reading, reader } from './fields.ts';
import type { Operator } from './operator.ts';
import { isPromise, untilAborted } from './sources.ts';

/** The other side of a join: rows, rows by key, or a function that looks a key up. */
export type JoinTable<R> = ReadonlyMap<unknown, R> | Iterable<R> | AsyncIterable<R> | Lookup<R>;

/** Looks up the row of a key, or all its rows. */
export type Lookup<R> = (
  key: unknown,
  signal: AbortSignal,
) => R | readonly R[] | undefined | Promise<R | readonly R[] | undefined>;

/** Settings of `join`. */
export interface JoinOptions<T, R, As extends string> {
  /** The key of an item: a field or a function. A null key matches nothing. */
  on: Reading<NoInfer<T>>;
  /** The column for the row, null for none. */
  as: As;
  /** The key of a row, for tables given as rows. Default: the same field as `on`. Rows with a null key match nothing. */
  key?: Reading<NoInfer<R>>;
  /** `one` (default): a second row with the same key is an error. `many`: an item comes out once for each of its rows. */
  rows?: 'one' | 'many';
  /** Leave out items without a row. Default: they are kept, with null. */
  unmatched?: 'keep' | 'drop';
}

/**
 * Adds the row of an item under a name: campaign costs, branch names, CRM data. Rows are read into memory once, before the first item
 * passes; a function is called for each key of a page.
 *
 * @example
 * const shops = readCsv('shops.csv'); // any iterable of rows
 * createCallStream(client).through(join(shops, { on: 'dnis', key: 'phone', as: 'shop' }));
 */
export function join<R, As extends string, T = Call>(
  table: JoinTable<R>,
  options: JoinOptions<T, R, As>,
): Operator<T, T & { [column in As]: R | null }> {
  const { on, key, rows = 'one', as, unmatched = 'keep' } = options;
  type Joined = T & { [column in As]: R | null };
  const read = reader(on);
  const open = opener<T, R>(table, on, key, rows === 'many');
  const put = (item: T, found: R | readonly R[] | undefined, out: Joined[]): void => {
    const all = Array.isArray(found) ? found : [found as R | undefined];
    for (const row of all)
      if (row !== undefined || unmatched === 'keep') out.push({ ...item, [as]: row ?? null } as Joined);
    if (all.length === 0 && unmatched === 'keep') out.push({ ...item, [as]: null } as Joined);
  };
  return defineOperator<T, Joined>({
    name: 'join',
    settings: { on: nameOf(on), rows, as, unmatched },
    fields: namesOf(on),
    gives: 'new',
    begin: (_, { signal }) => ({
      async page(items) {
        const lookup = await untilAborted(signal, open());
        const out: Joined[] = [];
        const known = new Map<unknown, R | readonly R[] | undefined>();
        for (const item of items) {
          const id = read(item);
          if (id !== null && id !== undefined && !known.has(id)) {
            const found = lookup(id, signal);
            known.set(id, isPromise(found) ? await untilAborted(signal, found) : found);
          }
          put(item, known.get(id), out);
        }
        return out;
      },
    }),
  });
}

/** Says how the table is opened: once, for all runs of the operator. */
function opener<T, R>(
  table: JoinTable<R>,
  on: Reading<T>,
  keyOfRow: Reading<R> | undefined,
  isMany: boolean,
): () => Promise<Lookup<R>> {
  if (typeof table === 'function') return async () => table;
  if (table instanceof Map) return async () => (id) => table.get(id);
  if (keyOfRow === undefined && typeof on !== 'string')
    throw new ConfigurationError(
      'invalid_option',
      'join: on is a function, so key is needed too: the field or function that gives the key of a row',
    );
  const read = keyOfRow === undefined ? (row: R) => propertyOf(row, String(on)) : reader(keyOfRow);
  let lookup: Promise<Lookup<R>> | null = null;
  const readAll = async (): Promise<Lookup<R>> => {
    const rows = new Map<unknown, R[]>();
    let isFirst = true;
    for await (const row of table as Iterable<R> | AsyncIterable<R>) {
      if (isFirst) checkFields('join (key)', namesOf(keyOfRow ?? on), row);
      isFirst = false;
      const id = read(row);
      if (id === null || id === undefined) continue;
      const same = rows.get(id);
      if (same === undefined) rows.set(id, [row]);
      else if (isMany) same.push(row);
      else throw repeatedKey();
    }
    return (id) => rows.get(id);
  };
  return () => {
    lookup ??= readAll();
    return lookup;
  };
}

const repeatedKey = (): ItemError =>
  new ItemError(
    'unfit_value',
    "join: two rows of the table have the same key; pass a table in which each key appears once, or set rows to 'many'",
  );
