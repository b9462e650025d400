import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { readParquet } from './parquet-rows.ts';
import { type FileRow, type RowTaker, rowReader, type TextForm, UnreadableRow } from './read-rows.ts';
import type { Receipt, ReceiptRows } from './receipt.ts';
import { type RowCount, RowDigest } from './row-digest.ts';

/** How a file of records is written. */
export type FileForm = Pick<ReceiptRows, 'csv' | 'fields'> & {
  readonly format: Exclude<ReceiptRows['format'], 'store'>;
  readonly gzip: boolean;
};

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
   * The bytes that a receipt tells of. A Parquet file with other bytes is not decoded: damage may lead a decoder anywhere, also into a
   * loop without an end.
   */
  expected?: Receipt['bytes'];
}

/**
 * Reads a file of records and counts what is in it.
 *
 * @example
 * const { rows } = await readFileContents('calls.csv', { format: 'csv', gzip: false, fields: null });
 */
export async function readFileContents(
  path: string,
  form: FileForm,
  { onRow = () => {}, signal, expected = null }: ReadingOptions = {},
): Promise<FileContents> {
  const digest = new RowDigest();
  let fields: readonly string[] | null = form.fields;
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
  const bytes = await hashOf(path, signal);
  const isOther = expected !== null && expected.sha256 !== bytes.sha256;
  try {
    if (form.format === 'parquet' && isOther) fault = 'its rows are not read, because its bytes are others';
    else if (form.format === 'parquet') await readParquet(path, taker);
    else await readText(path, { ...form, format: form.format }, taker);
  } catch (error) {
    if (signal?.aborted === true || isMissing(error)) throw error;
    fault = error instanceof UnreadableRow ? error.message : `it cannot be read as ${formName(form)}`;
  }
  return { bytes, rows: digest.result(), fields, hasMark, fault };
}

async function readText(
  path: string,
  form: TextForm & { readonly gzip: boolean },
  taker: RowTaker,
): Promise<void> {
  const reader = rowReader(form, taker);
  const read = async (chunks: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of chunks) reader.push(chunk);
    reader.end();
  };
  const source = createReadStream(path);
  await (form.gzip ? pipeline(source, createGunzip(), read) : pipeline(source, read));
}

async function hashOf(path: string, signal: AbortSignal | undefined): Promise<NonNullable<Receipt['bytes']>> {
  const hash = createHash('sha256');
  let length = 0;
  for await (const chunk of createReadStream(path)) {
    signal?.throwIfAborted();
    hash.update(chunk);
    length += chunk.length;
  }
  return { length, sha256: hash.digest('hex') };
}

const formName = ({ format, gzip }: FileForm): string => `${format}${gzip ? ' in gzip' : ''}`;

/** A problem of the machine or of the installation, and not of what is in the file. */
const isMissing = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  ['missing_package', 'ENOENT', 'EACCES', 'EPERM', 'EIO', 'EMFILE'].includes(String(error.code));
