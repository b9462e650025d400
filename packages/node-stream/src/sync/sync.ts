import type { Call } from '@call-attribution/core';
import { createTracing, type TraceContext } from '@call-attribution/core/tracing';
import { checkClient } from '../calls/options.ts';
import { type CopyVerdict, verdictOfState } from './copy-verdict.ts';
import type { SyncChange, SyncClient } from './sync-change.ts';
import {
  checkSink,
  type SyncCallsOptions,
  type SyncOptions,
  type SyncSettings,
  syncCallsOptions,
  syncOptions,
} from './sync-options.ts';
import type { StateStore, SyncState, UpsertSink } from './sync-state.ts';
import { syncSteps } from './sync-steps.ts';

/** The message of the tracing channels `tracing:call-attribution:sync:*`: one run of `syncInto` or `syncCalls`. */
export interface SyncTrace extends TraceContext {
  /** The client whose calls are synced. */
  readonly client: SyncClient;
  /** Which of them runs. */
  readonly function: 'syncInto' | 'syncCalls';
  /** What `syncInto` did, once it has ended without an error. */
  summary?: SyncSummary;
}

/** What a sync did, and what it leaves: the verdict over all that the copy has been asked for, in this run or an earlier one. */
export interface SyncSummary extends CopyVerdict {
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
  /** The latest `date_added` seen; the next run begins a lookback before it. */
  readonly latest: string | null;
}

const tracing = createTracing<SyncTrace>('sync');

/**
 * Yields what is new and what has changed since the last run, by `sid` and contents. The state is saved when the consumer
 * asks for the next change, so that changes it had not handled before a crash come again.
 *
 * @example
 * for await (const { kind, call } of syncCalls(client, { state: memoryState() })) {
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
  let rechecked = 0;
  let gone = 0;
  let skipped = 0;
  let last: SyncState | null = null;
  const loaded = await sink.load();
  const leavesOut = (call: Call): boolean => sink.leavesOut?.(call) ?? false;
  for await (const step of syncSteps(client, loaded, settings, { compares, leavesOut })) {
    const { changes, state, isLast, stage } = step;
    const calls = changes.filter(({ kind }) => kind !== 'same').map(({ call }) => call);
    const outcome = await sink.commit({ calls, state, isLast, stage });
    if (outcome) {
      met += changes.length - (outcome.refused ?? 0);
      counts.new += outcome.added;
      counts.changed += outcome.changed;
      counts.same = met - counts.new - counts.changed;
    } else for (const { kind } of changes) counts[kind] += 1;
    rechecked += step.isRecheck ? changes.length + step.gone : 0;
    gone += step.gone;
    skipped += step.skipped;
    last = state;
  }
  const state = last ?? { version: 1, parts: [], seen: [], pending: [] };
  const latest =
    state.parts
      .flatMap((part) => part.latest ?? [])
      .sort()
      .at(-1) ?? null;
  return {
    ...counts,
    rechecked,
    gone,
    skipped,
    pending: state.pending.length,
    latest,
    ...verdictOfState(state),
  };
}
