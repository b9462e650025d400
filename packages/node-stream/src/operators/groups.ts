import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import { ItemError } from '../errors.ts';
import { atLeastOne } from '../option-kinds.ts';
import type { Operator } from './forms.ts';
import { type Key, keyOf } from './keys.ts';
import { type Accumulator, type Measure, type Reading, reader } from './measures.ts';
import { defineOperator } from './operator.ts';
import { each } from './step.ts';

/** The options of a grouping. */
export const groupingOptions = <T, K extends string, M extends Record<string, Measure<unknown, T>>>() =>
  defineOptions({
    /** The columns of the key: field names, or names with functions. Default none: one group. */
    by: option.list<K & keyof NoInfer<T>>().or(option.object<Readonly<Record<K, Reading<NoInfer<T>>>>>()),
    /** The measured columns. */
    measures: option.object<M>().required(),
    /** Groups held at most, against a key that is nearly unique. Default 1,000,000. */
    maxGroups: atLeastOne().default(1_000_000),
  });

/** How items are grouped and what is measured of each group. */
export interface Grouping<T, K extends string, M extends Record<string, Measure<unknown, T>>>
  extends OptionsOf<typeof groupingOptions<T, K, M>> {}

/** One row of the result: the key columns and the measured columns. */
export type GroupRow<K extends string, M extends Record<string, Measure<unknown, never>>> = {
  [column in K]: string | number | boolean | null;
} & { [column in keyof M]: ReturnType<ReturnType<M[column]>['result']> };

/** Groups that grow item by item. */
export interface GroupTable<T, Row> {
  /** Measures an item in its group. */
  add(item: T): void;
  /** One row per group, in the order the groups were first seen. */
  rows(): Row[];
  /** What it keeps, as plain JSON; undefined when an item could not be measured, which may then be in one measure and not in another. */
  save(): unknown;
  /** Takes in what a table of the same kind has saved. */
  merge(saved: unknown): void;
}

/**
 * Groups a whole stream and gives one row per group when it ends, in the order the groups were first seen. Memory grows
 * with the number of groups, not of items.
 *
 * @example
 * aggregate({ by: ['ppc_campaign'], measures: { calls: count(), minutes: sum('talk_minutes') } });
 */
export function aggregate<M extends Record<string, Measure<unknown, T>>, K extends string = never, T = Call>(
  grouping: Grouping<T, K, M>,
): Operator<T, GroupRow<K, M>> {
  const read = groupingOptions<T, K, M>().read(grouping);
  const tables = groupTables<T, K, M>(read);
  return defineOperator<T, GroupRow<K, M>>({
    name: 'aggregate',
    settings: tables.settings,
    unsaved: tables.unsaved,
    begin(state) {
      const groups = tables.open(state);
      return {
        take: each((item) => groups.add(item)),
        // The rows come at the end, whatever times they have.
        passed: () => ({ out: [], before: null }),
        end: () => groups.rows(),
        save: () => groups.save(),
      };
    },
  });
}

/** Makes tables of one kind. */
export interface GroupTables<T, Row> {
  /** What decides about the rows. */
  readonly settings: unknown;
  /** Why the tables cannot be saved; null when they can. */
  readonly unsaved: string | null;
  /** The columns of the key, and how they are read. */
  readonly keyOf: (item: T) => Key[];
  /** An empty table, or one with what another has saved. */
  open(saved?: unknown): GroupTable<T, Row>;
}

/** Makes tables. `taken` are columns a row has already. */
export function groupTables<
  T = Call,
  K extends string = never,
  M extends Record<string, Measure<unknown, T>> = never,
>(
  grouping: ReadOf<typeof groupingOptions<T, K, M>>,
  taken: readonly string[] = [],
): GroupTables<T, GroupRow<K, M>> {
  const keys = keyColumns(grouping.by);
  const measures = Object.entries<Measure<unknown, T>>(grouping.measures);
  const names = [...taken, ...keys.map(({ name }) => name), ...measures.map(([name]) => name)];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new ConfigurationError(
      'invalid_option',
      `column ${twice} appears twice in a row; rename the key or the measure`,
    );
  const own = measures.find(([, make]) => typeof make().save !== 'function');
  const key = (item: T): Key[] => keys.map(({ name, read }) => keyOf(read(item), name, item));
  return {
    settings: {
      by: keys.map(({ name, of }) => [name, of]),
      measures: measures.map(([name, { of = null }]) => [name, of]),
    },
    unsaved: own === undefined ? null : `the measure ${own[0]} has no save() and merge()`,
    keyOf: key,
    open(saved) {
      const groups = new Groups<T>(keys, key, measures, grouping.maxGroups);
      if (saved !== null && saved !== undefined) groups.merge(saved);
      return groups as unknown as GroupTable<T, GroupRow<K, M>>;
    },
  };
}

