import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { hasCode } from '../files/own-file.ts';
import { receiptPath, writeWholeFile } from '../files/whole-file.ts';
import type { RowForm } from '../operators/operator.ts';
import type { Position, Verdict } from '../proof.ts';
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
  /** A condition that only a store can evaluate, in its language. */
  readonly where?: string;
  /** The range of `date_added` in the filter; null at an open end. */
  readonly from: string | null;
  readonly to: string | null;
  /** What was proved of the read, with the stretches that are missing; null when nothing is known about it. */
  readonly verdict: Verdict<Position> | null;
}

/** The rows of a file. */
export interface ReceiptRows extends RowCount {
  /** The format of the file; `store` for a database, `dataset` for a folder of Parquet files. */
  readonly format: RowForm<never>['format'] | 'store' | 'dataset';
  /** Its columns, in order; null where each record has its own fields. */
  readonly fields: readonly string[] | null;
  /** What the digest covers. */
  readonly covers: string;
  /** What separates the cells of CSV; null in other formats. */
  readonly delimiter: string | null;
  /** Of a store: what was removed on purpose before it was written, by account. */
  readonly removed?: readonly {
    readonly account: string;
    readonly erasedCallers: number;
    readonly purgedBefore: string | null;
  }[];
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

/** The receipt of a file that is complete. */
export function receiptOf(
  path: string,
  { fields = null, ...facts }: ReceiptFacts,
  {
    rows,
    ...rest
  }: Pick<Receipt, 'bytes' | 'files' | 'writtenAt'> & { readonly rows: Omit<ReceiptRows, 'covers'> },
): Receipt {
  const named = { ...rows, fields: rows.fields ?? fields };
  return { receipt: 1, file: basename(path), ...facts, rows: { ...named, covers: coverOf(named) }, ...rest };
}

/** Writes a receipt next to its file. `seal` in it is the SHA-256 of the rest. */
export function writeReceipt(path: string, receipt: Receipt): Promise<void> {
  return writeWholeFile(receiptPath(path), sealed(receipt));
}

function sealed(receipt: Receipt): string {
  const seal = hash('sha256', JSON.stringify(receipt), 'hex');
  return `${JSON.stringify({ ...receipt, seal }, null, 2)}\n`;
}

/** A receipt that was found, or what is wrong with it. */
export type FoundReceipt =
  | { readonly receipt: Receipt }
  | { readonly receipt: null; readonly problem: string };

/** Reads the receipt of a file. Null when there is none. */
export async function readReceipt(path: string): Promise<FoundReceipt | null> {
  try {
    return parseReceipt(await readFile(receiptPath(path), 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** The receipt in the text of one. */
export function parseReceipt(text: string): FoundReceipt {
  try {
    const { seal: _, ...receipt }: Receipt & { seal: string } = JSON.parse(text);
    const isReceipt =
      receipt.receipt === 1 && typeof receipt.rows.digest === 'string' && Array.isArray(receipt.accounts);
    if (!isReceipt) throw new Error('another form');
    if (sealed(receipt) === text) return { receipt };
    return { receipt: null, problem: 'it was changed after it was written' };
  } catch {
    return { receipt: null, problem: 'it is not a receipt of this version' };
  }
}
