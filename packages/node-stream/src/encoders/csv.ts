import { ConfigurationError } from '@call-attribution/core/errors';
import { type Call, fields } from '@call-attribution/core/record';
import { checkList, meantBy } from '../operators/fields.ts';
import type { Operator } from '../operators/operator.ts';
import { halfPair, jsonOf, rowTexts } from './row-text.ts';
import { textEncoder } from './text.ts';

// What a spreadsheet takes for a formula; some read the full-width characters as the plain ones.
const formula = /^[=+\-@\t\r\uFF0B\uFF0D\uFF1D\uFF20]/;
const plainNumber = /^[+-]?\d+(?:\.\d+)?$/;

/** The text of a cell before it is quoted; null for an empty one. */
function textOf(value: unknown, safe: boolean, item: unknown, column: string): string | null {
  if (value === null || value === undefined) return null;
  // No field is documented as an object, but one that comes is not lost.
  if (typeof value === 'object') return jsonOf(value, item, column);
  if (typeof value !== 'string') return String(value);
  return safe && formula.test(value) && !plainNumber.test(value) ? `'${value}` : value;
}

/** The text in a line: nothing for null, `""` for an empty string, quotes where they are needed. */
function quoted(text: string | null): string {
  if (text === null) return '';
  if (text === '') return '""';
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * One line of CSV with its line end. Null is an empty cell, an empty string is `""`, an object is its JSON. Half of a surrogate pair stays
 * in the string, but is lost where that becomes bytes: `toCsv` refuses it.
 *
 * @example
 * csvLine(['sid', 'a "quoted" word', null, '']); // 'sid,"a ""quoted"" word",,""\r\n'
 */
export function csvLine(cells: readonly unknown[], { safe = false }: Pick<CsvOptions, 'safe'> = {}): string {
  return `${cells.map((value, at) => quoted(textOf(value, safe, null, String(at + 1)))).join(',')}\r\n`;
}

/** A column of your own. */
export interface CsvColumn<T> {
  /** Its name in the header line. */
  header: string;
  /** What the cell of a record holds. */
  value: (item: T) => string | number | bigint | boolean | null | undefined;
}

/** Says how a column is read of an item. */
const readerOf = <T>(column: (keyof T & string) | CsvColumn<T>): ((item: T) => unknown) =>
  typeof column === 'string' ? (item) => item[column] : column.value;

/** Makes the function that writes one item as a line. */
function csvRow<T>(
  columns: readonly ((keyof T & string) | CsvColumn<T>)[],
  safe: boolean,
): (item: T) => string {
  const titles = titlesOf(columns);
  const readers = columns.map(readerOf);
  const cells = new Array<string>(columns.length).fill('');
  return (item) => {
    for (const [at, read] of readers.entries())
      cells[at] = quoted(textOf(read(item), safe, item, titles[at] ?? ''));
    // Without the line end, which would have to be copied together with the rest before it can be looked at.
    const line = cells.join(',');
    if (line.isWellFormed()) return `${line}\r\n`;
    throw halfPair(titles.find((_, at) => cells[at]?.isWellFormed() === false) ?? '', item, 'CSV');
  };
}

/** Settings of `toCsv`. */
export interface CsvOptions<T = Call> {
  /**
   * Columns of the rows by name, and columns of your own, in order. Default: all fields of calls, or the
   * columns of the first row where rows are no calls.
   */
  columns?: readonly ((keyof NoInfer<T> & string) | CsvColumn<T>)[] | undefined;
  /**
   * Put an apostrophe before strings that a spreadsheet would run as a formula: those that begin with `=`, `+`, `-`, `@`,
   * a tab or a carriage return and are not plain numbers. It changes the data, so it is off by default; use it for files
   * that people open.
   */
  safe?: boolean | undefined;
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
  const { columns: named, safe = false, bom = false } = options;
  checkList('columns', named);
  if (named?.length === 0)
    throw new ConfigurationError(
      'invalid_option',
      'columns is empty; name at least one column, or leave columns out for all fields',
    );
  const columns = named ?? callColumns<T>();
  const titles = titlesOf(columns);
  const readers = columns.map(readerOf);
  const texts = rowTexts();
  return textEncoder<T>({
    name: 'toCsv',
    settings: { titles: named === undefined ? null : titles, safe, bom },
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
        head: `${bom ? '\uFEFF' : ''}${csvLine(titlesOf(all), { safe })}`,
        item: csvRow<T>(all, safe),
      };
    },
    rows: {
      format: 'csv',
      fields: titles,
      text(item) {
        if (named === undefined && !isCall(item)) throw unnamed();
        const cells = readers.map((read, at) => textOf(read(item), safe, item, titles[at] ?? ''));
        return texts(titles, cells, item);
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
    `there is no column ${column}. ${meantBy(column, names)} For a column of your own use { header, value }.`,
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
