import type { Clock } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import type { ReadFacts } from '../calls/read-facts.ts';
import type { Operator, RowForm } from '../operators/forms.ts';
import { defineOperator } from '../operators/operator.ts';
import { each } from '../operators/step.ts';
import { factsOfRead, unknownSource } from '../receipts/facts.ts';
import { type Receipt, type ReceiptFacts, type ReceiptRows, receiptOf } from '../receipts/receipt.ts';
import { RowDigest } from '../receipts/row-digest.ts';
import { type Encoding, encoders } from './encoding.ts';

/** Says where the records of a file come from. `accounts`: the IDs in the records. */
export type ReceiptMaker = (accounts: readonly string[]) => ReceiptFacts | Promise<ReceiptFacts>;

/** What `fileSink` is told about the receipt of its file. */
interface ReceiptSettings<T> {
  readonly encode?: Encoding<T> | undefined;
  readonly receipt: boolean | ReceiptMaker;
  readonly clock: Pick<Clock, 'now'>;
}

/** The rows of a file so far, and whose they are. */
type RowState = Pick<ReceiptRows, 'count' | 'digest'> & Pick<Receipt, 'accounts'>;

/** The rows of a file while it is written: how many, and for its receipt which. */
export class FileRows<T> {
  /** Counts the items on their way to the encoder. */
  readonly operator: Operator<T, T>;
  readonly #path: string;
  readonly #settings: ReceiptSettings<T>;
  readonly #form: RowForm<T> | null;
  #count = 0;
  #digest = new RowDigest();
  #accounts = new Set<string>();

  constructor(path: string, settings: ReceiptSettings<T>) {
    const { receipt, encode } = settings;
    this.#path = path;
    this.#settings = settings;
    this.#form = receipt === false || encode === undefined ? null : (encoders(encode)[0].rows ?? null);
    if (receipt !== false && this.#form === null)
      throw new ConfigurationError(
        'invalid_option',
        `${path} cannot have a receipt: its rows are counted as they are encoded. Set encode to toNdjson(), toCsv(), toJsonArray() or toParquet(), with toGzip() after it if you like, or remove receipt.`,
      );
    this.operator = defineOperator<T, T>({
      name: 'rows',
      settings: { receipt: receipt !== false },
      begin: (state) => this.#begin(state),
    });
  }

  /** Rows of the file. */
  get count(): number {
    return this.#count;
  }

  /** The receipt of the complete file; null when it gets none. */
  async receipt(bytes: NonNullable<Receipt['bytes']>, read: ReadFacts | null): Promise<Receipt | null> {
    if (this.#form === null) return null;
    const { receipt, clock } = this.#settings;
    const { format, fields, csv } = this.#form;
    const rows = { ...this.#digest.result(), format, fields, ...(csv === undefined ? {} : { csv }) };
    const accounts = [...this.#accounts].sort();
    const facts = await (typeof receipt === 'function'
      ? receipt(accounts)
      : read === null
        ? { ...unknownSource, accounts }
        : factsOfRead(read, accounts, clock.now()));
    return receiptOf(this.#path, facts, { rows, bytes, writtenAt: new Date(clock.now()).toISOString() });
  }

  #begin(state: unknown) {
    const form = this.#form;
    if (form === null) {
      this.#count = typeof state === 'number' ? state : 0;
      return {
        take: (batch: readonly T[]) => {
          this.#count += batch.length;
          return batch;
        },
        save: () => this.#count,
      };
    }
    const before = state as RowState | null;
    this.#digest = new RowDigest(before ?? undefined);
    this.#accounts = new Set(before?.accounts);
    this.#count = before?.count ?? 0;
    return {
      take: each<T, T>((item, out) => {
        this.#digest.add(form.text(item));
        const account: unknown =
          typeof item === 'object' && item !== null && 'acct_id' in item ? item.acct_id : null;
        if (typeof account === 'string') this.#accounts.add(account);
        this.#count += 1;
        out.push(item);
      }),
      save: (): RowState => ({ ...this.#digest.result(), accounts: [...this.#accounts].sort() }),
    };
  }
}
