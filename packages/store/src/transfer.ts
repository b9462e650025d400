import { type Call, fromCall, toCall } from '@call-attribution/core';
import { readLines, type SyncState, type UpsertSink } from '@call-attribution/node-stream';
import { StoreError } from './database/errors.ts';
import type { Selection } from './rows/selection.ts';
import type { Stored } from './rows/write.ts';
import type { Store } from './store.ts';

/**
 * A sink by which `syncInto` writes into an account of a store. Calls and the state of the sync are written in one
 * transaction. The account must exist.
 *
 * @param onCommit called after each transaction with what became of its calls.
 * @example
 * await syncInto(client, mirrorSink(store, '101'), { filter: 'inc_gce:1' });
 */
export function mirrorSink(
  store: Store,
  account: string,
  onCommit: (stored: Stored) => void = () => {},
): UpsertSink {
  return {
    load: async () => (await store.syncState(account)) as SyncState | null,
    async commit(batch) {
      onCommit(await store.commitSync(account, batch));
    },
  };
}

/** How records are written in a file. `neutral` has the fields of both versions. */
export type RecordForm = 'neutral' | 'v2' | 'v3';

/**
 * Reads NDJSON into an account: neutral calls, v3 records or v2 records, also mixed. Stops at the first line that is not a call
 * and throws an error with its number; the lines before it are stored.
 *
 * @example
 * await importCalls(store, '101', createReadStream('calls.ndjson'));
 */
export function importCalls(
  store: Store,
  account: string,
  source: AsyncIterable<Uint8Array | string>,
): Promise<Stored> {
  return store.load(account, callsOf(source));
}

/**
 * Yields the calls of an account as lines of NDJSON, in order.
 *
 * @example
 * await writeWholeFile('calls.ndjson', exportCalls(store, '101', { form: 'v3' }));
 */
export async function* exportCalls(
  store: Store,
  account: string,
  options: { form?: RecordForm; selection?: Selection } = {},
): AsyncGenerator<string> {
  const { form = 'neutral', selection } = options;
  for await (const call of store.calls(account, selection)) {
    yield `${JSON.stringify(form === 'neutral' ? call : fromCall(call, form))}\n`;
  }
}

async function* callsOf(source: AsyncIterable<Uint8Array | string>): AsyncGenerator<Call> {
  let number = 0;
  for await (const line of readLines(source)) {
    number += 1;
    if (line.trim() !== '') yield callOf(line, number);
  }
}

function callOf(line: string, number: number): Call {
  try {
    const record: unknown = JSON.parse(line);
    const isV2 = typeof record === 'object' && record !== null && Object.hasOwn(record, 'baseuri');
    return toCall(record, isV2 ? 'v2' : 'v3', { records: 'off' });
  } catch {
    // The cause may quote the line, and with it a caller's data.
    throw new StoreError(
      'unfit_record',
      `Line ${number} is not the JSON of a call. Fix or remove it and import again.`,
    );
  }
}
