import { ConfigurationError } from '@call-attribution/core/errors';
import { type Call, fields } from '@call-attribution/core/record';
import type { Operator } from '../operators/operator.ts';
import { type CsvColumn, type CsvDialect, csvLine, csvRow, csvText } from './csv-row.ts';
import { cellTexts } from './row-text.ts';
import { textEncoder } from './text-chunks.ts';

/** Settings of `toCsv`. */
export interface CsvOptions<T = Call> extends CsvDialect {
  /**
   * Columns of the rows by name, and columns of your own, in order. Default: all fields of calls, or the
   * columns of the first row where rows are no calls.
   */
  columns?: readonly ((keyof NoInfer<T> & string) | CsvColumn<T>)[] | undefined;
  /** Begin with a byte order mark, so that Excel reads UTF-8. Default false. */
  bom?: boolean;
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
export function toCsv<T>({
  columns: named,
  delimiter = ',',
  safe = false,
  bom = false,
}: CsvOptions<T> = {}): Operator<T, Uint8Array> {
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
