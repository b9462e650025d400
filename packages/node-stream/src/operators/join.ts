import type { Call } from '@call-attribution/core';
import { ConfigurationError, propertyOf } from '@call-attribution/core/errors';
import { ItemError } from '../errors.ts';
import { defineOperator } from './chain.ts';
import { checkFields, nameOf, namesOf, type Reading, reader } from './fields.ts';
import type { Operator } from './operator.ts';
import { untilAborted } from './sources.ts';

/** Settings of `join`. */
export interface JoinOptions<T, R, As extends string> {
  /** The key of an item: a field or a function. A null key matches nothing. */
  on: Reading<NoInfer<T>>;
  /** The column for the row, null for none. */
  as: As;
  /** The key of a row. Default: the field of `on`. Rows with a null key match nothing. */
  key?: Reading<NoInfer<R>>;
}

/**
 * Adds the row of an item under a name: campaign costs, branch names, CRM data. The rows are read
 * into memory once, before the first item passes. To ask a function instead, use `mapCalls`.
 *
 * @example
 * const shops = readCsv('shops.csv'); // any iterable of rows
 * createCallStream(client).through(join(shops, { on: 'dnis', key: 'phone', as: 'shop' }));
 */
export function join<R, As extends string, T = Call>(
  table: Iterable<R> | AsyncIterable<R>,
  { on, as, key = on as Reading<unknown> as Reading<R> }: JoinOptions<T, R, As>,
): Operator<T, T & { [column in As]: R | null }> {
  if (typeof on === 'function' && key === (on as unknown))
    throw new ConfigurationError(
      'invalid_option',
      'join: on is a function, so key is needed too: the field or function that gives the key of a row',
    );

  const read = reader(on);
  const readKey = typeof key === 'string' ? (row: R) => propertyOf(row, key) : key;

  const readRows = async (): Promise<Map<unknown, R>> => {
    const rows = new Map<unknown, R>();
    let isChecked = false;
    for await (const row of table) {
      if (!isChecked) checkFields('join (key)', namesOf(key), row);
      isChecked = true;
      const id = readKey(row);
      if (id === null || id === undefined) continue;
      if (rows.has(id))
        throw new ItemError(
          'unfit_value',
          'join: two rows of the table have the same key; each may appear once',
        );
      rows.set(id, row);
    }

    return rows;
  };

  // Once for all runs of the operator.
  let rows: Promise<Map<unknown, R>> | null = null;
  return defineOperator<T, T & { [column in As]: R | null }>({
    name: 'join',
    settings: { on: nameOf(on), as },
    fields: namesOf(on),
    gives: 'new',
    begin: (_, signal) => ({
      async page(items) {
        rows ??= readRows();
        const found = await untilAborted(signal, rows);
        return items.map(
          (item) =>
            ({ ...item, [as]: found.get(read(item)) ?? null }) as T & { [column in As]: R | null },
        );
      },
    }),
  });
}
