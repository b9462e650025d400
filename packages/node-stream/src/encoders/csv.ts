import { ConfigurationError } from '@call-attribution/core/errors';
import { checkList, checkNames } from '@call-attribution/core/options';
import type { Call } from '@call-attribution/core/record';
import { defineOperator } from '../operators/chain.ts';
import { callFields, checkFields, namesOf } from '../operators/fields.ts';
import type { Operator } from '../operators/operator.ts';
import { halfPair, jsonOf, rowTexts } from './row-text.ts';
import { chunksOf } from './text.ts';

// What a spreadsheet takes for a formula; some read the full-width characters as the plain ones.
const formula = /^[=+\-@\t\r\uFF0B\uFF0D\uFF1D\uFF20]/;
const plainNumber = /^[+-]?\d+(?:\.\d+)?$/;

/** The text of a cell before it is quoted; null for an empty one. */
function textOf(value: unknown, safe: boolean, item: unknown, column: string): string | null {
  if (value === null || value === undefined) return null;
  // No field is documented as an object, but one that comes is not lost.
  if (typeof value === 'object') return jsonOf(value, item, column);
  if (typeof value !== 'string') return String(value);
  if (!safe) return value;
  const text = value.toWellFormed();
  return formula.test(text) && !plainNumber.test(text) ? `'${text}` : text;
}

/**
 * A line without its end: nothing for null, `""` for an empty string, quotes where they are needed.
 */
function lineOf(texts: readonly (string | null)[]): string {
  const cells = texts.map((text) => {
    if (text === null) return '';
    if (text === '') return '""';
    return needsQuotes(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return cells.join(',');
}

/** Four searches for one character each are faster than one expression for all. */
const needsQuotes = (text: string): boolean =>
  text.includes(',') || text.includes('"') || text.includes('\n') || text.includes('\r');

/**
 * One line of CSV with its line end. Null is an empty cell, an empty string is `""`, an object is
 * its JSON. Half of a surrogate pair stays in the string, but is lost where that becomes bytes:
 * `toCsv` refuses it, and `safe` makes U+FFFD of it.
 *
 * @example
 * csvLine(['sid', 'a "quoted" word', null, '']); // 'sid,"a ""quoted"" word",,""\r\n'
 */
export function csvLine(
  cells: readonly unknown[],
  { safe = false }: Pick<CsvOptions, 'safe'> = {},
): string {
  return `${lineOf(cells.map((value, at) => textOf(value, safe, null, String(at + 1))))}\r\n`;
}

/** A column of your own. */
export interface Column<T = Call> {
  /** Its name in the file. */
  name: string;
  /** The value of a record. */
  value: (item: T) => string | number | bigint | boolean | null | undefined;
}

function cellsOf<T>(columns: readonly (string | Column<T>)[], safe: boolean) {
  const titles = titlesOf(columns);
  const readers = columns.map((column) =>
    typeof column === 'string' ? (item: T) => item[column as keyof T] : column.value,
  );
  return (item: T) => readers.map((read, at) => textOf(read(item), safe, item, titles[at] ?? ''));
}

/** Settings of `toCsv`. */
export interface CsvOptions<T = Call> {
  /**
   * Columns of the rows by name, and columns of your own, in order. Default: all fields of calls,
   * or the columns of the first row where rows are no calls.
   */
  columns?: readonly ((keyof NoInfer<T> & string) | Column<T>)[] | undefined;
  /**
   * Put an apostrophe before strings that a spreadsheet would run as a formula: those that begin
   * with `=`, `+`, `-`, `@`, a tab or a carriage return and are not plain numbers. Half of a
   * surrogate pair, which is refused otherwise, becomes U+FFFD. It changes the data, so it is off by
   * default; use it for files that people open.
   */
  safe?: boolean | undefined;
  /** Begin with a byte order mark, so that Excel reads UTF-8. Default false. */
  bom?: boolean | undefined;
}

/**
 * Writes CSV as in RFC 4180, in UTF-8. Null is an empty cell and an empty string is `""`, so that
 * they can be told apart.
 *
 * @example
 * toCsv({
 *   columns: ['sid', 'date_added', { name: 'seconds', value: (call) => Number(call.talk_minutes) * 60 }],
 *   safe: true,
 * });
 */
export function toCsv<T = unknown>(
  options?: Omit<CsvOptions<T>, 'columns'> & { columns?: undefined },
): Operator<T, Uint8Array>;
/** The same with columns of your choice. */
export function toCsv<T = Call>(options: CsvOptions<T>): Operator<T, Uint8Array>;
export function toCsv<T>(options: CsvOptions<T> = {}): Operator<T, Uint8Array> {
  checkNames(options, ['columns', 'safe', 'bom']);
  const { columns: named, safe = false, bom = false } = options;
  checkList('columns', named);
  const columns: readonly (string | Column<T>)[] = named ?? callFields;
  const titles = titlesOf(columns);
  const cells = cellsOf(columns, safe);
  const texts = rowTexts();
  return defineOperator<T, Uint8Array>({
    name: 'toCsv',
    gives: 'other',
    settings: { titles: named === undefined ? null : titles, safe, bom },
    rows: {
      format: 'csv',
      fields: titles,
      text(item) {
        if (named === undefined && !isCall(item))
          throw new ConfigurationError(
            'invalid_option',
            'a receipt says which columns a file has: name them in the option columns of toCsv()',
          );
        const values = cells(item);
        refuseHalf(values, titles, item);
        return texts(titles, values, item);
      },
    },
    begin(state) {
      /** The names of the columns, once the header is written. */
      let header = state as readonly string[] | null;
      let read = header !== null && named === undefined ? cellsOf<T>(header, safe) : cells;

      const begin = (names: readonly string[]): string => {
        header = names;
        if (named === undefined) read = cellsOf<T>(names, safe);
        const odd = names.find((title) => !title.isWellFormed());
        if (odd !== undefined)
          throw new ConfigurationError(
            'invalid_option',
            `the name of column ${odd.toWellFormed()} has half of a surrogate pair, which CSV has no form for; give it another with { name, value } in the option columns`,
          );

        return `${bom ? '\uFEFF' : ''}${csvLine(names, { safe })}`;
      };

      const row = (item: T): string => {
        let head = '';
        if (header === null) {
          // A call may lack some of its fields.
          const others = namesOf(...columns).filter((name) => !callFields.includes(name));
          checkFields('toCsv', others, item);
          head = begin(named === undefined && !isCall(item) ? Object.keys(Object(item)) : titles);
        }

        const texts = read(item);
        const line = lineOf(texts);

        // Without the line end, which would have to be copied together with the rest before it can
        // be looked at.
        if (!line.isWellFormed()) refuseHalf(texts, header ?? [], item);
        return `${head}${line}\r\n`;
      };

      return {
        page: (items) => chunksOf(items, row),
        end: () => (header === null ? [Buffer.from(begin(titles))] : []),
        save: () => header,
      };
    },
  });
}

/** Half of a surrogate pair has no form in UTF-8. */
function refuseHalf(
  texts: readonly (string | null)[],
  titles: readonly string[],
  item: unknown,
): void {
  const at = texts.findIndex((text) => text?.isWellFormed() === false);
  if (at >= 0) throw halfPair(titles[at] ?? '', item, 'CSV');
}

const titlesOf = <T>(columns: readonly (string | Column<T>)[]): string[] =>
  columns.map((column) => (typeof column === 'string' ? column : column.name));

const isCall = (item: unknown): boolean =>
  typeof item === 'object' && item !== null && 'sid' in item;
