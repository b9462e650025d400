import { ConfigurationError } from '@call-attribution/core/errors';
import { type Call, fields } from '@call-attribution/core/record';
import type { Operator } from '../operators/operator.ts';
import { cellTexts, halfPair, jsonOf } from './row-text.ts';
import { textEncoder } from './text.ts';

/** How lines of CSV are written: as RFC 4180 has them, with CR LF. */
export interface CsvDialect {
  /** Default a comma. */
  delimiter?: ',' | ';' | '\t' | '|' | undefined;
  /**
   * Put an apostrophe before strings that a spreadsheet would run as a formula: those that begin with `=`, `+`, `-`, `@`,
   * a tab or a carriage return and are not plain numbers. It changes the data, so it is off by default; use it for files
   * that people open.
   */
  safe?: boolean | undefined;
}

// What a spreadsheet takes for a formula; some read the full-width characters as the plain ones.
const formula = /^[=+\-@\t\r\uFF0B\uFF0D\uFF1D\uFF20]/;
const plainNumber = /^[+-]?\d+(?:\.\d+)?$/;

const special = { ',': /[",\r\n]/, ';': /[";\r\n]/, '\t': /["\t\r\n]/, '|': /["|\r\n]/ } as const;

/** Makes the function that gives the text of a cell of an item before it is quoted; null for an empty one. */
function csvText(safe: boolean): (value: unknown, item: unknown, column: string) => string | null {
  return (value, item, column) => {
    if (value === null || value === undefined) return null;
    const text = typeof value === 'object' ? (jsonOf(value, item, column) ?? '') : String(value);
    return safe && typeof value === 'string' && isFormula(text) ? `'${text}` : text;
  };
}

const isFormula = (text: string): boolean => formula.test(text) && !plainNumber.test(text);

/** The same with the defaults. */
type Dialect = { readonly [K in keyof CsvDialect]-?: NonNullable<CsvDialect[K]> };

/** Makes the function that writes one cell: nothing for null, `""` for an empty string, quotes where they are needed. */
function csvCell({ delimiter, safe }: Dialect): (value: unknown, item: unknown, column: string) => string {
  const needsQuotes = special[delimiter];
  const plain = (value: unknown, item: unknown, column: string): string => {
    if (value === null || value === undefined) return '';
    // No field is documented as an object, but one that comes is not lost.
    if (typeof value === 'object') return plain(jsonOf(value, item, column), item, column);
    if (typeof value !== 'string') return String(value);
    if (value === '') return '""';
    return needsQuotes.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  };
  if (!safe) return plain;
  return (value, item, column) =>
    plain(typeof value === 'string' && isFormula(value) ? `'${value}` : value, item, column);
}

/**
 * One line of CSV with its line end. Null is an empty cell, an empty string is `""`, an object is its JSON. Half of a surrogate pair stays
 * in the string, but is lost where that becomes bytes: `toCsv` refuses it.
 *
 * @example
 * csvLine(['sid', 'a "quoted" word', null, '']); // 'sid,"a ""quoted"" word",,""\r\n'
 */
export function csvLine(
  cells: readonly unknown[],
  { delimiter = ',', safe = false }: CsvDialect = {},
): string {
  const cell = csvCell({ delimiter, safe });
  return `${cells.map((value, at) => cell(value, null, String(at + 1))).join(delimiter)}\r\n`;
}

/** A column of your own. */
export interface CsvColumn<T> {
  /** Its name in the header line. */
  header: string;
  /** What the cell of a record holds. */
  value: (item: T) => string | number | bigint | boolean | null | undefined;
}

/** With fewer columns, looking each field up is as fast as walking the record. */
const manyColumns = 24;
/** For records whose keys change all the time, planning does not pay. */
const mostPlans = 16;

/**
 * Makes the function that writes one item as a line. Records come with the same keys in the same order, and walking the keys
 * of an object costs a third of looking seventy names up. So the column of each key is worked out once, from the first
 * record, and again when a record differs.
 */
