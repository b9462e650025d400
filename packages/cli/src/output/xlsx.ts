import { fields } from '@call-attribution/core/record';
import { parseNaive } from '@call-attribution/core/time';
import type { ParquetColumn, ParquetType } from '@call-attribution/node-stream/encoders';
import { defineOperator, type Operator } from '@call-attribution/node-stream/operators';
import type { Cell, SheetData } from 'write-excel-file/node';
import { UsageError } from '../errors.ts';

/** Most rows of a sheet, the headings included, and most characters of a cell. */
const mostRows = 1_048_576;
const mostText = 32_767;
/** Excel counts days from 1900 on. */
const firstDay = Date.UTC(1900, 2, 1);

// Characters that no XML has, and so no Excel file.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is replaced
const notInXml = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

const typeOfField: ReadonlyMap<string, ParquetType> = new Map(
  fields.map(({ name, type }) => {
    if (type.startsWith('datetime')) return [name, 'timestamp'];
    return [name, type.endsWith('-string') ? 'decimal' : 'string'];
  }),
);

/**
 * Turns items into an Excel file with one sheet, which is made when all are there: session IDs and
 * phone numbers are text, so that no digit is lost, and times are times without a zone.
 */
export function toXlsx<T>(
  columns: readonly ((keyof T & string) | ParquetColumn<T>)[],
): Operator<T, Uint8Array> {
  const read = columns.map((column) =>
    typeof column === 'string'
      ? {
          name: column,
          type: typeOfField.get(column) ?? 'string',
          value: (item: T): unknown => item[column],
        }
      : column,
  );
  return defineOperator<T, Uint8Array>({
    name: 'toXlsx',
    gives: 'other',
    unsaved: 'an Excel file cannot be continued in its middle',
    begin() {
      const rows: SheetData = [
        read.map(({ name }) => ({ value: name, type: String, fontWeight: 'bold' })),
      ];
      return {
        async page(items) {
          // Before all calls are read for nothing.
          await loaded();
          for (const item of items)
            rows.push(read.map(({ value, type }) => cellOf(value(item), type)));
          if (rows.length > mostRows)
            throw new UsageError(`a sheet of Excel has at most ${mostRows - 1} rows`, [
              'narrow the period, or write CSV or Parquet',
            ]);
          return [];
        },
        async end() {
          const writeExcelFile = await loaded();
          const options = { stickyRowsCount: 1, columns: read.map(() => ({ width: 20 })) };
          return [await writeExcelFile(rows, options).toBuffer()];
        },
      };
    },
  });
}

async function loaded() {
  try {
    return (await import('write-excel-file/node')).default;
  } catch (cause) {
    throw new UsageError(
      'an Excel file needs the package write-excel-file',
      ['install it beside calls: npm install write-excel-file', 'or write CSV'],
      { cause },
    );
  }
}

function cellOf(value: unknown, type: ParquetType): Cell {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (type === 'decimal' && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (type === 'timestamp' || type === 'date') {
    const time = parseNaive(text.length === 10 ? `${text} 00:00:00` : text);
    const format = text.length === 10 ? 'yyyy-mm-dd' : 'yyyy-mm-dd hh:mm:ss';
    if (time >= firstDay) return { value: new Date(time), type: Date, format };
  }

  if (text.length > mostText)
    throw new UsageError(
      `a cell of Excel holds at most ${mostText} characters, and a text is longer`,
      ['leave the field out with --fields, or write CSV'],
    );
  return { value: text.toWellFormed().replace(notInXml, '\uFFFD'), type: String };
}
