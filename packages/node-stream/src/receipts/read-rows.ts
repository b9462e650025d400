import { cellTexts, recordTexts } from '../encoders/row-text.ts';
import { createByteLineReader } from '../files/lines.ts';
import { CsvReader } from './csv-cells.ts';
import type { ReceiptRows } from './receipt.ts';

/** A row that was read back from a file. */
export interface FileRow {
  /** What the digest is made of. */
  readonly text: string;
  /** The values by their names; in CSV all are strings. */
  readonly record: Readonly<Record<string, unknown>>;
}

/** A row of a file that cannot be read, by its number from 1. */
export class UnreadableRow extends Error {
  override readonly name = 'UnreadableRow';
  readonly row: number;

  constructor(row: number) {
    super(`row ${row} cannot be read`);
    this.row = row;
  }
}

/** Takes the bytes of a file as they come. */
export interface RowReader {
  push(bytes: Uint8Array): void;
  end(): void;
}

/** How the rows of a text file are written. */
export type TextForm = Pick<ReceiptRows, 'csv' | 'fields'> & { readonly format: 'ndjson' | 'json' | 'csv' };

/** Takes what is found in a file. */
export interface RowTaker {
  onRow(row: FileRow): void;
  /** Called with the columns of CSV or Parquet. `hasMark`: the file begins with a byte order mark. */
  onFields(names: readonly string[], hasMark: boolean): void;
}

/** Makes the reader of a text format. It throws an `UnreadableRow`. */
export function rowReader(form: TextForm, taker: RowTaker): RowReader {
  if (form.format === 'csv') return csvRows(form, taker);
  return form.format === 'json' ? jsonRows(taker) : lineRows((line) => line, taker);
}

/** A JSON array as `toJsonArray` writes it: brackets on lines of their own, and a record on each line between them. */
function jsonRows(taker: RowTaker): RowReader {
  let isBegun = false;
  let isEnded = false;
  let count = 0;
  const inner = lineRows((line) => {
    const text = line.toString();
    if (isEnded) throw new Error('text after the array');
    if (!isBegun) {
      isBegun = true;
      isEnded = text === '[]';
      if (text !== '[' && !isEnded) throw new Error('no array');
      return null;
    }
    isEnded = text === ']';
    if (isEnded) return null;
    count += 1;
    return text.endsWith(',') ? Buffer.from(text.slice(0, -1)) : line;
  }, taker);
  return {
    push: inner.push,
    end() {
      inner.end();
      if (!isEnded) throw new UnreadableRow(count + 1);
    },
  };
}

/** Lines that are records. `recordIn`: the JSON in a line, or null when it has none. */
function lineRows(recordIn: (line: Buffer) => Buffer | null, { onRow }: RowTaker): RowReader {
  const textOf = recordTexts();
  let count = 0;
  return createByteLineReader((line) => {
    const record = recordOf(line);
    if (record === null) return;
    count += 1;
    onRow({ text: textOf(record), record });
  });

  function recordOf(line: Buffer): FileRow['record'] | null {
    try {
      const json = recordIn(line);
      if (json === null) return null;
      const record: unknown = JSON.parse(json.toString());
      if (typeof record !== 'object' || record === null) throw new Error('not a record');
      return { ...record };
    } catch {
      throw new UnreadableRow(count + 1);
    }
  }
}

function csvRows(
  { fields, csv: { delimiter, header } = { delimiter: ',', header: true } }: TextForm,
  { onFields, onRow }: RowTaker,
): RowReader {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let isFirst = true;
  let hasMark = false;
  let names: readonly string[] | null = header ? null : fields;
  let texts = cellTexts(names ?? []);
  let count = 0;
  const reader = new CsvReader(delimiter, (cells) => {
    if (names === null) {
      names = cells.map((cell) => cell ?? '');
      texts = cellTexts(names);
      onFields(names, hasMark);
      return;
    }
    if (cells.length !== names.length) throw new UnreadableRow(count + 1);
    count += 1;
    onRow({
      text: texts(cells),
      record: Object.fromEntries(names.map((name, at) => [name, cells[at] ?? null])),
    });
  });
  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      if (isFirst) hasMark = text.startsWith('\uFEFF');
      reader.push(isFirst && hasMark ? text.slice(1) : text);
      if (text !== '') isFirst = false;
    },
    end() {
      reader.push(decoder.decode());
      if (!reader.end()) throw new UnreadableRow(count + 1);
    },
  };
}
