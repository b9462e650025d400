import { type Call, fields } from '@call-attribution/core';
import {
  ConfigurationError,
  checkOptions,
  kinds,
  type OptionKind,
  type OptionShape,
  oneOf,
} from '@call-attribution/core/errors';
import { Operator } from '../operators/operator.ts';
import { type CsvColumn, type CsvDialect, csvLine, csvRow } from './csv-row.ts';
import { type TextOptions, textChunks, textShape } from './text-chunks.ts';

/** Settings of `toCsv`. */
export interface CsvOptions<T = Call> extends TextOptions, CsvDialect {
  /** Fields by name, and columns of your own, in order. Default: all fields. */
  columns?: readonly ((keyof NoInfer<T> & string) | CsvColumn<T>)[] | undefined;
  /** Write a header line. Default true; false when `continued`. */
  header?: boolean | undefined;
  /** Begin with a byte order mark, so that Excel reads UTF-8. Default false. */
  bom?: boolean | undefined;
}

const shape = {
  ...textShape,
  columns: kinds.list,
  header: kinds.flag,
  bom: kinds.flag,
  delimiter: oneOf(',', ';', '\t', '|'),
  newline: oneOf('\r\n', '\n'),
  safe: kinds.flag,
} satisfies OptionShape & Record<keyof CsvOptions, OptionKind>;

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
  checkOptions(options, shape);
  const columns = options.columns ?? (fields.map(({ name }) => name) as (keyof T & string)[]);
  for (const column of columns) if (typeof column === 'string') known(column);
  const row = csvRow<T>(columns, options);
  const titles = columns.map((column) => (typeof column === 'string' ? column : column.header));
  const header = csvLine(titles, options);
  return new Operator<T, Uint8Array>(
    (outlet) => {
      const chunks = textChunks(outlet, options);
      let begun = (outlet.continued ?? options.continued) === true;
      const begin = () => {
        begun = true;
        chunks.add(`${options.bom ? '\uFEFF' : ''}${options.header === false ? '' : header}`);
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
    { bytes: true },
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
