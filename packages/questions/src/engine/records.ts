import type { Call } from '@call-attribution/core';
import { isCallExtension } from '@call-attribution/core/record';
import type { ColumnBatch } from '../fields/batch.ts';

/** The calls of a question: any iterable of records or of columns, asynchronous or not. */
export type Calls = AsyncIterable<Call | ColumnBatch> | Iterable<Call | ColumnBatch>;

/** Are these columns, and not a record? */
export function isColumns(item: Call | ColumnBatch): item is ColumnBatch {
  const { columns, length } = item as Partial<ColumnBatch>;
  return typeof columns === 'object' && columns !== null && typeof length === 'number';
}

/** Most records that are looked at together. */
const mostRecords = 1000;

/** Makes columns of records, which come one by one. */
export class Records {
  readonly #fields: readonly string[];
  readonly #take: (calls: ColumnBatch, account: string) => void;
  readonly #waiting = new Map<string, Call[]>();

  constructor(fields: readonly string[], take: (calls: ColumnBatch, account: string) => void) {
    this.#fields = fields;
    this.#take = take;
  }

  add(call: Call, account: string): void {
    const calls = this.#waiting.get(account) ?? [];
    if (calls.push(call) === 1) this.#waiting.set(account, calls);
    if (calls.length === mostRecords) this.flush();
  }

  /** Passes on what waits. */
  flush(): void {
    for (const [account, calls] of this.#waiting) {
      // In the order of times those of one time are in the order of their ids, as in a store.
      this.#take(columnsOf(calls, ['sid', ...this.#fields]), account);
    }
    this.#waiting.clear();
  }
}

/** Some fields of records as columns. */
export function columnsOf(calls: readonly Call[], fields: readonly string[]): ColumnBatch {
  const records = calls as unknown as Readonly<Record<string, unknown>>[];
  const columns = Object.fromEntries(
    fields.map((name) => [
      name,
      name === 'is_extension'
        ? records.map(isCallExtension)
        : records.map((record) => record[name]),
    ]),
  );
  return { length: calls.length, columns };
}
