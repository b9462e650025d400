import { hostname } from 'node:os';
import { fromCall } from '@call-attribution/core/record';
import type { SyncState, UpsertSink } from '@call-attribution/node-stream';
import {
  isNothing,
  isRemovalsLine,
  joinRemovals,
  nothingRemoved,
  parseRemovals,
  printRemovals,
  type Removals,
} from '@call-attribution/node-stream/copies';
import { createByteLineReader } from '@call-attribution/node-stream/files';
import type { Claim } from './accounts/claims.ts';
import { StoreError } from './database/errors.ts';
import type { NumericFilter } from './rows/selection.ts';
import type { Stored } from './rows/write.ts';
import type { Store } from './store.ts';

/**
 * A sink by which `syncInto` writes into an account of a store. Calls are written page by page. The state of the sync is written in
 * the transaction of a page once the calls since the last time outweigh its open records, and at the end of a run: it costs less
 * than the calls, however many are open. A sync that was killed reads again what came after the last state, which changes nothing.
 *
 * Of two syncs of one account only the one that started later goes on; the other one fails with `claim_lost`. The account must
 * exist.
 *
 * @param holder who syncs, for that error. Default: the name of the machine and the id of the process.
 * @example
 * await syncInto(client, mirrorSink(store, '101'), { filter: 'inc_gce:1' });
 */
export function mirrorSink(
  store: Store,
  account: string,
  holder = `process ${process.pid} on ${hostname()}`,
): UpsertSink {
  let claim: Claim | undefined;
  let sinceState = 0;
  let removals: Removals | undefined;
  const claimed = async () => {
    claim ??= await store.claim(account, 'sync', holder);
    return claim;
  };
  return {
    compares: true,
    async load() {
      claim = undefined;
      sinceState = 0;
      const { note } = await claimed();
      removals = await store.removals(account);
      return note as SyncState | null;
    },
    leavesOut: (call) => removals?.isRemoved(call) ?? false,
    async commit({ calls, state, isLast }) {
      sinceState += calls.length;
      const isDue = isLast || sinceState * openPerCall >= state.pending.length;
      const stored = await store.commitClaimed(await claimed(), isDue ? { calls, note: state } : { calls });
      if (isDue) sinceState = 0;
      return stored;
    },
  };
}

/** Open records of a state that may be written for each call: an open record takes about a twentieth of the bytes of a call. */
const openPerCall = 4;

/** How records are written in a file. `neutral` has the fields of both versions. */
export type RecordForm = 'neutral' | 'v2' | 'v3';

/**
 * Reads NDJSON into an account: neutral calls, v3 records or v2 records, also mixed. What was erased or purged where the file was written,
 * which its first line says, is left out here as well, now and later. Stops at the first line that is not a call and throws an error with
 * its number; the lines before it are stored.
 *
 * @example
 * await importCalls(store, '101', createReadStream('calls.ndjson'));
 */
export async function importCalls(
  store: Store,
  account: string,
  source: AsyncIterable<Uint8Array | string>,
): Promise<Stored> {
  let number = 0;
  let isGiven = false;
  async function* records(): AsyncGenerator<Buffer> {
    let found: Buffer[] = [];
    const reader = createByteLineReader((line) => found.push(line));
    async function* each(): AsyncGenerator<Buffer> {
      const some = found;
      found = [];
      for (const bytes of some) {
        number += 1;
        const isFirst = number === 1 && bytes.indexOf(byteOrderMark) === 0;
        const line = isFirst ? bytes.subarray(byteOrderMark.length) : bytes;
        if (isRemovalsLine(line)) await takeOver(store, account, number, line);
        else if (!isBlank(line)) {
          isGiven = true;
          yield line;
          isGiven = false;
        }
      }
    }
    for await (const chunk of source) {
      reader.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      yield* each();
    }
    reader.end();
    yield* each();
  }
  try {
    return await store.load(account, records());
  } catch (error) {
    if (!isGiven || !(error instanceof StoreError) || error.code !== 'unfit_record') throw error;
    throw new StoreError(
      'unfit_record',
      `Line ${number}: ${error.message} Fix or remove it and import again.`,
    );
  }
}

async function takeOver(store: Store, account: string, number: number, line: Buffer): Promise<void> {
  const notes = parseRemovals(line.toString());
  if (notes === null)
    throw new StoreError(
      'unfit_record',
      `Line ${number} does not say in a known form what was erased where the file was written. Write the file again.`,
    );
  await store.addRemovals(account, [...notes.values()].reduce(joinRemovals, nothingRemoved));
}

/** What some editors and spreadsheets write at the beginning of a file. */
const byteOrderMark = Buffer.from('\uFEFF');

const isBlank = (line: Buffer): boolean => line[0] !== 0x7b && line.toString().trim() === '';

/**
 * Yields the calls of an account as lines of NDJSON, in order. When callers were erased or calls purged, the first line says so, with
 * keyed hashes of the numbers: whoever imports the lines leaves these calls out, too.
 *
 * @example
 * await writeWholeFile('calls.ndjson', exportCalls(store, '101', { form: 'v3' }));
 */
export async function* exportCalls(
  store: Store,
  account: string,
  options: { form?: RecordForm; selection?: NumericFilter } = {},
): AsyncGenerator<string> {
  const { form = 'neutral', selection } = options;
  const { note } = await store.removals(account);
  if (!isNothing(note)) yield `${printRemovals({ [account]: note })}\n`;
  for await (const call of store.calls(account, selection)) {
    yield `${JSON.stringify(form === 'neutral' ? call : fromCall(call, form))}\n`;
  }
}