function csvRow<T>(
  columns: readonly ((keyof T & string) | CsvColumn<T>)[],
  form: Dialect,
): (item: T) => string {
  if (columns.length === 0)
    throw new ConfigurationError(
      'invalid_option',
      'columns is empty; name at least one column, or leave columns out for all fields',
    );
  const { delimiter } = form;
  const cell = csvCell(form);
  const cells = new Array<string>(columns.length).fill('');
  const own = columns.flatMap((column, at) =>
    typeof column === 'string' ? [] : [{ at, name: column.header, value: column.value }],
  );
  const named = columns.flatMap((column, at) => (typeof column === 'string' ? [{ at, name: column }] : []));
  const places = new Map<string, number>(named.map(({ name, at }) => [name, at]));
  let plans = named.length >= manyColumns && places.size === named.length ? mostPlans : 0;
  let keys: string[] = [];
  let at: number[] = [];

  const walk = (item: T): boolean => {
    let index = 0;
    for (const key in item) {
      if (key !== keys[index]) return false;
      const place = at[index] ?? -1;
      if (place >= 0) cells[place] = cell(item[key], item, key);
      index += 1;
    }
    return index === keys.length;
  };
  const lookUp = (item: T): void => {
    for (const column of named) cells[column.at] = cell(item[column.name], item, column.name);
  };
  const plan = (item: T): void => {
    plans -= 1;
    keys = [];
    for (const key in item) keys.push(key);
    at = keys.map((key) => places.get(key) ?? -1);
  };
  return (item) => {
    if (plans === 0 || !walk(item)) {
      lookUp(item);
      if (plans > 0) plan(item);
    }
    for (const column of own) cells[column.at] = cell(column.value(item), item, column.name);
    // Without the line end, which would have to be copied together with the rest before it can be looked at.
    const line = cells.join(delimiter);
    if (line.isWellFormed()) return `${line}\r\n`;
    const odd = [...named, ...own].find(({ at }) => cells[at]?.isWellFormed() === false);
    throw halfPair(odd?.name ?? '', item, 'CSV');
  };
}

/** Settings of `toCsv`. */
export interface CsvOptions<T = Call> extends CsvDialect {
  /**
   * Columns of the rows by name, and columns of your own, in order. Default: all fields of calls, or the
   * columns of the first row where rows are no calls.
   */
  columns?: readonly ((keyof NoInfer<T> & string) | CsvColumn<T>)[] | undefined;
  /** Begin with a byte order mark, so that Excel reads UTF-8. Default false. */
  bom?: boolean | undefined;
}

/**
 * Writes CSV as in RFC 4180, in UTF-8. Null is an empty cell and an empty string is `""`, so that they can be told apart.
 *
 * @example
 * toCsv({
 *   columns: ['sid', 'date_added', { header: 'seconds', value: (call) => Number(call.talk_minutes) * 60 }],
 *   safe: true,
 * });
 */
export function toCsv<T = unknown>(
  options?: Omit<CsvOptions<T>, 'columns'> & { columns?: undefined },
): Operator<T, Uint8Array>;
/** The same with columns of your choice. */
export function toCsv<T = Call>(options: CsvOptions<T>): Operator<T, Uint8Array>;
export function toCsv<T>(options: CsvOptions<T> = {}): Operator<T, Uint8Array> {
  const { columns: named, delimiter = ',', safe = false, bom = false } = options;
  const columns = named ?? callColumns<T>();
  const titles = titlesOf(columns);
  const row = csvRow<T>(columns, { delimiter, safe });
  const cell = csvText(safe);
  const texts = cellTexts(titles);
  const readers = columns.map((column) =>
    typeof column === 'string' ? (item: T): unknown => item[column] : column.value,
  );
  return textEncoder<T>({
    name: 'toCsv',
    settings: { titles: named === undefined ? null : titles, delimiter, safe, bom },
    columnsOf(first) {
      if (named === undefined) return isCall(first) ? null : Object.keys(Object(first));
      for (const column of named) if (typeof column === 'string') known(column, first);
      return null;
    },
    lines(found) {
      const all = (found as readonly (keyof T & string)[] | null) ?? columns;
      const odd = titlesOf(all).find((title) => !title.isWellFormed());
      if (odd !== undefined) throw oddName(odd);
      return {
        head: `${bom ? '\uFEFF' : ''}${csvLine(titlesOf(all), { delimiter, safe })}`,
        item: found === null ? row : csvRow<T>(all, { delimiter, safe }),
      };
    },
    rows: {
      format: 'csv',
      fields: titles,
      delimiter,
      text(item) {
        if (named === undefined && !isCall(item)) throw unnamed();
        return texts(readers.map((read, at) => cell(read(item), item, titles[at] ?? '')));
      },
    },
  });
}

/** Refuses a column that neither the first row nor any call has. */
function known(column: string, first: unknown): void {
  const own = Object.keys(Object(first));
  if (own.includes(column) || fields.some(({ name }) => name === column)) return;
  const names = isCall(first) ? fields.map(({ name }) => name) : own;
  throw new ConfigurationError(
    'invalid_option',
    `there is no column ${column}; for a column of your own use { header, value }. Columns: ${names.join(', ')}`,
  );
}

const callColumns = <T>() => fields.map(({ name }) => name) as (keyof T & string)[];

const titlesOf = <T>(columns: readonly (string | CsvColumn<T>)[]): string[] =>
  columns.map((column) => (typeof column === 'string' ? column : column.header));

const oddName = (title: string): ConfigurationError =>
  new ConfigurationError(
    'invalid_option',
    `the name of column ${title.toWellFormed()} has half of a surrogate pair, which CSV has no form for; give it another with { header, value } in the option columns`,
  );

const isCall = (item: unknown): boolean => typeof item === 'object' && item !== null && 'sid' in item;

const unnamed = (): ConfigurationError =>
  new ConfigurationError(
    'invalid_option',
    'a receipt says which columns a file has: name them in the option columns of toCsv()',
  );
