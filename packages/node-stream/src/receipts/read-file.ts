import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip, gunzipSync } from 'node:zlib';
import { ConfigurationError } from '@call-attribution/core/errors';
import { type Cell, cellTexts, recordTexts } from '../encoders/row-text.ts';
import { createLineReader, type LineReader } from '../files/lines.ts';
import { hasCode } from '../files/own-file.ts';
import { type Receipt, type ReceiptRows, type RowCount, RowDigest } from './receipt.ts';

/** How a file of records is written. */
export interface FileForm {
  /** How its rows are written. */
  readonly format: ReceiptRows['format'];
  /** It is compressed with gzip. */
  readonly gzip: boolean;
  /** What separates the cells of CSV. Default: a comma. */
  readonly delimiter?: string | null;
}

/** A row that was read back from a file. */
export interface FileRow {
  /** What the digest is made of. */
  readonly text: string;
  /** The values by their names; in CSV all are strings. */
  readonly record: Readonly<Record<string, unknown>>;
}

/** What a file of records holds: read and counted, row by row. */
export interface FileContents {
  /** The length and the SHA-256 of the file. */
  readonly bytes: NonNullable<Receipt['bytes']>;
  /** The rows up to the end or to the first that cannot be read. */
  readonly rows: RowCount;
  /** The columns that the file names; null where each record has its own fields. */
  readonly fields: readonly string[] | null;
  /** A file of CSV begins with a byte order mark. */
  readonly hasMark: boolean;
  /** Why reading stopped before the end; null when it did not. */
  readonly fault: string | null;
}

/** Settings of `readFileContents`. */
export interface ReadingOptions {
  /** Gets each row. */
  onRow?: (row: FileRow) => void;
  /** Ends the reading. */
  signal?: AbortSignal | undefined;
  /** The bytes that a receipt tells of: the rows of a Parquet file are read only when it has these. */
  expected?: Receipt['bytes'];
}

/** A row of a file that cannot be read, by its number from 1. */
class UnreadableRow extends Error {
  constructor(row: number) {
    super(`row ${row} cannot be read`);
  }
}

/** Takes what is found in a file. */
interface RowTaker {
  onRow(row: FileRow): void;
  /** Called with the columns of CSV or Parquet. `hasMark`: the file begins with a byte order mark. */
  onFields(names: readonly string[], hasMark: boolean): void;
}

/**
 * Reads a file of records and counts what is in it.
 *
 * @example
 * const { rows } = await readFileContents('calls.csv', { format: 'csv', gzip: false });
 */
export async function readFileContents(
  path: string,
  form: FileForm,
  { onRow = () => {}, signal, expected = null }: ReadingOptions = {},
): Promise<FileContents> {
  const digest = new RowDigest();
  let fields: readonly string[] | null = null;
  let fault: string | null = null;
  let hasMark = false;
  const taker: RowTaker = {
    onRow(row) {
      signal?.throwIfAborted();
      digest.add(row.text);
      onRow(row);
    },
    onFields(names, isMarked) {
      fields = names;
      hasMark = isMarked;
    },
  };
  const file = createReadStream(path);
  const hash = createHash('sha256');
  let length = 0;
  /** The bytes as they are read, for whoever takes them; what nobody took is read in the end. */
  const hashed = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of file.iterator({ destroyOnReturn: false })) {
      signal?.throwIfAborted();
      hash.update(chunk);
      length += chunk.length;
      yield chunk;
    }
  };
  const readRest = async (): Promise<FileContents['bytes']> => {
    for await (const _ of hashed());
    return { length, sha256: hash.digest('hex') };
  };
  let bytes: FileContents['bytes'] | null = null;
  try {
    if (form.format === 'parquet') {
      bytes = await readRest();
      if (expected?.sha256 === bytes.sha256) await readParquet(path, taker);
      else
        fault =
          expected === null
            ? 'its rows are not read, because there is no receipt of its bytes'
            : 'its rows are not read, because its bytes are others';
    } else {
      const reader =
        form.format === 'csv' ? csvRows(form.delimiter ?? ',', taker) : jsonRows(form.format, taker);
      const read = async (chunks: AsyncIterable<Uint8Array>): Promise<void> => {
        for await (const chunk of chunks) reader.push(chunk);
        reader.end();
      };
      await (form.gzip ? pipeline(hashed(), createGunzip(), read) : pipeline(hashed(), read));
    }
  } catch (error) {
    const isOfTheMachine = ['missing_package', 'ENOENT', 'EACCES', 'EPERM', 'EIO', 'EMFILE'].some((code) =>
      hasCode(error, code),
    );
    if (signal?.aborted === true || isOfTheMachine) throw error;
    const kind = form.gzip ? `${form.format} in gzip` : form.format;
    fault = error instanceof UnreadableRow ? error.message : `it cannot be read as ${kind}`;
  }
  bytes ??= await readRest();
  return { bytes, rows: digest.result(), fields, hasMark, fault };
}

