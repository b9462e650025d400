import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip, gunzipSync } from 'node:zlib';
import { codeOf } from '@call-attribution/core/errors';
import { needed } from '../encoders/parquet.ts';
import { recordTexts, rowTexts } from '../encoders/row-text.ts';
import { type Receipt, type ReceiptRows, type RowCount, RowDigest } from './receipt.ts';

/** How a file of records is written. */
export interface FileForm {
  /** How its rows are written. */
  readonly format: ReceiptRows['format'];
  /** It is compressed with gzip. */
  readonly gzip: boolean;
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
  /**
   * The bytes that a receipt tells of: the rows of a Parquet file are read only when it has these.
   */
  expected?: Receipt['bytes'];
}

class UnreadableRow extends Error {
  constructor(row: number) {
    super(`row ${row} cannot be read`);
  }
}

/** What a table says of itself before its rows. */
type OnFields = (names: readonly string[], hasMark: boolean) => void;
type Chunks = AsyncIterable<Uint8Array>;

/**
 * Reads a file of records and counts what is in it.
 *
 * @example
 * const { rows } = await readFileContents('calls.csv', { format: 'csv', gzip: false });
 */
export async function readFileContents(
  path: string,
  { format, gzip }: FileForm,
  { onRow = () => {}, signal, expected = null }: ReadingOptions = {},
): Promise<FileContents> {
  const digest = new RowDigest();
  const hash = createHash('sha256');
  const file = createReadStream(path);
  let length = 0;
  let fields: readonly string[] | null = null;
  let fault: string | null = null;
  let hasMark = false;

  const onFields: OnFields = (names, isMarked) => {
    fields = names;
    hasMark = isMarked;
  };

  const take = async (rows: AsyncIterable<FileRow>): Promise<void> => {
    for await (const row of rows) {
      signal?.throwIfAborted();
      digest.add(row.text);
      onRow(row);
    }
  };

  /** The bytes as they are read, for whoever takes them; what nobody took is read in the end. */
  const hashed = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of file.iterator({ destroyOnReturn: false })) {
      signal?.throwIfAborted();
      hash.update(chunk);
      length += chunk.length;
      yield chunk;
    }
  };

  const readRest = async (): Promise<void> => {
    for await (const _ of hashed());
  };

  try {
    if (format === 'parquet') {
      await readRest();
      const isExpected = expected?.sha256 === hash.copy().digest('hex');
      if (isExpected) await take(parquetRows(path, onFields));
      else if (expected === null)
        fault = 'its rows are not read, because there is no receipt of its bytes';
      else fault = 'its rows are not read, because its bytes are others';
    } else {
      const read = (chunks: Chunks): Promise<void> =>
        take(format === 'csv' ? csvRows(chunks, onFields) : jsonRows(chunks, format === 'json'));
      await (gzip ? pipeline(hashed(), createGunzip(), read) : read(hashed()));
    }
  } catch (error) {
    const ofTheMachine = ['missing_package', 'ENOENT', 'EACCES', 'EPERM', 'EIO', 'EMFILE'];
    if (signal?.aborted === true || ofTheMachine.includes(codeOf(error) ?? '')) throw error;
    const kind = gzip ? `${format} in gzip` : format;
    fault = error instanceof UnreadableRow ? error.message : `it cannot be read as ${kind}`;
  }

  await readRest();
  return {
    bytes: { length, sha256: hash.digest('hex') },
    rows: digest.result(),
    fields,
    hasMark,
    fault,
  };
}

/**
 * JSON lines, or a JSON array as `toJsonArray` writes it: brackets on lines of their own, and a
 * record on each line between them.
 */
