import type { Call, Named, Query, Sort, Source, Sql, SqlValue } from './tree.ts';

/** A printed statement, or a part of one, with the values of its placeholders. */
export interface Printed {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Prints a query. Each clause has its own line. */
export const printQuery = (query: Query): Printed => printed((printer) => printer.query(query, 0));

/** Prints an expression, for statements that are written as text. Its placeholders count from `$1`. */
export const printSql = (sql: Sql): Printed => printed((printer) => printer.sql(sql, 0));

function printed(print: (printer: Printer) => string): Printed {
  const printer = new Printer();
  return { sql: print(printer), values: printer.values };
}

const margin = (depth: number): string => `\n${'  '.repeat(depth)}`;
/** Conditions and columns that fit are on one line. */
const width = 80;
const words: ReadonlySet<string> = new Set(['AND', 'OR']);

class Printer {
  readonly values: SqlValue[] = [];

  query(query: Query, depth: number): string {
    const line = margin(depth);
    const { columns = [], source, joins = [], where, groupBy = [], having, windows = {}, limit } = query;
    const clauses: string[] = [];
    if (query.with !== undefined) clauses.push(`WITH ${this.#named(query.with, depth)}`);
    if (query.all !== undefined)
      clauses.push(query.all.map((each) => this.query(each, depth)).join(`${line}UNION ALL${line}`));
    if (columns.length > 0) clauses.push(`SELECT ${this.#columns(columns, depth)}`);
    if (source !== undefined) clauses.push(`FROM ${this.#source(source, depth)}`);
    for (const join of joins) {
      const on = 'kind' in join.on ? `ON ${this.sql(join.on, depth + 1)}` : `USING (${join.on.join(', ')})`;
      clauses.push(`${join.how} ${this.#source(join, depth)} ${on}`);
    }
    if (where !== undefined) clauses.push(`WHERE ${this.sql(where, depth)}`);
    if (groupBy.length > 0) clauses.push(`GROUP BY ${this.#list(groupBy, depth)}`);
    if (query.groupingSets !== undefined) {
      const sets = query.groupingSets.map((set) => `(${this.#list(set, depth)})`);
      clauses.push(`GROUP BY GROUPING SETS (${sets.join(', ')})`);
    }
    if (having !== undefined) clauses.push(`HAVING ${this.sql(having, depth)}`);
    const named = Object.entries(windows).map(([name, { partitionBy, sort, isWhole }]) => {
      const rows = isWhole ? ' ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING' : '';
      return `${name} AS (PARTITION BY ${this.#list(partitionBy, depth)} ${this.#sort(sort, depth)}${rows})`;
    });
    if (named.length > 0) clauses.push(`WINDOW ${named.join(`,${margin(depth + 1)}`)}`);
    if (query.sort !== undefined && query.sort.length > 0) clauses.push(this.#sort(query.sort, depth));
    if (limit !== undefined) clauses.push(`LIMIT ${limit}`);
    return clauses.join(line);
  }

  sql(sql: Sql, depth: number): string {
    switch (sql.kind) {
      case 'column':
        return sql.table === null ? sql.name : `${sql.table}.${sql.name}`;
      case 'literal':
        return typeof sql.value === 'string'
          ? `'${sql.value.replaceAll("'", "''")}'`
          : String(sql.value).replace('null', 'NULL');
      case 'value':
        return `$${this.values.push(sql.value)}`;
      case 'operator':
        return this.#operator(sql.operator, sql.parts, depth);
      case 'call':
        return this.#call(sql, depth);
      case 'case': {
        const whens = sql.whens.map(
          ([when, then]) => `WHEN ${this.sql(when, depth)} THEN ${this.sql(then, depth)}`,
        );
        const of = sql.of === null ? '' : ` ${this.sql(sql.of, depth)}`;
        const otherwise = sql.otherwise === null ? '' : ` ELSE ${this.sql(sql.otherwise, depth)}`;
        return `CASE${of} ${whens.join(' ')}${otherwise} END`;
      }
      case 'cast':
        return `CAST(${this.sql(sql.of, depth)} AS ${sql.type})`;
      case 'list':
        return `(${this.#list(sql.parts, depth)})`;
      case 'lambda':
        return `lambda ${sql.name}: ${this.sql(sql.body, depth)}`;
      case 'query':
        return this.#within(sql.query, depth);
    }
  }

  /** A long condition has a line for each part; an operator in an operator is in parentheses. */
  #operator(operator: string, parts: readonly Sql[], depth: number): string {
    const isWord = words.has(operator);
    const inner = parts.map((part) => {
      const isPlain = part.kind !== 'operator' || (isWord && !words.has(part.operator));
      return isPlain ? this.sql(part, depth + 1) : `(${this.sql(part, depth + 1)})`;
    });
    if (inner.length === 1) return `${operator} ${inner.join('')}`;
    const oneLine = inner.join(` ${operator} `);
    if (!isWord || (oneLine.length < width && !oneLine.includes('\n'))) return oneLine;
    return inner.join(`${margin(depth + 1)}${operator} `);
  }

  #call({ name, args, distinct, filter, over }: Call, depth: number): string {
    const call = `${name}(${distinct ? 'DISTINCT ' : ''}${this.#list(args, depth)})`;
    const of = filter === undefined ? '' : ` FILTER (WHERE ${this.sql(filter, depth)})`;
    return `${call}${of}${over === undefined ? '' : ` OVER ${over || '()'}`}`;
  }

  #list(parts: readonly Sql[], depth: number): string {
    return parts.map((part) => this.sql(part, depth)).join(', ');
  }

  #columns(columns: readonly Named[], depth: number): string {
    const printed = columns.map(({ sql, as }) => this.sql(sql, depth + 1) + (as === null ? '' : ` AS ${as}`));
    const oneLine = printed.join(', ');
    return oneLine.length < width ? oneLine : printed.join(`,${margin(depth + 1)}`);
  }

  #source({ from, as }: Source, depth: number): string {
    const source = typeof from === 'string' ? from : this.#within(from, depth);
    return as === undefined ? source : `${source} AS ${as}`;
  }

  #named(queries: NonNullable<Query['with']>, depth: number): string {
    return queries
      .map(({ name, query, materialized }) => {
        const not = materialized ? '' : 'NOT ';
        const how = materialized === undefined ? '' : `${not}MATERIALIZED `;
        return `${name} AS ${how}${this.#within(query, depth)}`;
      })
      .join(`,${margin(depth)}`);
  }

  #within(query: Query, depth: number): string {
    return `(${margin(depth + 1)}${this.query(query, depth + 1)}${margin(depth)})`;
  }

  #sort(sort: readonly Sort[], depth: number): string {
    const printed = sort.map(
      ({ by, descending }) => `${this.sql(by, depth)} ${descending ? 'DESC' : 'ASC'} NULLS LAST`,
    );
    return `ORDER BY ${printed.join(', ')}`;
  }
}
