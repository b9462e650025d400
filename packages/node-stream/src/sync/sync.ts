import { createTracing, type TraceContext } from '@call-attribution/core/tracing';
import { checkClient } from '../source/options.ts';
import { type Proof, proofOf, type VerdictReason } from '../source/verdict.ts';
import {
  checkSink,
  type SyncCallsOptions,
  type SyncOptions,
  type SyncSettings,
  syncCallsOptions,
  syncOptions,
} from './sync-options.ts';
import type { StateStore, UpsertSink } from './sync-state.ts';
import { type SyncChange, type SyncClient, syncSteps } from './sync-steps.ts';

/** The message of the tracing channels `tracing:call-attribution:sync:*`: one run of `syncInto` or `syncCalls`. */
export interface SyncTrace extends TraceContext {
  /** The client whose calls are synced. */
  readonly client: SyncClient;
  /** Which of them runs. */
  readonly function: 'syncInto' | 'syncCalls';
  /** What `syncInto` did, once it has ended without an error. */
  summary?: SyncSummary;
}

/** What a sync did. */
export interface SyncSummary {
  /** Records seen for the first time. */
  readonly new: number;
  /** Records whose contents changed. */
  readonly changed: number;
  /** Records seen before with the same contents. */
  readonly same: number;
  /** Records older than the lookback that were read again one by one. */
  readonly rechecked: number;
  /** Those of them that the server no longer has. */
  readonly gone: number;
  /** Records whose status is not final. */
  readonly pending: number;
  /** Records that could not be parsed: left out, or passed to `onError` as bytes. A later run that meets them tries again. */
  readonly skipped: number;
  /**
   * What was proved of the range that the run read, as in a `Verdict`. Calls that came late into a part that had been read
   * make it `short`; the next run finds them while they lie within its lookback.
   */
  readonly proof: Proof;
  /** Why it is not `whole`; empty when it is. */
  readonly reasons: readonly VerdictReason[];
  /** The latest `date_added` seen; the next run begins a lookback before it. */
  readonly watermark: string | null;
}

const tracing = createTracing<SyncTrace>('sync');

/**
 * Yields what is new and what has changed since the last run, by `sid` and contents. The state is saved when the consumer
 * asks for the next change, so that changes it had not handled before a crash come again.
 *
 * @example
 * for await (const { kind, call } of syncCalls(client, { state: fileState('state.json') })) {
 *   if (kind !== 'same') await save(call);
 * }
 */
export async function* syncCalls(
  client: SyncClient,
  options: SyncCallsOptions,
): AsyncGenerator<SyncChange, void, void> {
  checkClient(client);
  const { state, ...settings } = syncCallsOptions.read(options);
  const changes = changesOf(client, settings, state);
  if (!tracing.isActive()) {
    yield* changes;
    return;
  }
  const trace = tracing.begin({ client, function: 'syncCalls' });
  try {
    // A generator runs in the context of whoever asks for the next change, so each step is put into that of the trace.
    const next = () => trace.run(() => changes.next());
    for (let step = await next(); step.done !== true; step = await next()) yield step.value;
  } catch (error) {
    trace.end({ error });
    throw error;
  } finally {
    await trace.run(() => changes.return());
    trace.end();
  }
}

async function* changesOf(
  client: SyncClient,
  settings: SyncSettings,
  state: StateStore,
): AsyncGenerator<SyncChange, void, void> {
  const unlock = await state.lock?.();
  try {
    for await (const step of syncSteps(client, await state.load(), settings)) {
      yield* step.changes;
      await state.save(step.state);
    }
  } finally {
    await unlock?.();
  }
}

/**
 * Brings a store up to date. New and changed records are committed together with the state, page by page.
 *
 * @example
 * const summary = await syncInto(client, mirrorSink(store, 'mine'), { lookback: '3d' });
 */
export async function syncInto(
  client: SyncClient,
  sink: UpsertSink,
  options: SyncOptions = {},
): Promise<SyncSummary> {
  checkClient(client);
  checkSink(sink);
  const settings = syncOptions.read(options);
  return tracing.run(
    () => ({ client, function: 'syncInto' }),
    () => bringUpToDate(client, sink, settings),
    (context, outcome) => {
      if ('value' in outcome) context.summary = outcome.value;
    },
  );
}

async function bringUpToDate(
  client: SyncClient,
  sink: UpsertSink,
  settings: SyncSettings,
): Promise<SyncSummary> {
  // A sink that compares records cannot know which fields to ignore.
  const compares = sink.compares === true && settings.ignore.length === 0;
  const counts = { new: 0, changed: 0, same: 0 };
  let met = 0;
  let summary: SyncSummary = {
    ...counts,
    rechecked: 0,
    gone: 0,
    pending: 0,
    skipped: 0,
    proof: 'whole',
    reasons: [],
    watermark: null,
  };
  for await (const step of syncSteps(client, await sink.load(), settings, compares)) {
    const { changes, state, gone, skipped, isRecheck, verdict } = step;
    // A run that resumes another one reads twice: what was not proved in either is not proved.
    const reasons = [...summary.reasons, ...(verdict?.reasons ?? [])];
    const calls = changes.filter(({ kind }) => kind !== 'same').map(({ call }) => call);
    const outcome = await sink.commit({ calls, state });
    if (outcome) {
      met += changes.length - (outcome.refused ?? 0);
      counts.new += outcome.added;
      counts.changed += outcome.changed;
      counts.same = met - counts.new - counts.changed;
    } else for (const { kind } of changes) counts[kind] += 1;
    summary = {
      ...counts,
      rechecked: summary.rechecked + (isRecheck ? changes.length + gone : 0),
      gone: summary.gone + gone,
      pending: state.pending.length,
      skipped: summary.skipped + skipped,
      proof: proofOf(reasons),
      reasons,
      watermark: state.watermark,
    };
  }
  return summary;
}
