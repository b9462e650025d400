// The SQL of questions as data. `print.ts` writes it, `functions.ts` has what DuckDB is asked to work out.

/** A value of a `$1` placeholder. Other types are written as strings and cast in the SQL. */
export type SqlValue = string | number | boolean | null;

/** An expression. */
export type Sql =
  | { readonly kind: 'column'; readonly name: string; readonly table: string | null }
  /** Something that is written into the statement. Never what a caller wrote: that is a `value`. */
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  /** A value that goes beside the statement. */
  | { readonly kind: 'value'; readonly value: SqlValue }
  /** An operator between its parts, or before its only one. */
  | { readonly kind: 'operator'; readonly operator: string; readonly parts: readonly Sql[] }
  | Call
  /** The first whose condition holds, or whose value is that of `of`. */
  | {
      readonly kind: 'case';
      readonly of: Sql | null;
      readonly whens: readonly (readonly [when: Sql, then: Sql])[];
      readonly otherwise: Sql | null;
    }
  | { readonly kind: 'cast'; readonly of: Sql; readonly type: string }
  | { readonly kind: 'list'; readonly parts: readonly Sql[] }
  | { readonly kind: 'lambda'; readonly name: string; readonly body: Sql }
  | { readonly kind: 'query'; readonly query: Query };

/** A call of a function. */
export interface Call {
  readonly kind: 'call';
  readonly name: string;
  readonly args: readonly Sql[];
  readonly distinct?: true;
  /** Of an aggregate: the rows that it is about. */
  readonly filter?: Sql;
  /** Of a window function: the name of the window, or an empty one for all rows. */
  readonly over?: string;
}

/** A column of a query. */
export interface Named {
  readonly sql: Sql;
  readonly as: string | null;
}

/** What rows are sorted by. What has no value comes last. */
export interface Sort {
  readonly by: Sql;
  readonly descending: boolean;
}

/** Where rows come from: a table or a query by its name, or a query of its own. */
export interface Source {
  readonly from: string | Query;
  readonly as?: string;
}

/** A further source. */
export interface Join extends Source {
  readonly how: 'JOIN' | 'LEFT JOIN';
  /** A condition, or the columns that both have. */
  readonly on: Sql | readonly string[];
}

/** A query with a name that others can read from. */
export interface NamedQuery {
  readonly name: string;
  readonly query: Query;
  /** Worked out once, or each time it is read from. Default: as DuckDB likes. */
  readonly materialized?: boolean;
}

/** Which rows a function of a window sees. */
export interface Window {
  readonly partitionBy: readonly Sql[];
  readonly sort: readonly Sort[];
  /** All rows of the partition. Default: those up to the row. */
  readonly isWhole?: boolean;
}

/** A query. */
export interface Query {
  readonly with?: readonly NamedQuery[];
  /** Queries whose rows come one after the other; then there are no columns. */
  readonly all?: readonly Query[];
  readonly columns?: readonly Named[];
  readonly source?: Source;
  readonly joins?: readonly Join[];
  readonly where?: Sql | undefined;
  readonly groupBy?: readonly Sql[];
  /** Several ways to group the same rows; an empty one is all of them. */
  readonly groupingSets?: readonly (readonly Sql[])[];
  readonly having?: Sql;
  readonly windows?: Readonly<Record<string, Window>>;
  readonly sort?: readonly Sort[];
  readonly limit?: number;
}

/** A column, or all of them: `*`. */
export const column = (name: string, table: string | null = null): Sql => ({ kind: 'column', name, table });

/** A constant. */
export const literal = (value: string | number | boolean | null): Sql => ({ kind: 'literal', value });

/** A value that goes beside the statement. */
export const value = (of: SqlValue): Sql => ({ kind: 'value', value: of });

/** `a = b`, `a + b + c`, `NOT a`. */
export const op = (operator: string, ...parts: readonly Sql[]): Sql => ({
  kind: 'operator',
  operator,
  parts,
});

/** All of these hold. */
export const and = (...parts: readonly Sql[]): Sql => joined('AND', parts, true);

/** One of these holds. */
export const or = (...parts: readonly Sql[]): Sql => joined('OR', parts, false);

function joined(operator: string, parts: readonly Sql[], empty: boolean): Sql {
  const [first = literal(empty)] = parts;
  return parts.length <= 1 ? first : op(operator, ...parts);
}

/** This does not hold. */
export const not = (part: Sql): Sql => op('NOT', part);

/** There is no value. */
export const isNull = (part: Sql): Sql => op('IS', part, literal(null));

/** There is a value. */
export const isNotNull = (part: Sql): Sql => op('IS NOT', part, literal(null));

/** One of several values, or of the rows of a query. */
export const isIn = (part: Sql, values: readonly Sql[] | Query): Sql =>
  op('IN', part, Array.isArray(values) ? { kind: 'list', parts: values } : subquery(values as Query));

/** The value of a query. */
export const subquery = (query: Query): Sql => ({ kind: 'query', query });

/** A value as another type. */
export const cast = (of: Sql, type: string): Sql => ({ kind: 'cast', of, type });

/** The value of the first condition that holds. */
export const when = (
  whens: readonly (readonly [when: Sql, then: Sql])[],
  otherwise: Sql | null = null,
): Sql => ({ kind: 'case', of: null, whens, otherwise });

/** The text of a number: the first one is that of 1. */
export const textOf = (of: Sql, texts: readonly string[]): Sql => ({
  kind: 'case',
  of,
  whens: texts.map((text, i) => [literal(i + 1), literal(text)]),
  otherwise: null,
});

/** A column of a query. */
export const as = (sql: Sql, name: string): Named => ({ sql, as: name });

/** Columns under their own names. */
export const columnsOf = (...names: readonly string[]): Named[] =>
  names.map((name) => ({ sql: column(name), as: null }));
