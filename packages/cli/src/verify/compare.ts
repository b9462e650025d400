import { hash } from 'node:crypto';
import type { Call, Client } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import { isCallExtension } from '@call-attribution/core/record';
import type { TimeSlice } from '@call-attribution/node-stream';
import type { Filter } from '@call-attribution/query-dsl';
import { withinRange } from '../input/filter.ts';
import { readCalls, verdictText, watch } from '../input/verdict.ts';
import type { Io } from '../io.ts';
import { plural } from '../terminal/numbers.ts';
import type { Check, Difference } from './check.ts';

/** A call on either side: when it was added and its session ID, where it has them, and its text in one form. */
export interface Row {
  readonly at: string | null;
  readonly sid: string | null;
  readonly text: string;
}

/** Calls that the API should have. */
export interface Part {
  readonly filter: Filter;
  readonly period: TimeSlice;
}

/** What two ranges have in common. Where that is nothing, its end is not after its start. */
export function commonSlice(one: TimeSlice, other: TimeSlice): TimeSlice {
  const starts = [one.from, other.from].filter((from) => from !== null).sort();
  const ends = [one.to, other.to].filter((to) => to !== null).sort();
  return { from: starts.at(-1) ?? null, to: ends[0] ?? null };
}

/** A stretch from the first to the last of some times. */
type Stretch = { -readonly [End in keyof TimeSlice]: TimeSlice[End] };

function extend(stretch: Stretch, at: string | null): void {
  if (at === null) return;
  if (stretch.from === null || at < stretch.from) stretch.from = at;
  if (stretch.to === null || at > stretch.to) stretch.to = at;
}

/** The calls that are here, until the API gives them. */
export class Rows {
  readonly stretch: Stretch = { from: null, to: null };
  readonly #rows = new Map<string, { readonly at: string | null; readonly text: string; times: number }>();

  add({ at, sid, text: row }: Row): void {
    const text = hash('sha256', row, 'base64');
    // Without a session ID a call is recognized by what it says.
    const key = sid ?? text;
    const known = this.#rows.get(key);
    if (known === undefined) this.#rows.set(key, { at, text, times: 1 });
    else known.times += 1;
    extend(this.stretch, at);
  }

  /** Takes a call of the API out. */
  take({ sid, text: row }: Row): 'same' | 'missing' | 'changed' {
    const text = hash('sha256', row, 'base64');
    const key = sid ?? text;
    const known = this.#rows.get(key);
    if (known === undefined) return 'missing';
    known.times -= 1;
    if (known.times === 0) this.#rows.delete(key);
    return known.text === text ? 'same' : 'changed';
  }

  /** Those that the API has not given. */
  *rest(): Generator<{ readonly at: string | null; readonly sid: string; readonly times: number }> {
    for (const [sid, { at, times }] of this.#rows) yield { at, sid, times };
  }
}

/** What is here, and the calls of the API that should be. */
interface Comparison extends Part {
  readonly account: string | null;
  readonly client: Client;
  readonly here: Rows;
  /** A call of the API as it would be here. */
  rowOf(call: Call): Row;
  /** Calls through call extensions are missing only where some are here. */
  readonly mayLackExtensions: boolean;
  /** What was removed here on purpose. */
  readonly removed: { isErased(caller: unknown): boolean; readonly purgedBefore: string | null } | null;
  /** Refused keys concern this account alone. */
  readonly isOneOfSeveral: boolean;
}

/** Reads the calls of a period from the API, once, and compares them with those here, call by call. */
export async function compareWithApi(check: Check, comparison: Comparison, io: Io): Promise<void> {
  const { account, client, filter, period, here, rowOf, mayLackExtensions, removed } = comparison;
  const { line, onProgress } = watch(io, account === null ? 'the API' : `the API, account ${account}`);
  // What was purged is not there on purpose, and a call from before that was stored since is no fault either.
  const { from, to } = commonSlice(period, { from: removed?.purgedBefore ?? null, to: null });
  // What has no time is only in a range without ends.
  const isCompared = (at: string | null): boolean =>
    at === null ? from === null && to === null : at >= (from ?? at) && (to === null || at < to);
  const group = (kind: Difference['kind']): Difference => ({
    kind,
    calls: 0,
    from: null,
    to: null,
    sids: [],
  });
  const [missing, lacking, extra, changed] = [
    group('missing'),
    group('missing'),
    group('extra'),
    group('changed'),
  ];
  let [calls, erased, purged] = [0, 0, 0];
  let hasExtensions = false;
  const options = { filter: withinRange(filter, period), onProgress, signal: io.signal };
  const { stream, verdict } = readCalls(client, { ...options, onError: 'skip' });
  try {
    for await (const call of stream) {
      const row = rowOf(call);
      if (removed?.isErased(call.ani) === true) erased += 1;
      else if (!isCompared(row.at)) purged += 1;
      else {
        calls += 1;
        const found = here.take(row);
        const isExtension = mayLackExtensions && isCallExtension(call);
        if (found === 'missing') add(isExtension ? lacking : missing, row);
        else hasExtensions ||= isExtension;
        if (found === 'changed') add(changed, row);
      }
    }
  } catch (error) {
    if (!comparison.isOneOfSeveral || !CallsError.is(error) || error.kind !== 'keys') throw error;
    const text = `the API could not be asked: ${error.summary.replace(/\.$/, '')}`;
    check.findings.push({ code: 'api_not_whole', text });
    return;
  } finally {
    line.close();
  }
  for (const row of here.rest()) if (isCompared(row.at)) add(extra, row, row.times);
  const ended = await verdict;
  if (ended.proof !== 'whole')
    check.findings.push({
      code: 'api_not_whole',
      text: `the API could not be read whole: ${verdictText(ended)}`,
    });
  for (const difference of [missing, ...(hasExtensions ? [lacking] : []), extra, changed])
    if (difference.calls > 0) check.findings.push({ code: 'api', text: textOf(difference), difference });
  check.api.push({ account, calls, proof: ended.proof, erased, purged, to: period.to });
}

function add(group: Difference, { at, sid }: Pick<Row, 'at' | 'sid'>, times = 1): void {
  group.calls += times;
  extend(group, at);
  if (group.sids.length < 20 && sid !== null && /^[\w.-]{1,64}$/.test(sid)) group.sids.push(sid);
}

function textOf({ kind, calls, from, to }: Difference): string {
  const what = {
    missing: `${plural(calls, 'call is', 'calls are')} missing here`,
    extra: `${plural(calls, 'call')} more here than in the API`,
    changed: `${plural(calls, 'call')} with other contents here than in the API`,
  }[kind];
  if (from === null) return `${what}, without a date`;
  return from === to ? `${what}, of ${from}` : `${what}, of ${from} to ${to}`;
}
