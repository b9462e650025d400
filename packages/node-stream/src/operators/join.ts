import type { Call } from '@call-attribution/core';
import { ConfigurationError, propertyOf } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { ItemError } from '../errors.ts';
import { reading } from '../option-kinds.ts';
import type { Operator } from './forms.ts';
import { type Reading, reader } from './measures.ts';
import { defineOperator } from './operator.ts';
import { isPromise, Part, Stopped, untilAborted } from './step.ts';

/** The other side of a join: rows, rows by key, or a function that looks a key up. */
export type JoinTable<R> = ReadonlyMap<unknown, R> | Iterable<R> | AsyncIterable<R> | Lookup<R>;

/** Looks up the row of a key, or all its rows. */
export type Lookup<R> = (
  key: unknown,
) => R | readonly R[] | undefined | Promise<R | readonly R[] | undefined>;

const joinOptions = <T, R, O>() =>
  defineOptions({
    /** The key of an item: a field or a function. A null key matches nothing. */
    on: reading<Reading<NoInfer<T>>>().required(),
    /** The key of a row, for tables given as rows. Default: the same field as `on`. Rows with a null key match nothing. */
    key: reading<Reading<NoInfer<R>>>(),
    /** `one` (default): a second row with the same key is an error. `many`: an item comes out once for each of its rows. */
    rows: option.oneOf('one', 'many').default('one'),
    /** The column for the row, null for none. Default: the columns of the row are added; where both have one, the item's stays. */
    as: option.string(),
    /** Combines an item and its row in your own way; the row is undefined when nothing matches. */
    merge: option.callback<(item: NoInfer<T>, row: NoInfer<R> | undefined) => O>(),
    /** Items without a match: `keep` (default), `drop`, or `only`: those alone come out, as they are. */
    unmatched: option.oneOf('keep', 'drop', 'only').default('keep'),
  });

/** Settings of `join`. */
export interface JoinOptions<T, R, O> extends OptionsOf<typeof joinOptions<T, R, O>> {}

/**
 * Adds the row of an item under a name.
 *
 * @example
 * const shops = readCsv('shops.csv'); // any iterable of rows
 * createCallStream(client).through(join(shops, { on: 'dnis', key: 'phone', as: 'shop' }));
 */
export function join<R, T = Call, As extends string = string>(
  table: JoinTable<R>,
  options: Omit<JoinOptions<T, R, never>, 'as' | 'merge'> & { as: As },
): Operator<T, T & { [column in As]: R | null }>;
/**
 * Adds the columns of a matching row to each item: campaign costs, branch names, CRM data. Rows are read into memory
 * once, before the first item passes; a function is called for each item instead.
 *
 * @example
 * const costs = [{ ppc_campaign_id: '77', cost: 12.5 }];
 * createCallStream(client).through(join(costs, { on: 'ppc_campaign_id' }));
 */
export function join<R, T = Call, O = T & Partial<R>>(
  table: JoinTable<R>,
  options: JoinOptions<T, R, O>,
): Operator<T, O>;
export function join<R, T, O>(table: JoinTable<R>, options: JoinOptions<T, R, O>): Operator<T, O> {
  const settings = joinOptions<T, R, O>().read(options);
  const { on, key, rows, as, unmatched } = settings;
  const merge = settings.merge ?? combiner<T, R, O>(as);
  const read = reader(on);
  const open = opener(table, on, key, rows === 'many');
  const put = (item: T, found: readonly R[], out: O[]) => {
    if (found.length > 0) {
      if (unmatched !== 'only') for (const row of found) out.push(merge(item, row));
    } else if (unmatched === 'only') out.push(item as unknown as O);
    else if (unmatched === 'keep') out.push(merge(item, undefined));
  };
  return defineOperator<T, O>({
    name: 'join',
    settings: { on: typeof on === 'string' ? on : null, rows, as: as ?? null, unmatched },
    begin: (_, { signal }) => ({
      async take(batch) {
        const out: O[] = [];
        let taken = 0;
        try {
          const lookup = await open(signal);
          for (const item of batch) {
            const id = read(item);
            const found = id === null || id === undefined ? none : lookup(id);
            const isLate = isPromise(found);
            put(item, rowsOf(isLate ? await untilAborted(signal, found) : found), out);
            taken += 1;
            // What was waited for is delivered, before more is.
            if (isLate && taken < batch.length) return new Part(out, taken);
          }
        } catch (error) {
          throw new Stopped(error, out, taken);
        }
        return out;
      },
    }),
  });
}