interface KeyColumn<T> {
  readonly name: string;
  /** The field; null for a function. */
  readonly of: string | null;
  readonly read: (item: T) => unknown;
}

interface Group<T> {
  readonly key: readonly Key[];
  readonly parts: readonly Accumulator<unknown, T>[];
}

class Groups<T> implements GroupTable<T, Readonly<Record<string, unknown>>> {
  readonly #groups = new Map<Key, Group<T>>();
  readonly #keys: readonly KeyColumn<T>[];
  /** The only column of the key; null when there are several, or none. */
  readonly #only: KeyColumn<T> | null;
  readonly #keyOf: (item: T) => Key[];
  readonly #measures: readonly (readonly [string, Measure<unknown, T>])[];
  readonly #most: number;
  #isWhole = true;

  constructor(
    keys: readonly KeyColumn<T>[],
    keyOf: (item: T) => Key[],
    measures: readonly (readonly [string, Measure<unknown, T>])[],
    most: number,
  ) {
    this.#keys = keys;
    this.#only = keys.length === 1 ? (keys[0] ?? null) : null;
    this.#keyOf = keyOf;
    this.#measures = measures;
    this.#most = most;
  }

  add(item: T): void {
    const only = this.#only;
    const { parts } =
      only === null
        ? this.#at(null, this.#keyOf(item))
        : this.#at(keyOf(only.read(item), only.name, item), null);
    try {
      for (const part of parts) part.add(item);
    } catch (error) {
      this.#isWhole = false;
      throw error;
    }
  }

  rows(): Readonly<Record<string, unknown>>[] {
    return [...this.#groups.values()].map(({ key, parts }) => {
      const row: Record<string, unknown> = {};
      for (const [at, { name }] of this.#keys.entries()) row[name] = key[at];
      for (const [at, [name]] of this.#measures.entries()) row[name] = parts[at]?.result();
      return row;
    });
  }

  save(): unknown {
    if (!this.#isWhole) return undefined;
    return [...this.#groups.values()].map(({ key, parts }) => [key, parts.map((part) => part.save?.())]);
  }

  merge(saved: unknown): void {
    for (const [key, states] of saved as readonly (readonly [Key[], readonly unknown[]])[]) {
      const { parts } = key.length === 1 ? this.#at(key[0] ?? null, null) : this.#at(null, key);
      for (const [at, part] of parts.entries()) part.merge?.(states[at]);
    }
  }

  /** The group of a key with one column, or of one with several. */
  #at(only: Key, several: readonly Key[] | null): Group<T> {
    // A Map keeps types apart, and so does JSON.
    const id = several === null ? only : JSON.stringify(several);
    let group = this.#groups.get(id);
    if (group === undefined) {
      if (this.#groups.size >= this.#most) throw tooMany(this.#most, this.#keys);
      group = { key: several ?? [only], parts: this.#measures.map(([, make]) => make()) };
      this.#groups.set(id, group);
    }
    return group;
  }
}

function keyColumns<T>(by: unknown): KeyColumn<T>[] {
  if (by === undefined) return [];
  const named = Array.isArray(by)
    ? by.map((name): [string, Reading<T>] => [name, name])
    : Object.entries(by as Record<string, Reading<T>>);
  return named.map(([name, of]) => ({ name, of: typeof of === 'string' ? of : null, read: reader(of) }));
}

function tooMany(maxGroups: number, keys: readonly { readonly name: string }[]): ItemError {
  const names = keys.map(({ name }) => name).join(', ');
  return new ItemError(
    'too_many_groups',
    `more than ${maxGroups} groups by ${names}; group by something coarser or raise maxGroups`,
  );
}
