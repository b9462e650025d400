import { hash } from 'node:crypto';
import { basename } from 'node:path';
import { codeOf } from '@call-attribution/core/errors';
import { readSmallFile } from '@call-attribution/core/settings';
import { isSealed, seal } from '../checkpoint.ts';
import { receiptPath } from '../files/whole-file.ts';
import type { RowForm } from '../operators/operator.ts';
import type { Position, Span, Verdict } from '../verdict.ts';

/** Where the records of a file come from, and what was proved when they were read. */
export interface ReceiptFacts extends Span {
  /**
   * Address of the API without credentials, or what else the records come from; null when it is not
   * known.
   */
  readonly source: string | null;
  /** IDs of the accounts of the records, where they are known. */
  readonly accounts: readonly string[];
  /** The name of the account, where it has one. */
  readonly name?: string;
  /** Of a file of several, such as a month: the whole period that was asked for. */
  readonly asked?: Span;
  /** The fields that were chosen, where the encoder does not tell; null or absent for all. */
  readonly fields?: readonly string[] | null;
  /** Version of the API; null when the records do not come from it. */
  readonly version: 'v2' | 'v3' | null;
  /** The filter, in the language of `q`. Null when it is not known. */
  readonly filter: string | null;
  /** A condition that only a store can evaluate, in its language. */
  readonly where?: string;
  /** Of a file from a copy that notes its changes: up to which it holds. */
  readonly changes?: ReceiptChanges;
  /**
   * What was proved of the read, with the stretches that are missing; null when nothing is known
   * about it.
   */
  readonly verdict: Verdict<Position> | null;
}

/** Up to which change of a copy a file holds. */
export interface ReceiptChanges {
  /** The last change of the copy when it was read, as ISO 8601; null when there was none yet. */
  readonly until: string | null;
  /** How many calls the copy had in the period of the file, whatever condition they fulfil. */
  readonly calls: number;
}

/** The rows of a file. */
export interface ReceiptRows extends RowCount {
  /** The format of the file. */
  readonly format: RowForm<never>['format'];
  /** Its columns, in order; null where each record has its own fields. */
  readonly fields: readonly string[] | null;
}

/** What is known about a file of records. */
export interface Receipt extends Omit<ReceiptFacts, 'fields'> {
  /** The form of the receipt. */
  readonly receipt: 1;
  /** The name of the file, without its folder. */
  readonly file: string;
  /** When it was written, as ISO 8601. */
  readonly writtenAt: string;
  /** The rows. */
  readonly rows: ReceiptRows;
  /** The bytes; null where they are not known. */
  readonly bytes: { readonly length: number; readonly sha256: string } | null;
}

/** The receipt of a file that is complete. */
export function receiptOf(
  path: string,
  { fields = null, ...facts }: ReceiptFacts,
  { rows, ...rest }: Pick<Receipt, 'rows' | 'bytes' | 'writtenAt'>,
): Receipt {
  return {
    receipt: 1,
    file: basename(path),
    ...facts,
    rows: { ...rows, fields: rows.fields ?? fields },
    ...rest,
  };
}

/** The text of a receipt, with a checksum over all of it. */
export const sealed = (receipt: Receipt): string => `${JSON.stringify(seal(receipt), null, 2)}\n`;

/** A receipt that was found, or what is wrong with it. */
export type FoundReceipt =
  | { readonly receipt: Receipt }
  | { readonly receipt: null; readonly problem: string };

/** Most bytes that a receipt may have. */
const receiptBytes: number = 16 * 1024 * 1024;

/** Reads the receipt of a file. Null when there is none. */
export async function readReceipt(path: string): Promise<FoundReceipt | null> {
  try {
    return parseReceipt(readReceiptText(receiptPath(path)));
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (code === 'ENOENT') return null;
    if (isStrange(code))
      return { receipt: null, problem: `it is ${code === 'EISDIR' ? 'a folder' : code}` };
    throw error;
  }
}

/** The text of a receipt. A pipe would wait for a writer, and a device never ends. */
export const readReceiptText = (path: string): string => readSmallFile(path, receiptBytes).text;

/** Whether an error of `readReceiptText` says that this is no file that anybody writes here. */
export const isStrange = (code: string): boolean => code === 'EISDIR' || /^[a-z]/.test(code);

/** The receipt in the text of one. */
export function parseReceipt(text: string): FoundReceipt {
  try {
    const found: Receipt & { seal: string } = JSON.parse(text);
    const { seal: _, ...receipt } = found;
    const isReceipt =
      receipt.receipt === 1 &&
      typeof receipt.rows.digest === 'string' &&
      Array.isArray(receipt.accounts);
    if (isReceipt) {
      if (!isSealed(found))
        return { receipt: null, problem: 'it was changed after it was written' };
      const isReversed = [receipt, receipt.asked ?? receipt].some(isEndFirst);
      return isReversed
        ? { receipt: null, problem: 'its period ends before it begins' }
        : { receipt };
    }
  } catch {}
  return { receipt: null, problem: 'it is not a receipt of this version' };
}

const isEndFirst = ({ from, to }: Span): boolean => from !== null && to !== null && from > to;

/** How many rows there are, and a number that depends on all of them, but not on their order. */
export interface RowCount {
  /** How many rows. */
  readonly count: number;
  /** 64 hexadecimal digits. */
  readonly digest: string;
}

const mask = (1n << 256n) - 1n;

/**
 * Adds up rows: the sum, modulo 2^256, of the SHA-256 of the text of each. The order does not
 * matter, and a row that is there twice does.
 */
export class RowDigest {
  #count: number;
  #sum: bigint;

  constructor(from: RowCount = { count: 0, digest: '0' }) {
    this.#count = from.count;
    this.#sum = BigInt(`0x${from.digest}`);
  }

  add(text: string): void {
    this.#count += 1;
    this.#sum = (this.#sum + BigInt(`0x${hash('sha256', text, 'hex')}`)) & mask;
  }

  result(): RowCount {
    return { count: this.#count, digest: this.#sum.toString(16).padStart(64, '0') };
  }
}
