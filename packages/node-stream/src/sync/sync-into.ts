import type { SyncOptions, SyncSummary } from './sync-options.ts';
import type { UpsertSink } from './sync-state.ts';
import { type SyncClient, syncSteps } from './sync-steps.ts';

/** Brings a store up to date: new and changed records and the state go into it together, page by page. */
export async function syncInto(
  client: SyncClient,
  sink: UpsertSink,
  options: SyncOptions = {},
): Promise<SyncSummary> {
  const counts = { new: 0, changed: 0, same: 0 };
  let summary: SyncSummary = { ...counts, rechecked: 0, gone: 0, pending: 0, watermark: null };
  for await (const { changes, state, gone, isRecheck } of syncSteps(client, await sink.load(), options)) {
    for (const { kind } of changes) counts[kind] += 1;
    await sink.commit({
      calls: changes.filter(({ kind }) => kind !== 'same').map(({ call }) => call),
      state,
    });
    summary = {
      ...counts,
      rechecked: summary.rechecked + (isRecheck ? changes.length + gone : 0),
      gone: summary.gone + gone,
      pending: state.pending.length,
      watermark: state.watermark,
    };
  }
  return summary;
}
