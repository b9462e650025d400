import { createHash } from 'node:crypto';
import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { isTooDeep } from '@call-attribution/core/record';
import { parseNaive } from '@call-attribution/core/time';
import type { PageClient } from '../call-source.ts';
import type { Range } from '../proof.ts';
import { deliveredOf, missingOf, type Verdict } from '../verdict.ts';
import { verdictOfState } from './copy-verdict.ts';
import {
  mayChange,
  type SyncCallsOptions,
  type SyncOptions,
  type SyncSettings,
  syncSettings,
} from './plan.ts';
import { nothingRead, SyncRun } from './run.ts';
import { checkState, partsOf, type SeenRecord, type SyncState, type UpsertSink } from './state.ts';

/**
 * What a sync did, and what it leaves: the verdict over all that the copy has been asked for, in
 * this run or an earlier one.
 */
export interface SyncSummary extends Verdict {
  /** Calls seen for the first time. */
  readonly new: number;
  /** Calls whose contents changed. */
  readonly changed: number;
  /** Calls that the copy had with the same contents. */
  readonly same: number;
  /** Calls of the server, as far as they were counted. */
  readonly calls: number;
  /** Those of them that are known to be missing. */
  readonly missing: number;
  /** Calls whose status is not final, and which are not too old to be read again. */
  readonly pending: number;
  /**
   * Records that could not be parsed: left out, or passed to `onError` as bytes. A later run tries
   * again.
   */
  readonly skipped: number;
  /** The latest `date_added` seen; the next run begins a lookback before it. */
  readonly latest: string | null;
}

/** What a sync found out about one call. */
export interface SyncChange {
  /** `same`: it was seen before with the same contents. */
  readonly kind: 'new' | 'changed' | 'same';
  /** The call as it is now. */
  readonly call: Call;
}

/**
 * Brings a store up to date. Calls are committed together with the state, page by page.
 *
 * @example
 * const summary = await syncInto(client, mirrorSink(store, 'mine'), { lookback: '3d' });
 */
export async function syncInto(
  client: PageClient,
  sink: UpsertSink,
  options: SyncOptions = {},
): Promise<SyncSummary> {
  const settings = syncSettings(options, client.version);
  if (typeof Object(sink).load !== 'function' || typeof Object(sink).commit !== 'function')
    throw new ConfigurationError(
      'invalid_option',
      'The second argument of syncInto is no sink, which has load and commit. A store becomes one with mirrorSink(store, account); syncAccount(client, store) does all of it.',
    );

  let met = 0;
  let added = 0;
  let changed = 0;
  let skipped = 0;
  let state = nothingRead;
  const run = new SyncRun(client, await sink.load(), settings);
  const batches = run.batches();
  let refused = 0;
  try {
    for (let next = await batches.next(); !next.done; next = await batches.next(refused)) {
      const batch = next.value;
      const calls = batch.calls.filter((call) => !sink.leavesOut?.(call));
      const outcome = await sink.commit({ ...batch, calls });
      refused = outcome.refused ?? 0;
      met += calls.length - refused;
      added += outcome.added;
      changed += outcome.changed;
      skipped += batch.skipped;
      state = refused > 0 ? batch.stateWithout(refused) : batch.state;
    }
  } finally {
    await batches.return();
  }

  const verdict = verdictOfState(state);
  const missing = missingOf(verdict);
  const latest = state.parts.flatMap((part) => part.latest ?? []).sort();
  return {
    new: added,
    changed,
    same: met - added - changed,
    skipped,
    calls: deliveredOf(verdict) + missing,
    missing,
    pending: pendingOf(state, settings),
    latest: latest.at(-1) ?? null,
    ...verdict,
  };
}

/**
 * Calls that are not final. Those of several filters are partly the same: what counts is the part
 * with the most.
 */
function pendingOf(state: SyncState, { settle }: SyncSettings): number {
  const counts = partsOf(state).map(({ stretches, latest }) => {
    const from = latest === null ? -Infinity : latest - settle;
    const young = stretches.filter(({ to }) => to === null || to > from);
    return young.reduce((sum, { open = 0 }) => sum + open, 0);
  });
  return Math.max(0, ...counts);
}

/**
 * Yields what is new and what has changed since the last run, by `sid` and contents. The state is
 * saved when the consumer asks for the next change, so that changes it had not handled before a
 * crash come again. It remembers calls that it will read again by its plan; where it finds that
 * others have changed their number, calls near them may come as new once more.
 *
 * @example
 * for await (const { kind, call } of syncCalls(client, { state: memoryState() })) {
 *   if (kind !== 'same') await save(call);
 * }
 */
export async function* syncCalls(
  client: PageClient,
  options: SyncCallsOptions,
): AsyncGenerator<SyncChange, void, void> {
  const { state: store } = options;
  const settings = syncSettings(options, client.version);
  if (typeof Object(store).load !== 'function' || typeof Object(store).save !== 'function')
    throw new ConfigurationError(
      'invalid_option',
      'The option state of syncCalls is where a state is kept, which has load and save, such as memoryState().',
    );

  const loaded = await store.load();
  let seen = new Map(
    (loaded === null ? [] : (checkState(loaded).seen ?? [])).map((one) => [one[0], one]),
  );
  for await (const { calls, state } of new SyncRun(client, loaded, settings).batches()) {
    for (const call of calls) {
      const known = seen.get(call.sid);
      const record: SeenRecord = [call.sid, call.date_added, contentHash(call)];
      seen.set(call.sid, record);
      if (known === undefined) yield { kind: 'new', call };
      else yield { kind: known[2] === record[2] ? 'same' : 'changed', call };
    }
    const kept = keptRanges(state, settings);
    const isKept = (date: string): boolean => {
      const at = parseNaive(date);
      return kept.some(
        ({ from, to }) => !(from !== null && at < from) && !(to !== null && at > to),
      );
    };
    seen = new Map([...seen].filter(([, [, date]]) => isKept(date)));
    await store.save({ ...state, seen: [...seen.values()] });
  }
}

/** Where calls will be read again, or come again with what lies next to them. */
const keptRanges = (state: SyncState, settings: SyncSettings): Range[] =>
  partsOf(state).flatMap(({ stretches, latest }) =>
    stretches.flatMap((one, i): Range[] => {
      if (mayChange(one, latest, settings)) return [one];
      const { from, to } = one;
      return [
        ...(from === null || stretches[i - 1]?.to === from ? [] : [{ from, to: from }]),
        ...(to === null || stretches[i + 1]?.from === to ? [] : [{ from: to, to }]),
      ];
    }),
  );

/** A hash of the contents of a call, whatever the order of its fields. */
function contentHash(call: Call): string {
  const entries = Object.entries(call)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => [name, isTooDeep(value) ? 'nested too deep' : value]);
  return createHash('sha256').update(JSON.stringify(entries)).digest('base64url').slice(0, 16);
}