/** JSON lines, or a JSON array as `toJsonArray` writes it: brackets on lines of their own, and a record on each line between them. */
function jsonRows(format: 'ndjson' | 'json', { onRow }: RowTaker): LineReader {
  const textOf = recordTexts();
  const isArray = format === 'json';
  let isBegun = false;
  let isEnded = false;
  let count = 0;
  /** The record in a line; null when it has none. */
  const recordIn = (line: Buffer): string | null => {
    if (!isArray) return line.toString();
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
    return text.endsWith(',') ? text.slice(0, -1) : text;
  };
  const lines = createLineReader((line) => {
    let record: unknown;
    try {
      const json = recordIn(line);
      if (json === null) return;
      record = JSON.parse(json);
      if (typeof record !== 'object' || record === null) throw new Error('not a record');
    } catch {
      throw new UnreadableRow(count + 1);
    }
    count += 1;
    onRow({ text: textOf(record), record: { ...record } });
  });
  return {
    push: lines.push,
    end() {
      lines.end();
      if (isArray && !isEnded) throw new UnreadableRow(count + 1);
    },
  };
}

function csvRows(delimiter: string, { onFields, onRow }: RowTaker): LineReader {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let isFirst = true;
  let hasMark = false;
  let names: readonly string[] | null = null;
  let texts = cellTexts([]);
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

/** Cuts the text of a CSV file into lines of cells as it comes, as RFC 4180 has them. An empty cell without quotes is null. */
class CsvReader {
  readonly #delimiter: string;
  readonly #onRow: (cells: (string | null)[]) => void;
  #cells: (string | null)[] = [];
  #cell = '';
  /** Of the cell: it has no quotes, is between them, has ended them, or had another one within them, which may end them. */
  #quotes: 'none' | 'open' | 'closing' | 'closed' = 'none';
  /** A CR was the last character: an LF makes it the end of the line. */
  #hasReturn = false;

  constructor(delimiter: string, onRow: (cells: (string | null)[]) => void) {
    this.#delimiter = delimiter;
    this.#onRow = onRow;
  }

  push(text: string): void {
    for (const character of text) this.#take(character);
  }

  /** Ends the text. Returns false when it ends within quotes. */
  end(): boolean {
    if (this.#quotes === 'open') return false;
    if (this.#hasReturn) this.#cell += '\r';
    if (this.#cell !== '' || this.#quotes !== 'none' || this.#cells.length > 0) this.#endRow();
    return true;
  }

  #take(character: string): void {
    if (this.#hasReturn) {
      this.#hasReturn = false;
      if (character === '\n') return void this.#endRow();
      this.#cell += '\r';
    }
    if (this.#quotes === 'open') {
      if (character === '"') this.#quotes = 'closing';
      else this.#cell += character;
      return;
    }
    if (this.#quotes === 'closing') {
      this.#quotes = character === '"' ? 'open' : 'closed';
      if (character === '"') {
        this.#cell += '"';
        return;
      }
    }
    if (character === '\n') this.#endRow();
    else if (character === '\r') this.#hasReturn = true;
    else if (character === this.#delimiter) this.#endCell();
    else if (character === '"' && this.#cell === '' && this.#quotes === 'none') this.#quotes = 'open';
    else this.#cell += character;
  }

  #endCell(): void {
    this.#cells.push(this.#cell === '' && this.#quotes === 'none' ? null : this.#cell);
    this.#cell = '';
    this.#quotes = 'none';
  }

  #endRow(): void {
    this.#endCell();
    this.#onRow(this.#cells);
    this.#cells = [];
  }
}

/** Reads the rows of a Parquet file, group by group. Its bytes are known to be right: damage leads the decoder anywhere. */
async function readParquet(path: string, { onFields, onRow }: RowTaker): Promise<void> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetRead, parquetSchema } = await library();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const names = parquetSchema(metadata).children.map(({ element }) => element.name);
  const texts = cellTexts(names);
  onFields(names, false);
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    let rows: readonly (readonly Cell[])[] = [];
    await parquetRead({
      ...{ file, metadata, rowStart, rowEnd, rowFormat: 'array' },
      compressors: { GZIP: (bytes) => new Uint8Array(gunzipSync(bytes)) },
      // The values as they are stored: times in microseconds, dates in days.
      parsers: {
        timestampFromMilliseconds: (millis: bigint) => millis,
        timestampFromMicroseconds: (micros: bigint) => micros,
        timestampFromNanoseconds: (nanos: bigint) => nanos,
        dateFromDays: (days: number) => days,
        stringFromBytes: (bytes: Uint8Array) => bytes && decoder.decode(bytes),
      },
      onComplete: (all) => {
        rows = all as readonly (readonly Cell[])[];
      },
    });
    for (const row of rows)
      onRow({ record: Object.fromEntries(names.map((name, at) => [name, row[at]])), text: texts(row) });
    rowStart = rowEnd;
  }
}

async function library(): Promise<typeof import('hyparquet')> {
  try {
    return await import('hyparquet');
  } catch (cause) {
    throw new ConfigurationError(
      'missing_package',
      'Reading a Parquet file back needs the package hyparquet. Install it with: npm install hyparquet',
      { cause },
    );
  }
}
