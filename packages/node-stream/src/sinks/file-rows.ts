import type { Clock } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import type { Mark } from '../checkpoint/mark.ts';
import { CheckpointError } from '../errors.ts';
import type { RowForm } from '../operators/operator.ts';
import { factsOfRead, unknownSource } from '../receipts/facts.ts';
import { type Receipt, type ReceiptFacts, receiptOf } from '../receipts/receipt.ts';
import { RowDigest } from '../receipts/row-digest.ts';
import { type ReadFacts, readBehind } from '../source/read-facts.ts';
import { type Encoding, encoders } from './encoding.ts';
import type { PartRows, PartState } from './part-file.ts';

/** Says where the records of a file come from. `accounts`: the IDs in the records. */
export type ReceiptMaker = (accounts: readonly string[]) => ReceiptFacts | Promise<ReceiptFacts>;

/** What `fileSink` is told about the receipt of its file. */
interface ReceiptSettings<T> {
  readonly encode?: Encoding<T> | undefined;
  readonly receipt: boolean | ReceiptMaker;
  readonly clock: Pick<Clock, 'now'>;
}

/** The rows of a file while it is written, for its receipt. */
export class FileRows<T> {
  readonly #path: string;
  readonly #form: RowForm<T | Uint8Array>;
  readonly #digest: RowDigest;
  readonly #accounts: Set<string>;
  readonly #settings: ReceiptSettings<T>;
  #read: ReadFacts | null = null;

  private constructor(
    path: string,
    form: RowForm<T | Uint8Array>,
    settings: ReceiptSettings<T>,
    from: PartRows | undefined,
  ) {
    this.#path = path;
    this.#form = form;
    this.#settings = settings;
    this.#digest = new RowDigest(from);
    this.#accounts = new Set(from?.accounts);
  }

  /** Null when the file gets no receipt. */
  static of<T>(path: string, settings: ReceiptSettings<T>, state: PartState | null): FileRows<T> | null {
    const { receipt, encode } = settings;
    if (receipt === false) return null;
    const form = encode === undefined ? null : (encoders(encode)[0]?.rows ?? null);
    if (form === null)
      throw new ConfigurationError(
        'invalid_option',
        `${path} cannot have a receipt: its rows are counted as they are encoded. Set encode to toNdjson(), toCsv(), toJsonArray() or toParquet(), with toGzip() after it if you like, or remove receipt.`,
      );
    if (state !== null && state.rows === undefined)
      throw new CheckpointError(
        'checkpoint_mismatch',
        `${path}.partial was begun without a receipt. Resume it without, or start over.`,
      );
    return new FileRows(path, form, settings, state?.rows);
  }

  /** The rows so far. */
  get state(): PartRows {
    return { ...this.#digest.result(), accounts: [...this.#accounts].sort() };
  }

  add(item: T): void {
    this.#digest.add(this.#form.text(item));
    const account: unknown =
      typeof item === 'object' && item !== null && 'acct_id' in item ? item.acct_id : null;
    if (typeof account === 'string') this.#accounts.add(account);
  }

  mark(mark: Mark): void {
    this.#read = readBehind(mark) ?? this.#read;
  }

  /** The receipt of the complete file. */
  async receipt(bytes: NonNullable<Receipt['bytes']>): Promise<Receipt> {
    const { clock } = this.#settings;
    const { format, fields, csv } = this.#form;
    const rows = { ...this.#digest.result(), format, fields, ...(csv === undefined ? {} : { csv }) };
    const facts = await this.#facts();
    return receiptOf(this.#path, facts, { rows, bytes, writtenAt: new Date(clock.now()).toISOString() });
  }

  #facts(): ReceiptFacts | Promise<ReceiptFacts> {
    const { receipt, clock } = this.#settings;
    const { accounts } = this.state;
    if (typeof receipt === 'function') return receipt(accounts);
    if (this.#read === null) return { ...unknownSource, accounts };
    return factsOfRead(this.#read, accounts, clock.now());
  }
}