const none: readonly never[] = [];

function rowsOf<R>(found: R | readonly R[] | undefined): readonly R[] {
  if (found === undefined) return none;
  return Array.isArray(found) ? found : [found as R];
}

/** How an item and its row become one. */
function combiner<T, R, O>(as: string | undefined): (item: T, row: R | undefined) => O {
  if (as === undefined) return (item, row) => ({ ...row, ...item }) as unknown as O;
  return (item, row) => ({ ...item, [as]: row ?? null }) as unknown as O;
}

/** Says how the table is opened. Throws when the key of its rows is not known. */
function opener<T, R>(
  table: JoinTable<R>,
  on: Reading<T>,
  keyOfRow: Reading<R> | undefined,
  isMany: boolean,
): (signal: AbortSignal) => Lookup<R> | Promise<Lookup<R>> {
  if (typeof table === 'function') return () => table;
  if (isMap(table)) return () => (id) => table.get(id);
  if (keyOfRow === undefined && typeof on !== 'string')
    throw new ConfigurationError(
      'invalid_option',
      'join: on is a function, so key is needed too: the field or function that gives the key of a row',
    );
  const read = keyOfRow === undefined ? (row: R) => propertyOf(row, String(on)) : reader(keyOfRow);
  // Every run of this operator uses the same rows, and the table is left when no run waits for it any more.
  let reading: SharedRows<R> | null = null;
  let isSpent = false;
  return async (signal) => {
    if (isSpent) throw spentTable();
    reading ??= shareRows(table, read, isMany);
    const mine = reading;
    mine.waiting += 1;
    try {
      return await untilAborted(signal, mine.rows);
    } catch (error) {
      // What comes once, as from a generator, cannot be read from its beginning again.
      if (mine.waiting === 1 || !signal.aborted) {
        if (reading === mine) reading = null;
        isSpent = 'next' in table;
      }
      throw error;
    } finally {
      mine.waiting -= 1;
      if (mine.waiting === 0) mine.leave();
    }
  };
}

const isMap = <R>(table: JoinTable<R>): table is ReadonlyMap<unknown, R> => table instanceof Map;

/** Rows that several runs may wait for. */
interface SharedRows<R> {
  readonly rows: Promise<Lookup<R>>;
  waiting: number;
  /** Ends the table, unless it was read. */
  leave(): void;
}

function shareRows<R>(
  table: Iterable<R> | AsyncIterable<R>,
  read: (row: R) => unknown,
  isMany: boolean,
): SharedRows<R> {
  const iterator = Symbol.asyncIterator in table ? table[Symbol.asyncIterator]() : table[Symbol.iterator]();
  let isOver = false;
  const leave = () => {
    if (isOver) return;
    isOver = true;
    // A table that is silent ends by itself.
    Promise.resolve(iterator.return?.()).catch(() => {});
  };
  const all = async (): Promise<Lookup<R>> => {
    const rows = new Map<unknown, R[]>();
    try {
      for (let next = await iterator.next(); next.done !== true && !isOver; next = await iterator.next()) {
        const id = read(next.value);
        if (id === null || id === undefined) continue;
        const same = rows.get(id);
        if (same === undefined) rows.set(id, [next.value]);
        else if (isMany) same.push(next.value);
        else throw repeatedKey();
      }
      isOver = true;
    } catch (error) {
      leave();
      throw error;
    }
    return (id) => rows.get(id);
  };
  return { rows: all(), waiting: 0, leave };
}

const spentTable = (): ConfigurationError =>
  new ConfigurationError(
    'invalid_option',
    'join: an earlier run was left while it read the table, which can be read only once; pass an array of rows, or make another join with another table',
  );

const repeatedKey = (): ItemError =>
  new ItemError(
    'repeated_key',
    "join: two rows of the table have the same key; pass a table in which each key appears once, or set rows to 'many'",
  );
