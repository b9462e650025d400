import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { hasCode } from '../files/own-file.ts';
import { receiptPath, writeWholeFile } from '../files/whole-file.ts';
import type { RowForm } from '../operators/forms.ts';
import { isCount } from '../reader/checkpoint.ts';
import type { Proof, VerdictReason } from '../reader/verdict.ts';
import type { RowCount } from './row-digest.ts';

/** Where the records of a file come from, and what was proved when they were read. */
export interface ReceiptFacts {
  /** Address of the API without credentials, or what else the records come from; null when it is not known. */
  readonly source: string | null;
  /** IDs of the accounts of the records, where they are known. */
  readonly accounts: readonly string[];
  /** The fields that were chosen, where the encoder does not tell; null or absent for all. */
  readonly fields?: readonly string[] | null;
  /** Version of the API; null when the records do not come from it. */
  readonly version: 'v2' | 'v3' | null;
  /** The filter, in the language of `q`. Null when it is not known. */
  readonly filter: string | null;
  /** A condition that only a warehouse can evaluate, in its language. */
  readonly where?: string;
  /** The first time of `date_added`; null when there is none. */
  readonly from: string | null;
  /** The first time after the period; null when it is open. */
  readonly to: string | null;
  /** What was proved of the read; null when nothing is known about it. */
  readonly verdict: ReceiptVerdict | null;
}

/** A verdict in writing. */
export interface ReceiptVerdict {
  /** What was proved. */
  readonly proof: Proof;
  /** Why it is not `whole`. */
  readonly reasons: readonly VerdictReason[];
  /** Records that the source counts; null when it gave no count. */
  readonly counted: number | null;
  /** Records that were read of it, in all runs. */
  readonly read: number;
  /** Of these, records that could not be read and are not in the file. */
  readonly setAside: number;
  /** Everything before this time was counted again at the end; null when there was no such count. */
  readonly countedBefore: string | null;
  /** When it was counted, as ISO 8601. */
  readonly countedAt: string;
}

/** The rows of a file. */
export interface ReceiptRows extends RowCount {
  /** The format of the file; `store` for a database, `dataset` for a folder of Parquet files. */
  readonly format: RowForm<never>['format'] | 'store' | 'dataset';
  /** Its columns, in order; null where each record has its own fields. */
  readonly fields: readonly string[] | null;
  /** What the digest covers. */
  readonly covers: string;
  /** Of a store: what was removed on purpose before it was written, by account. */
  readonly removed?: readonly {
    readonly account: string;
    readonly erasedCallers: number;
    readonly purgedBefore: string | null;
  }[];
  /** How lines of CSV are cut into cells, and whether the first one names the columns. */
  readonly csv?: { readonly delimiter: string; readonly header: boolean };
}

/** What is known about a file of records, a folder of them, or the rows of a store. */
export interface Receipt extends Omit<ReceiptFacts, 'fields'> {
  /** The form of the receipt. */
  readonly receipt: 1;
  /** The name of the file, without its folder. */
  readonly file: string;
  /** When it was written, as ISO 8601. */
  readonly writtenAt: string;
  /** The rows. */
  readonly rows: ReceiptRows;
  /** The bytes; null for a store, which may lay out the same rows in other ways, and for a dataset. */
  readonly bytes: { readonly length: number; readonly sha256: string } | null;
  /** The files of a dataset. */
  readonly files?: readonly ReceiptFile[];
}

/** A file of a dataset. */
export interface ReceiptFile {
  /** Its path from the folder of the dataset, with slashes. */
  readonly path: string;
  /** How many rows it has. */
  readonly rows: number;
  /** Its bytes. */
  readonly bytes: NonNullable<Receipt['bytes']>;
}

