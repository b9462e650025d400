import { createTracing, type TraceContext } from '@call-attribution/core/tracing';
import { proofOf } from '../source/verdict.ts';
import { checkSyncCalls, checkSyncInto } from './check-sync-options.ts';
import type { SyncChange, SyncOptions, SyncSummary } from './sync-options.ts';
import type { StateStore, UpsertSink } from './sync-state.ts';
import { type SyncClient, syncSteps } from './sync-steps.ts';

/** The message of the tracing channels `tracing:call-attribution:sync:*`: one run of `syncInto` or `syncCalls`. */
export interface SyncTrace extends TraceContext {
  /** Which of them runs. */
  readonly function: 'syncInto' | 'syncCalls';
  /** What `syncInto` did, once it has ended without an error. */
  summary?: SyncSummary;
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
  options: SyncOptions & { state: StateStore },
): AsyncGenerator<SyncChange, void, void> {
  checkSyncCalls(client, options);
  const changes = changesOf(client, options);
  if (!tracing.isActive()) {
    yield* changes;
    return;
  }
  const trace = tracing.begin({ function: 'syncCalls' });
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
  options: SyncOptions & { state: StateStore },
): AsyncGenerator<SyncChange, void, void> {
  const { state, ...rest } = options;
  const unlock = await state.lock?.();
  try {
    for await (const step of syncSteps(client, await state.load(), rest)) {
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
  checkSyncInto(client, sink, options);
  if (!tracing.isActive()) return bringUpToDate(client, sink, options);
  const context: SyncTrace = { function: 'syncInto' };
  return tracing.run(
    context,
    () => bringUpToDate(client, sink, options),
    (outcome) => {
      if ('value' in outcome) context.summary = outcome.value;
    },
  );
}

async function bringUpToDate(
  client: SyncClient,
  sink: UpsertSink,
  options: SyncOptions,
): Promise<SyncSummary> {
  // A sink that compares records cannot know which fields to ignore.
  const compares = sink.compares === true && !options.ignore?.length;
  const counts = { new: 0, changed: 0, same: 0 };
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
  for await (const step of syncSteps(client, await sink.load(), options, compares)) {
    const { changes, state, gone, skipped, isRecheck, verdict } = step;
    // A run that resumes another one reads twice: what was not proved in either is not proved.
    const reasons = [...summary.reasons, ...(verdict?.reasons ?? [])];
    const calls = changes.filter(({ kind }) => kind !== 'same').map(({ call }) => call);
    const outcome = await sink.commit({ calls, state });
    if (compares && outcome) {
      counts.new += outcome.added;
      counts.changed += outcome.changed;
      counts.same += changes.length - outcome.added - outcome.changed;
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
