import type { Call, RequestOptions } from '@call-attribution/core';
import type { SeenRecords } from './seen-records.ts';
import type { SyncChange, SyncClient, SyncStep } from './sync-change.ts';
import type { SyncSettings } from './sync-options.ts';

const atOnce = 4;
const stepSize = 100;

/** Reads open records of some times again, one by one. */
export async function* recheck(
  client: SyncClient,
  memory: SeenRecords,
  {
    isIn,
    leavesOut,
  }: { readonly isIn: (date: string) => boolean; readonly leavesOut: (call: Call) => boolean },
  { maxRechecks, signal, onError, timeout, retry, headers }: SyncSettings,
): AsyncGenerator<Pick<SyncStep, 'changes' | 'gone' | 'skipped'>, void, void> {
  const request = { timeout, retry, headers, signal };
  const open = memory.openIn(isIn).slice(0, maxRechecks);
  for (let i = 0; i < open.length; i += stepSize) {
    const changes: SyncChange[] = [];
    let gone = 0;
    let skipped = 0;
    for (let j = i; j < Math.min(open.length, i + stepSize); j += atOnce) {
      const sids = open.slice(j, Math.min(j + atOnce, i + stepSize));
      const found = await Promise.all(
        sids.map(async (sid) => ({ sid, call: await getOrNull(client, sid, request, onError !== 'fail') })),
      );
      for (const { sid, call } of found) {
        // It stays open, so that the next run reads it again.
        if (call === 'unreadable') {
          skipped += 1;
          continue;
        }
        if (call !== null && !leavesOut(call)) changes.push(await memory.meet(call, true));
        else memory.forgetOne(sid);
        if (call === null) gone += 1;
      }
    }
    yield { changes, gone, skipped };
  }
}

/** Codes of the client's errors for a response that is there, but is not a record. */
const unreadable: ReadonlySet<string> = new Set(['invalid_record', 'invalid_json', 'unexpected_shape']);

async function getOrNull(
  client: SyncClient,
  sid: string,
  request: RequestOptions,
  maySkip: boolean,
): Promise<Call | null | 'unreadable'> {
  try {
    return await client.getCall(sid, request);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'not_found') return null;
    if (maySkip && unreadable.has(code)) return 'unreadable';
    throw error;
  }
}
