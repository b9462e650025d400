import type { Call } from '@call-attribution/core';

/** Some fields of some calls, a column each, as `store.columns` gives them: in the order of their times and ids. */
export interface ColumnBatch {
  /** The number of calls. */
  readonly length: number;
  /** The values of each field. */
  readonly columns: Readonly<Record<string, readonly unknown[]>>;
}

/** The calls of a question: any iterable of records or of columns, asynchronous or not. */
export type Calls = AsyncIterable<Call | ColumnBatch> | Iterable<Call | ColumnBatch>;

/** The fields of a call. */
export type CallRecord = Readonly<Record<string, unknown>>;

/** A call as a record of any fields. */
export const recordOf = (call: unknown): CallRecord => call as CallRecord;

/** Passes one call after the other. Of columns it is one object, which `isOrdered` says, with the values of each call in turn. */
export async function eachCall(
  calls: Calls,
  take: (record: CallRecord, isOrdered: boolean) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  const takeItem = (item: Call | ColumnBatch): void => {
    const { columns, length } = recordOf(item) as unknown as ColumnBatch;
    if (typeof columns !== 'object' || columns === null || typeof length !== 'number') {
      take(item as unknown as CallRecord, false);
      return;
    }
    const names = Object.keys(columns);
    const lists = names.map((name) => columns[name] ?? []);
    const record: Record<string, unknown> = {};
    for (let at = 0; at < length; at += 1) {
      for (let i = 0; i < names.length; i += 1) record[names[i] ?? ''] = lists[i]?.[at];
      take(record, true);
    }
  };
  if (Symbol.iterator in calls) {
    let count = 0;
    for (const item of calls) {
      count += 1;
      if (count % 1024 === 0) signal?.throwIfAborted();
      takeItem(item);
    }
  } else
    for await (const item of calls) {
      signal?.throwIfAborted();
      takeItem(item);
    }
}
