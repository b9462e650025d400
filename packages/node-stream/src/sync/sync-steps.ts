import type { Call, Client, RequestOptions } from '@call-attribution/core';
import { durationMillis, formatNaive, parseNaive } from '@call-attribution/core/time';
import type { Filter } from '@call-attribution/query-dsl';
import { windowQuery } from '../query/window-query.ts';
import { requestSettings } from '../slicing/run.ts';
import { createCallStream } from '../source/call-stream.ts';
import type { Verdict } from '../source/verdict.ts';
import { SeenRecords } from './seen-records.ts';
import type { MovingPeriod, SyncChange, SyncOptions } from './sync-options.ts';
import { checkState, queryOfState, type SyncState } from './sync-state.ts';

/** The part of core's client that a sync uses. */
export type SyncClient = Pick<Client, 'version' | 'fetchPage' | 'getCall'>;

/** A part of a sync: what was found, and the state once that was handled. */
export interface SyncStep {
  readonly changes: readonly SyncChange[];
  readonly state: SyncState;
  /** Records that the server no longer has. */
  readonly gone: number;
  /** Records that could not be parsed. */
  readonly skipped: number;
  readonly isRecheck: boolean;
  /** What was proved of the range, with the step that ends it. */
  readonly verdict: Verdict | null;
}

// A time ahead of the clocks of all zones is not the time of a call, and must not move the watermark.
const ahead = 14 * 3600_000;
const atOnce = 4;
const stepSize = 100;

/**
 * Runs a sync step by step. A state holds only once the changes that came with it were handled.
 *
 * @param compares the receiver compares records itself, so all come as `new` and none are remembered.
 */
export async function* syncSteps(
  client: SyncClient,
  loaded: SyncState | null,
  options: SyncOptions,
  compares = false,
): AsyncGenerator<SyncStep, void, void> {
  const { period } = options;
  const base = windowQuery(options.filter, client.version);
  const { query, about } = queryOfState(base, client.version, period?.name);
  const state = loaded === null ? null : checkState(loaded, query, about);
  const settle = durationMillis(options.settle ?? '30d', 'settle');
  const lookback = lookbackOf(client, options, settle);
  const ceiling = (options.now ?? Date.now)() + ahead;
  const memory = new SeenRecords(state, options, compares);
  const interrupted = state?.run ?? null;
  const watermark = state?.watermark ?? null;
  const from = interrupted ? interrupted.from : beginOf(watermark, lookback, period);
  const to = (interrupted ? interrupted.to : period?.to) ?? null;
  const resumedAt = interrupted && (interrupted.resumedAt ?? interrupted.latest);
  let latest = interrupted ? interrupted.latest : watermark;
  const { rows, prefetch, window, signal, timeout, retry, headers, onProgress, onError, now } = options;
  const stream = createCallStream(client, {
    ...{ rows, prefetch, window, signal, timeout, retry, headers, onProgress, onError, now },
    filter: within(base.filter, from, to),
    checkpoint: interrupted?.checkpoint ?? null,
  });
  for await (const page of stream.pages()) {
    const changes: SyncChange[] = [];
    const { records, count } = page;
    for (const call of records) {
      changes.push(await memory.meet(call, false));
      if (call.date_added > (latest ?? '') && parseNaive(call.date_added) < ceiling) latest = call.date_added;
    }
    const newest = resumedAt ?? latest;
    // Without memory of what was seen this is quick, and keeps the state small in a long first run too.
    if ((page.isLast || compares) && newest !== null)
      memory.forget(minus(newest, lookback), minus(newest, settle));
    const run = { from, ...(to === null ? {} : { to }), latest, resumedAt, checkpoint: page.checkpoint };
    yield {
      changes,
      gone: 0,
      skipped: count - records.length,
      isRecheck: false,
      verdict: null,
      state: { version: 1, query, about, watermark, ...memory.toState(), run },
    };
  }
  const done = (): SyncState => {
    return { version: 1, query, about, watermark: resumedAt ?? latest, ...memory.toState(), run: null };
  };
  yield { changes: [], gone: 0, skipped: 0, isRecheck: false, verdict: await stream.verdict, state: done() };
  // Calls that appeared before the position of an interrupted run are found by another one.
  if (interrupted === null) yield* recheck(client, memory, from, options, done);
  else yield* syncSteps(client, done(), options, compares);
}

/**
 * How far back a run begins. In v2 no record says whether it is final (`ppc_status` is a field of v3), so all of them are
 * read again until they are old enough: by range, which takes far fewer requests than one by one.
 */
function lookbackOf(client: SyncClient, options: SyncOptions, settle: number): number {
  const lookback = durationMillis(options.lookback ?? '3d', 'lookback');
  return client.version === 'v2' && options.isFinal === undefined ? Math.max(lookback, settle) : lookback;
}

/** Reads open records from before the lookback again, one by one. */
async function* recheck(
  client: SyncClient,
  memory: SeenRecords,
  from: string | null,
  { maxRechecks = 1000, signal, onError = 'fail', ...rest }: SyncOptions,
  state: () => SyncState,
): AsyncGenerator<SyncStep, void, void> {
  const request = { ...requestSettings(rest), ...(signal === undefined ? {} : { signal }) };
  const open = from === null ? [] : memory.openBefore(from).slice(0, maxRechecks);
  for (let i = 0; i < open.length; i += stepSize) {
    const changes: SyncChange[] = [];
    let gone = 0;
    let skipped = 0;
    for (let j = i; j < Math.min(open.length, i + stepSize); j += atOnce) {
      const sids = open.slice(j, Math.min(j + atOnce, i + stepSize));
      const found = await Promise.all(sids.map((sid) => getOrNull(client, sid, request, onError !== 'fail')));
      for (const [k, call] of found.entries()) {
        // It stays open, so that the next run reads it again.
        if (call === 'unreadable') {
          skipped += 1;
          continue;
        }
        if (call !== null) changes.push(await memory.meet(call, true));
        else memory.forgetOne(sids[k] as string);
        if (call === null) gone += 1;
      }
    }
    yield { changes, gone, skipped, isRecheck: true, verdict: null, state: state() };
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

function within(filter: Filter, from: string | null, to: string | null): Filter {
  if (from === null && to === null) return filter;
  const lower = from === null ? null : { text: from, inclusive: true };
  const upper = to === null ? null : { text: to, inclusive: false };
  return { clauses: [...filter.clauses, { kind: 'range', field: 'date_added', lower, upper }] };
}

/** A run begins a lookback before the latest call seen, within its period, but leaves no gap before it. */
function beginOf(
  watermark: string | null,
  lookback: number,
  period: MovingPeriod | undefined,
): string | null {
  const from = period?.from ?? null;
  if (watermark === null) return from;
  const again = minus(watermark, lookback);
  if (from === null) return again;
  return [again, from < watermark ? from : watermark].sort().at(-1) ?? null;
}

function minus(time: string, millis: number): string {
  return formatNaive(parseNaive(time) - millis);
}