async function* jsonRows(chunks: Chunks, isArray: boolean): AsyncGenerator<FileRow> {
  const textOf = recordTexts();
  let place: 'before' | 'inside' | 'after' = isArray ? 'before' : 'inside';
  let count = 0;
  for await (const line of linesOf(chunks, false)) {
    if (place === 'before' && (line === '[' || line === '[]'))
      place = line === '[' ? 'inside' : 'after';
    else if (place === 'inside' && isArray && line === ']') place = 'after';
    else {
      count += 1;
      const json = isArray ? line.replace(/,$/, '') : line;
      const record = place === 'inside' ? recordIn(json) : null;
      if (record === null) throw new UnreadableRow(count);
      yield { text: textOf(record), record };
    }
  }

  if (isArray && place !== 'after') throw new UnreadableRow(count + 1);
}

function recordIn(json: string): FileRow['record'] | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

async function* csvRows(chunks: Chunks, onFields: OnFields): AsyncGenerator<FileRow> {
  const texts = rowTexts();
  let names: string[] | null = null;
  let count = 0;
  for await (const line of linesOf(chunks, true)) {
    if (names === null) {
      const hasMark = line.startsWith('\uFEFF');
      names = cellsOf(hasMark ? line.slice(1) : line)?.map((cell) => cell ?? '') ?? [];
      onFields(names, hasMark);
      continue;
    }
    count += 1;
    const cells = cellsOf(line);
    if (cells?.length !== names.length) throw new UnreadableRow(count);
    yield {
      text: texts(names, cells, null),
      record: Object.fromEntries(names.map((name, at) => [name, cells[at] ?? null])),
    };
  }
}

/**
 * The lines without their ends. In CSV a line break with an odd number of quotes before it is part
 * of a cell.
 */
async function* linesOf(chunks: Chunks, isCsv: boolean): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let line = '';
  let isQuoted = false;
  let count = 0;
  for await (const chunk of chunks) {
    const parts = decoder.decode(chunk, { stream: true }).split('\n');
    for (const [at, part] of parts.entries()) {
      line += part;
      if (isCsv && part.split('"').length % 2 === 0) isQuoted = !isQuoted;
      if (at === parts.length - 1) break;
      if (isQuoted) line += '\n';
      else {
        yield line.endsWith('\r') ? line.slice(0, -1) : line;
        line = '';
        count += 1;
      }
    }
  }

  line += decoder.decode();

  // The first line has the names.
  if (isQuoted) throw new UnreadableRow(count);
  if (line !== '') yield line;
}

const cell = /(?:"([^"]*(?:""[^"]*)*)"|([^",]*))(,|$)/y;

/**
 * The cells of a line; null when it is not as RFC 4180 has it. An empty cell without quotes is
 * null.
 */
function cellsOf(line: string): (string | null)[] | null {
  const cells: (string | null)[] = [];
  cell.lastIndex = 0;
  for (;;) {
    const found = cell.exec(line);
    if (found === null) return null;
    const [, quoted, plain = '', end] = found;
    cells.push(quoted?.replaceAll('""', '"') ?? (plain === '' ? null : plain));
    if (end === '') return cells;
  }
}

/**
 * Reads the rows of a Parquet file, group by group. Its bytes are known to be right: damage leads
 * the decoder anywhere.
 */
async function* parquetRows(path: string, onFields: OnFields): AsyncGenerator<FileRow> {
  const load = () => import('hyparquet');
  const { asyncBufferFromFile, parquetMetadataAsync, parquetRead, parquetSchema } = await needed(
    'hyparquet',
    'Reading a Parquet file back',
    load,
  );
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const names = parquetSchema(metadata).children.map(({ element }) => element.name);
  const texts = rowTexts();
  onFields(names, false);
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    let rows: readonly (readonly unknown[])[] = [];
    await parquetRead({
      file,
      metadata,
      rowStart,
      rowEnd,
      rowFormat: 'array',
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
        rows = all as readonly (readonly unknown[])[];
      },
    });
    for (const row of rows)
      yield {
        record: Object.fromEntries(names.map((name, at) => [name, row[at]])),
        text: texts(names, row, null),
      };
    rowStart = rowEnd;
  }
}