/** What the digest of a format covers, in words. */
export function coverOf({ format, fields }: Pick<ReceiptRows, 'format' | 'fields'>): string {
  switch (format) {
    case 'store':
      return 'each call with all fields that have a value, and its account';
    case 'dataset':
      return 'each file of "files": its path, its rows, and the length and the SHA-256 of its bytes';
    case 'csv':
      return 'each row as written: the text of its cells in the columns of "fields"';
    case 'parquet':
      return 'each row as written: the stored values of the columns of "fields"';
    default:
      return fields === null
        ? 'each record as written: all fields that have a value'
        : 'each record as written: those of the fields of "fields" that have a value';
  }
}

/** Writes a receipt next to its file. `seal` in it is the SHA-256 of the rest. */
export function writeReceipt(path: string, receipt: Receipt, { durable = true } = {}): Promise<void> {
  return writeWholeFile(receiptPath(path), sealed(receipt), { durable });
}

/** A receipt that was found, or what is wrong with it; null when there is none. */
export type FoundReceipt =
  | { readonly receipt: Receipt }
  | { readonly receipt: null; readonly problem: string };

/** Reads the receipt of a file. Null when there is none. */
export async function readReceipt(path: string): Promise<FoundReceipt | null> {
  let text: string;
  try {
    text = await readFile(receiptPath(path), 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
  return parseReceipt(text);
}

/** The receipt in the text of one. */
export function parseReceipt(text: string): FoundReceipt {
  const receipt = parsed(text);
  if (receipt === null) return { receipt: null, problem: 'it is not a receipt of this version' };
  if (sealed(receipt) !== text) return { receipt: null, problem: 'it was changed after it was written' };
  return { receipt };
}

const own = (receipt: Receipt): Receipt => {
  const { receipt: form, file, writtenAt, source, accounts, version, filter, from, to } = receipt;
  const { where, verdict, rows, bytes, files } = receipt;
  const which = { filter, ...(where === undefined ? {} : { where }), from, to };
  const holds = { rows, bytes, ...(files === undefined ? {} : { files }) };
  return { receipt: form, file, writtenAt, source, accounts, version, ...which, verdict, ...holds };
};

function sealed(receipt: Receipt): string {
  const text = own(receipt);
  return `${JSON.stringify({ ...text, seal: hash('sha256', JSON.stringify(text), 'hex') }, null, 2)}\n`;
}

function parsed(text: string): Receipt | null {
  try {
    const value: Receipt = JSON.parse(text);
    return isReceipt(value) ? value : null;
  } catch {
    return null;
  }
}

const isText = (value: unknown): boolean => value === null || typeof value === 'string';
const isHex = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
const isBytes = ({ length, sha256 }: NonNullable<Receipt['bytes']>): boolean =>
  isCount(length) && isHex(sha256);

function isReceipt({
  receipt,
  file,
  accounts,
  source,
  filter,
  from,
  to,
  verdict,
  rows,
  bytes,
  files = [],
}: Receipt): boolean {
  return (
    receipt === 1 &&
    typeof file === 'string' &&
    Array.isArray(accounts) &&
    [source, filter, from, to].every(isText) &&
    (verdict === null || (typeof verdict.proof === 'string' && Array.isArray(verdict.reasons))) &&
    isCount(rows.count) &&
    isHex(rows.digest) &&
    (rows.fields === null || Array.isArray(rows.fields)) &&
    (bytes === null || isBytes(bytes)) &&
    files.every((file) => typeof file.path === 'string' && isCount(file.rows) && isBytes(file.bytes))
  );
}

/** The receipt of a file that is complete. */
export function receiptOf(
  path: string,
  facts: ReceiptFacts,
  {
    rows,
    bytes,
    files,
    writtenAt,
  }: Pick<Receipt, 'bytes' | 'files' | 'writtenAt'> & { readonly rows: Omit<ReceiptRows, 'covers'> },
): Receipt {
  const { fields = null, ...about } = facts;
  const named = { ...rows, fields: rows.fields ?? fields };
  const covered = { ...named, covers: coverOf(named) };
  const holds = { rows: covered, bytes, ...(files === undefined ? {} : { files }) };
  return { ...about, receipt: 1, file: basename(path), writtenAt, ...holds };
}
