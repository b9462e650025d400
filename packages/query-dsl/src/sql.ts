import { FilterArgumentError } from './errors.ts';
import type { Bound, FilterLike } from './filter.ts';
import { intersect, isDate } from './ranges.ts';

/** A value for a placeholder. */
export type SqlValue = string | number | bigint;

/** A column and how to bind values for it. */
export interface SqlColumn {
  /** The name of the column, or an SQL expression. It is written into the SQL as it is: never take it from user input. */
  readonly column: string;
  /** Turns a bound into what the column holds. Default: a number for a decimal field, the string for a date field. */
  bind?(text: string): SqlValue;
}

/** Which columns a condition may use, and how it is written. */
export interface SqlOptions {
  /** Fields that may be filtered, each with its column. A filter on any other field throws. */
  readonly columns: Readonly<Record<string, string | SqlColumn>>;
  /** `?` for SQLite and MySQL, `$` for PostgreSQL's `$1`. */
  readonly placeholder: '?' | '$';
  /** Number of the first `$` placeholder. Default 1. */
  readonly firstParameter?: number | undefined;
  /** Do what v3 does: without `inc_gce:1`, rows whose column holds one of the values are left out. */
  readonly callExtensions?: { readonly column: string; readonly values: readonly SqlValue[] } | undefined;
}

/** A condition for WHERE and the values of its placeholders. */
export interface SqlCondition {
  /** The condition, with placeholders. */
  readonly text: string;
  /** What to bind, in the order of the placeholders. */
  readonly values: readonly SqlValue[];
}

/**
 * The filter as a parameterized SQL condition. Bounds are never written into the SQL, only bound to placeholders.
 *
 * @example
 * const { text, values } = toSql(filter, { columns: { talk_minutes: 'talk' }, placeholder: '?' });
 * db.prepare(`SELECT * FROM calls WHERE ${text}`).all(...values);
 */
export function toSql(filter: FilterLike, options: SqlOptions): SqlCondition {
  const { columns, placeholder, firstParameter = 1, callExtensions } = options;
  const { ranges, flagged } = intersect(filter);
  const values: SqlValue[] = [];
  const parts: string[] = [];
  const bind = (value: SqlValue): string => {
    values.push(value);
    return placeholder === '?' ? '?' : `$${firstParameter + values.length - 1}`;
  };
  for (const { field, lower, upper } of ranges) {
    const known = Object.hasOwn(columns, field) ? columns[field] : undefined;
    if (known === undefined) {
      throw new FilterArgumentError(
        `No column is allowed for the field ${field}. Allowed: ${Object.keys(columns).join(', ')}.`,
      );
    }
    const spec: SqlColumn = typeof known === 'string' ? { column: known } : known;
    const toValue = (bound: Bound): SqlValue =>
      spec.bind?.(bound.text) ?? (isDate(bound) ? bound.text : Number(bound.text));
    if (lower !== null) parts.push(`${spec.column} ${lower.inclusive ? '>=' : '>'} ${bind(toValue(lower))}`);
    if (upper !== null) parts.push(`${spec.column} ${upper.inclusive ? '<=' : '<'} ${bind(toValue(upper))}`);
    if (lower === null && upper === null) parts.push(`${spec.column} IS NOT NULL`);
  }
  if (callExtensions !== undefined && !flagged && callExtensions.values.length > 0) {
    const { column } = callExtensions;
    parts.push(`(${column} IS NULL OR ${column} NOT IN (${callExtensions.values.map(bind).join(', ')}))`);
  }
  return { text: parts.length > 0 ? parts.join(' AND ') : '1 = 1', values };
}
