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
  readonly format: Exclude<ReceiptRows['format'], 'store' | 'dataset'>;
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
  /** The bytes that a receipt tells of. A Parquet file with other bytes is not decoded. */
  expected?: Receipt['bytes'];
  /**
   * Milliseconds without a page after which a Parquet file counts as damaged: damage may lead the decoder, which runs in a thread of
   * its own, into a loop without an end. Default 30,000.
   */
  patience?: number;
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
  { onRow = () => {}, signal, expected = null, patience = 30_000 }: ReadingOptions = {},
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
  const rest = async (): Promise<FileContents['bytes']> => {
    for await (const _ of hashed());
    return { length, sha256: hash.digest('hex') };
  };
  let bytes: FileContents['bytes'] | null = null;
  try {
    if (form.format !== 'parquet') await readText(hashed, { ...form, format: form.format }, taker);
    else {
      bytes = await rest();
      const isOther = expected !== null && expected.sha256 !== bytes.sha256;
      if (isOther) fault = 'its rows are not read, because its bytes are others';
      else await readParquet(path, taker, { signal, patience });
    }
  } catch (error) {
    if (signal?.aborted === true || isMissing(error)) throw error;
    fault = error instanceof UnreadableRow ? error.message : `it cannot be read as ${formName(form)}`;
  }
  bytes ??= await rest();
  return { bytes, rows: digest.result(), fields, hasMark, fault };
}

async function readText(
  bytes: () => AsyncIterable<Buffer>,
  form: TextForm & { readonly gzip: boolean },
  taker: RowTaker,
): Promise<void> {
  const reader = rowReader(form, taker);
  const read = async (chunks: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of chunks) reader.push(chunk);
    reader.end();
  };
  await (form.gzip ? pipeline(bytes, createGunzip(), read) : pipeline(bytes, read));
}

const formName = ({ format, gzip }: FileForm): string => `${format}${gzip ? ' in gzip' : ''}`;

/** A problem of the machine or of the installation, and not of what is in the file. */
const isMissing = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  ['missing_package', 'ENOENT', 'EACCES', 'EPERM', 'EIO', 'EMFILE'].includes(String(error.code));
