import { type Call, fields } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { Operator } from '../operators/operator.ts';
import { type CsvColumn, type CsvDialect, csvDialectOptions, csvLine, csvRow, csvText } from './csv-row.ts';
import { cellTexts } from './row-text.ts';
import { type TextOptions, textChunks, textOptions } from './text-chunks.ts';

const csvOptions = <T>() =>
  defineOptions({
    ...textOptions.entries,
    ...csvDialectOptions.entries,
    /** Fields by name, and columns of your own, in order. Default: all fields. */
    columns: option.list<(keyof NoInfer<T> & string) | CsvColumn<T>>(),
    /** Write a header line. Default true; false when `continued`. */
    header: option.flag().default(true),
    /** Begin with a byte order mark, so that Excel reads UTF-8. Default false. */
    bom: option.flag().default(false),
  });

/** Settings of `toCsv`. */
export interface CsvOptions<T = Call> extends TextOptions, CsvDialect, OptionsOf<typeof csvOptions<T>> {}

/**
 * Writes CSV as in RFC 4180, in UTF-8. Null is an empty cell and an empty string is `""`, so that they can be told apart.
 *
 * @example
 * toCsv({
 *   columns: ['sid', 'date_added', { header: 'seconds', value: (call) => Number(call.talk_minutes) * 60 }],
 *   safe: true,
 * });
 */
export function toCsv<T = Call>(options: CsvOptions<T> = {}): Operator<T, Uint8Array> {
  const settings = csvOptions<T>().read(options);
  const columns = settings.columns ?? (fields.map(({ name }) => name) as (keyof T & string)[]);
  for (const column of columns) if (typeof column === 'string') known(column);
  const row = csvRow<T>(columns, settings);
  const titles = columns.map((column) => (typeof column === 'string' ? column : column.header));
  const header = csvLine(titles, {
    delimiter: settings.delimiter,
    newline: settings.newline,
    safe: settings.safe,
  });
  const cell = csvText(settings);
  const readers = columns.map((column) =>
    typeof column === 'string' ? (item: T): unknown => item[column] : column.value,
  );
  const texts = cellTexts(titles);
  return new Operator<T, Uint8Array>(
    (outlet) => {
      const chunks = textChunks(outlet, settings);
      let begun = outlet.continued ?? settings.continued;
      const begin = () => {
        begun = true;
        chunks.add(`${settings.bom ? '\uFEFF' : ''}${settings.header ? header : ''}`);
      };
      return {
        push(item) {
          if (!begun) begin();
          chunks.add(row(item));
        },
        mark: chunks.flush,
        end() {
          if (!begun) begin();
          chunks.flush();
        },
      };
    },
    {
      bytes: true,
      rows: {
        format: 'csv',
        fields: titles,
        csv: { delimiter: settings.delimiter, header: settings.header },
        text: (item) => texts(readers.map((read) => cell(read(item)))),
      },
    },
  );
}

function known(column: string): void {
  if (fields.some(({ name }) => name === column)) return;
  const names = fields.map(({ name }) => name).join(', ');
  throw new ConfigurationError(
    'invalid_option',
    `there is no field ${column}; for a column of your own use { header, value }. Fields: ${names}`,
  );
}
