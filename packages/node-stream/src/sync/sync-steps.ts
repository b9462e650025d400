import { createHash } from 'node:crypto';
import {
  type Call,
  type Client,
  isFinalStatus,
  isTooDeep,
  type RequestOptions,
} from '@call-attribution/core';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import type { Filter } from '@call-attribution/query-dsl';
import { windowQuery } from '../query/window-query.ts';
import { createCallStream } from '../source/call-stream.ts';
import type { Verdict } from '../source/verdict.ts';
import type { MovingPeriod, SyncSettings } from './sync-options.ts';
import { checkState, queryOfState, type SeenRecord, type SyncState } from './sync-state.ts';

/** The part of core's client that a sync uses. */
export type SyncClient = Pick<Client, 'version' | 'fetchPage' | 'getCall'>;

/** What a sync found out about one record. */
export interface SyncChange {
  /** `same`: it was seen before with the same contents. */
  readonly kind: 'new' | 'changed' | 'same';
  /** The record as it is now. */
  readonly call: Call;
  /** The record as it was, when `recall` returns it. */
  readonly before?: Call;
}

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
  options: SyncSettings,
  compares = false,
): AsyncGenerator<SyncStep, void, void> {
  const { period, settle } = options;
  const base = windowQuery(options.filter, client.version);
  const { query, about } = queryOfState(base, client.version, period?.name);
  const state = loaded === null ? null : checkState(loaded, query, about);
  const lookback = lookbackOf(client, options);
  const ceiling = options.clock.now() + ahead;
  const memory = new SeenRecords(state, options, compares);
  const interrupted = state?.run ?? null;
  const watermark = state?.watermark ?? null;
  const from = interrupted ? interrupted.from : beginOf(watermark, lookback, period);
  const to = (interrupted ? interrupted.to : period?.to) ?? null;
  const resumedAt = interrupted && (interrupted.resumedAt ?? interrupted.latest);
  let latest = interrupted ? interrupted.latest : watermark;
  const { rows, prefetch, window, signal, timeout, retry, headers, onProgress, onError, clock } = options;
  const stream = createCallStream(client, {
    ...{ rows, prefetch, window, signal, timeout, retry, headers, onProgress, onError, clock },
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
function lookbackOf(client: SyncClient, { lookback, settle, isFinal }: SyncSettings): number {
  return client.version === 'v2' && isFinal === undefined ? Math.max(lookback, settle) : lookback;
}

/** Reads open records from before the lookback again, one by one. */
async function* recheck(
  client: SyncClient,
  memory: SeenRecords,
  from: string | null,
  { maxRechecks, signal, onError, timeout, retry, headers }: SyncSettings,
  state: () => SyncState,
): AsyncGenerator<SyncStep, void, void> {
  const request = { timeout, retry, headers, signal };
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

/** What a sync remembers of records, to tell which are new, changed or the same. */
class SeenRecords {
  readonly #seen: Map<string, SeenRecord>;
  readonly #pending: Map<string, SeenRecord>;
  readonly #ignored: ReadonlySet<string>;
  readonly #options: SyncSettings;
  readonly #compares: boolean;

  /** @param compares somebody else compares the records: only open ones are remembered, and without their contents. */
  constructor(state: SyncState | null, options: SyncSettings, compares: boolean) {
    this.#compares = compares;
    this.#seen = new Map(compares ? [] : state?.seen.map((record) => [record[0], record]));
    this.#pending = new Map(state?.pending.map((record) => [record[0], record]));
    this.#ignored = new Set(options.ignore);
    this.#options = options;
  }

  /** Says what a record is, and remembers it. `recheck`: it is from before the lookback, where only open ones are kept. */
  async meet(call: Call, recheck: boolean): Promise<SyncChange> {
    const { isFinal = ({ ppc_status }) => isFinalStatus(ppc_status), recall } = this.#options;
    const known = this.#seen.get(call.sid) ?? this.#pending.get(call.sid);
    const hash = this.#compares ? '' : contentHash(call, this.#ignored);
    const record: SeenRecord = [call.sid, call.date_added, hash];
    if (!recheck && !this.#compares) this.#seen.set(call.sid, record);
    this.#pending.delete(call.sid);
    if (!isFinal(call)) this.#pending.set(call.sid, record);
    if (known === undefined || this.#compares) return { kind: 'new', call };
    if (known[2] === record[2]) return { kind: 'same', call };
    const before = (await recall?.(call.sid)) ?? null;
    return before === null ? { kind: 'changed', call } : { kind: 'changed', call, before };
  }

  /** Forgets records from before these times; open ones are kept longer. Naive times sort as strings. */
  forget(seenBefore: string, pendingBefore: string): void {
    for (const [sid, [, date]] of this.#seen) if (date < seenBefore) this.#seen.delete(sid);
    for (const [sid, [, date]] of this.#pending) if (date < pendingBefore) this.#pending.delete(sid);
  }

  /** Forgets a record that the server no longer has. */
  forgetOne(sid: string): void {
    this.#pending.delete(sid);
  }

  /** Open records from before a time, which a read of the lookback does not find. */
  openBefore(time: string): string[] {
    return [...this.#pending.values()].filter(([, date]) => date < time).map(([sid]) => sid);
  }

  /** What goes into the state. */
  toState(): Pick<SyncState, 'seen' | 'pending'> {
    return { seen: [...this.#seen.values()], pending: [...this.#pending.values()] };
  }
}

/** The fields of a record in order of their names, without those to ignore, each with the start of its entry. */
interface HashPlan {
  readonly names: readonly string[];
  readonly ignored: ReadonlySet<string>;
  readonly entries: readonly { readonly name: string; readonly start: string }[];
}

/** A server sends all its records with the same names in the same order, so they are sorted once. */
let lastPlan: HashPlan = { names: [], ignored: new Set(), entries: [] };

/** A hash of the contents of a record, whatever the order of its fields. */
function contentHash(call: Call, ignored: ReadonlySet<string>): string {
  const names = Object.keys(call);
  const isSame =
    names.length === lastPlan.names.length && names.every((name, i) => name === lastPlan.names[i]);
  if (!isSame || lastPlan.ignored !== ignored) {
    const kept = names.filter((name) => !ignored.has(name)).sort((a, b) => (a < b ? -1 : 1));
    const entries = kept.map((name, i) => ({
      name,
      start: `${i === 0 ? '' : ','}[${JSON.stringify(name)},`,
    }));
    lastPlan = { names, ignored, entries };
  }
  const record = call as unknown as Readonly<Record<string, unknown>>;
  let text = '[';
  for (const { name, start } of lastPlan.entries)
    text += `${start}${isTooDeep(record[name]) ? '"nested too deep"' : (JSON.stringify(record[name]) ?? 'null')}]`;
  return createHash('sha256').update(`${text}]`).digest('base64url').slice(0, 16);
}
