import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { checkList } from '@call-attribution/core/options';
import { defineOperator } from './chain.ts';
import { type Key, keyOf, nameOf, namesOf, type Reading, reader } from './fields.ts';
import type { Accumulator, Measure } from './measures.ts';
import type { Operator } from './operator.ts';

/** How items are grouped and what is measured of each group. */
export interface Grouping<T, K extends string, M extends Record<string, Measure<unknown, T>>> {
  /** The columns of the key: field names, or names with functions. Default none: one group. */
  by?: readonly (K & keyof NoInfer<T>)[] | Readonly<Record<K, Reading<NoInfer<T>>>>;
  /** The measured columns. */
  measures: M;
}

/** One row of the result: the key columns and the measured columns. */
export type GroupRow<K extends string, M extends Record<string, Measure<unknown, never>>> = {
  [column in K]: string | number | boolean | null;
} & { [column in keyof M]: ReturnType<ReturnType<M[column]>['result']> };

/**
 * Groups a whole stream and gives one row per group when it ends, in the order the groups were
 * first seen. Memory grows with the number of groups, not of items.
 *
 * @example
 * aggregate({ by: ['ppc_campaign'], measures: { calls: count(), minutes: sum('talk_minutes') } });
 */
export function aggregate<
  M extends Record<string, Measure<unknown, T>>,
  K extends string = never,
  T = Call,
>(grouping: Grouping<T, K, M>): Operator<T, GroupRow<K, M>> {
  const kind = new GroupKind<T, GroupRow<K, M>>(grouping as AnyGrouping<T>);
  return defineOperator<T, GroupRow<K, M>>({
    name: 'aggregate',
    gives: 'other',
    settings: kind.settings,
    fields: kind.fields,
    begin(state) {
      const groups = kind.open(state ?? []);
      return {
        page(items) {
          for (const item of items) groups.add(item);
          return [];
        },
        end: () => groups.rows(),
        save: () => groups.save(),
      };
    },
  });
}

/** A grouping whose columns are not known to the types. */
export interface AnyGrouping<T> {
  readonly by?: readonly string[] | Readonly<Record<string, Reading<T>>>;
  readonly measures: Readonly<Record<string, Measure<unknown, T>>>;
}

/** Groups of one kind: what is read of items, and measured. */
export class GroupKind<T, Row> {
  readonly keys: readonly { readonly name: string; readonly read: (item: T) => unknown }[];
  readonly measures: readonly (readonly [string, Measure<unknown, T>])[];
  /** What decides about the rows, for the operator. */
  readonly settings: unknown;
  /** The fields that are read, for the operator. */
  readonly fields: readonly string[];

  /** `taken`: columns that a row has already. */
  constructor({ by = [], measures }: AnyGrouping<T>, taken: readonly string[] = []) {
    checkList('by', by);
    const named = Array.isArray(by) ? by.map((name) => [name, name] as const) : Object.entries(by);
    this.keys = named.map(([name, of]) => ({ name, read: reader(of as Reading<T>) }));
    this.measures = Object.entries(measures);
    const columns = [...taken, ...named.map(([name]) => name), ...Object.keys(measures)];
    const twice = columns.find((name, at) => columns.indexOf(name) !== at);
    if (twice !== undefined)
      throw new ConfigurationError(
        'invalid_option',
        `column ${twice} appears twice in a row; rename the key or the measure`,
      );

    this.settings = {
      by: named.map(([name, of]) => [name, nameOf(of)]),
      measures: this.measures.map(([name, { of = null }]) => [name, of]),
    };
    this.fields = namesOf(
      ...named.map(([, of]) => of),
      ...this.measures.map(([, { field }]) => field),
    );
  }

  keyOf(item: T): Key[] {
    return this.keys.map(({ name, read }) => keyOf(read(item), name, item));
  }

  open(saved: unknown = []): Groups<T, Row> {
    return new Groups<T, Row>(this, saved);
  }
}

export class Groups<T, Row> {
  readonly #kind: GroupKind<T, Row>;
  readonly #groups = new Map<
    Key,
    readonly [key: readonly Key[], parts: readonly Accumulator<unknown, T>[]]
  >();

  constructor(kind: GroupKind<T, Row>, saved: unknown) {
    this.#kind = kind;
    this.merge(saved);
  }

  add(item: T): void {
    for (const part of this.#partsAt(this.#kind.keyOf(item))) part.add(item);
  }

  rows(): Row[] {
    const { keys, measures } = this.#kind;
    return Array.from(this.#groups.values(), ([key, parts]) => {
      const row: Record<string, unknown> = {};
      for (const [at, { name }] of keys.entries()) row[name] = key[at];
      for (const [at, [name]] of measures.entries()) row[name] = parts[at]?.result();
      return row as Row;
    });
  }

  save(): unknown {
    return Array.from(this.#groups.values(), ([key, parts]) => [
      key,
      parts.map((part) => part.save()),
    ]);
  }

  merge(saved: unknown): void {
    for (const [key, states] of saved as readonly (readonly [Key[], readonly unknown[]])[])
      for (const [at, part] of this.#partsAt(key).entries()) part.merge(states[at]);
  }

  #partsAt(key: readonly Key[]): readonly Accumulator<unknown, T>[] {
    // A Map keeps types apart, and so does JSON.
    const id = key.length === 1 ? (key[0] ?? null) : JSON.stringify(key);
    const found = this.#groups.get(id);
    if (found !== undefined) return found[1];
    const parts = this.#kind.measures.map(([, make]) => make());
    this.#groups.set(id, [key, parts]);
    return parts;
  }
}
