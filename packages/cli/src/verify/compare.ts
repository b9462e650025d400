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
import type { ApiCheck, Difference, Finding } from './check.ts';

/** A call on either side: when it was added and its session ID, where it has them, and its text in one form. */
export interface Row {
  readonly at: string | null;
  readonly sid: string | null;
  readonly text: string;
}

/** Is a time in the range? What has no time is only in a range without ends. */
function isWithin(at: string | null, { from, to }: TimeSlice): boolean {
  if (from === null && to === null) return true;
  return at !== null && (from === null || at >= from) && (to === null || at < to);
}

/** What two ranges have in common. Where that is nothing, its end is not after its start. */
export function commonSlice(one: TimeSlice, other: TimeSlice): TimeSlice {
  const starts = [one.from, other.from].filter((from) => from !== null).sort();
  const ends = [one.to, other.to].filter((to) => to !== null).sort();
  return { from: starts.at(-1) ?? null, to: ends[0] ?? null };
}

/** The calls that are here, until the API gives them. */
export class Rows {
  readonly #rows = new Map<string, { readonly at: string | null; readonly text: string; times: number }>();
  /** The first and the last time of a call. */
  first: string | null = null;
  last: string | null = null;

  add({ at, sid, text: row }: Row): void {
    const text = hash('sha256', row, 'base64');
    // Without a session ID a call is recognized by what it says.
    const key = sid ?? text;
    const known = this.#rows.get(key);
    if (known === undefined) this.#rows.set(key, { at, text, times: 1 });
    else known.times += 1;
    if (at === null) return;
    if (this.first === null || at < this.first) this.first = at;
    if (this.last === null || at > this.last) this.last = at;
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
export interface Comparison {
  readonly account: string | null;
  readonly client: Client;
  readonly filter: Filter;
  /** Only calls of this period are compared. */
  readonly period: TimeSlice;
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
export async function compareWithApi(
  { account, client, filter, period, here, rowOf, mayLackExtensions, removed, isOneOfSeveral }: Comparison,
  io: Io,
): Promise<{ readonly api: readonly ApiCheck[]; readonly findings: readonly Finding[] }> {
  const { line, onProgress } = watch(io, account === null ? 'the API' : `the API, account ${account}`);
  // What was purged is not there on purpose, and a call from before that was stored since is no fault either.
  const compared = commonSlice(period, { from: removed?.purgedBefore ?? null, to: null });
  const [missing, extra, changed] = [new Group('missing'), new Group('extra'), new Group('changed')];
  const lacking = new Group('missing');
  let [calls, erased, purged] = [0, 0, 0];
  let hasExtensions = false;
  const { stream, verdict } = readCalls(client, {
    filter: withinRange(filter, period),
    onProgress,
    onError: 'skip',
    signal: io.signal,
  });
  try {
    for await (const call of stream) {
      const row = rowOf(call);
      if (removed?.isErased(call.ani) === true) erased += 1;
      else if (!isWithin(row.at, compared)) purged += 1;
      else {
        calls += 1;
        const found = here.take(row);
        const isExtension = mayLackExtensions && isCallExtension(call);
        if (found === 'missing') (isExtension ? lacking : missing).add(row.at, row.sid ?? '', 1);
        else hasExtensions ||= isExtension;
        if (found === 'changed') changed.add(row.at, row.sid ?? '', 1);
      }
    }
  } catch (error) {
    if (!isOneOfSeveral || !CallsError.is(error) || error.kind !== 'keys') throw error;
    const text = `the API could not be asked: ${error.summary.replace(/\.$/, '')}`;
    return { api: [], findings: [{ code: 'api_not_whole', text }] };
  } finally {
    line.close();
  }
  for (const { at, sid, times } of here.rest()) if (isWithin(at, compared)) extra.add(at, sid, times);
  const ended = await verdict;
  const findings: Finding[] = [];
  if (ended.proof !== 'whole') {
    const text = `the API could not be read whole: ${verdictText(ended)}`;
    findings.push({ code: 'api_not_whole', text });
  }
  for (const group of [missing, ...(hasExtensions ? [lacking] : []), extra, changed])
    findings.push(...group.findings());
  return { api: [{ account, calls, proof: ended.proof, erased, purged, to: period.to }], findings };
}

const mostSids = 20;

/** Calls of one kind of difference. */
class Group {
  readonly #kind: Difference['kind'];
  readonly #sids: string[] = [];
  #calls = 0;
  #from: string | null = null;
  #to: string | null = null;

  constructor(kind: Difference['kind']) {
    this.#kind = kind;
  }

  add(at: string | null, sid: string, times: number): void {
    this.#calls += times;
    if (at !== null && (this.#from === null || at < this.#from)) this.#from = at;
    if (at !== null && (this.#to === null || at > this.#to)) this.#to = at;
    if (this.#sids.length < mostSids && /^[\w.-]{1,64}$/.test(sid)) this.#sids.push(sid);
  }

  findings(): Finding[] {
    const [calls, from, to] = [this.#calls, this.#from, this.#to];
    if (calls === 0) return [];
    const what = {
      missing: `${plural(calls, 'call is', 'calls are')} missing here`,
      extra: `${plural(calls, 'call')} more here than in the API`,
      changed: `${plural(calls, 'call')} with other contents here than in the API`,
    }[this.#kind];
    let when = from === to ? `of ${from}` : `of ${from} to ${to}`;
    if (from === null) when = 'without a date';
    const difference = { kind: this.#kind, calls, from, to, sids: this.#sids };
    return [{ code: 'api', text: `${what}, ${when}`, difference }];
  }
}
