import { hash } from 'node:crypto';
import type { Call, Client } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import { isCallExtension } from '@call-attribution/core/record';
import {
  everything,
  intersect,
  isIn,
  type Period,
  parseNaive,
  periodOf,
  second,
  textOf,
} from '@call-attribution/core/time';
import { describe } from '@call-attribution/node-stream';
import type { Receipt } from '@call-attribution/node-stream/receipts';
import type { Filter } from '@call-attribution/query-dsl';
import type { Settings } from '@call-attribution/settings';
import { ClosedPipe, Interrupted, UsageError } from '../errors.ts';
import { explain } from '../failures.ts';
import { inPeriod } from '../input/filter.ts';
import { readCalls, type Watch } from '../input/verdict.ts';
import type { Surroundings } from '../stores/open.ts';
import { plural } from '../terminal/numbers.ts';

/** What a command asks to be verified, and what it has found. */
export interface Ask {
  /** Of the configuration file. */
  readonly settings: Settings;
  readonly from: Surroundings;
  readonly signal: AbortSignal;
  /** A line of progress, with this label, and what updates it. */
  readonly watch: Watch;
  readonly againstApi: boolean;
  /** The period that is compared. */
  readonly period: Period;
  /** The API of an account; of the one that was chosen, or of the settings, for null. */
  api(account: string | null): Promise<Client>;
  readonly checks: Check[];
}

/** Calls of the API and of a thing that are not the same. */
export interface Difference {
  readonly kind: 'missing' | 'extra' | 'changed';
  calls: number;
  /** `date_added` of the first and of the last of them; null where they have none. */
  from: string | null;
  to: string | null;
  /** The first session IDs. */
  readonly sids: string[];
}

/** After these nothing proves that a thing is whole; after the others something is wrong. */
const doubts = ['no_receipt', 'not_whole', 'api_not_whole', 'not_comparable'] as const;
const faults = [
  'no_file',
  'misplaced',
  'receipt_invalid',
  'unreadable',
  'bytes',
  'rows',
  'contents',
  'unread',
  'left',
  'api',
] as const;

/**
 * One thing that is wrong, as a code for programs and a sentence for people. It never holds what
 * callers said or who they are.
 */
export interface Finding {
  readonly code: (typeof doubts | typeof faults)[number];
  readonly text: string;
  readonly difference?: Difference;
}

/** What is found about a file, or about an account in a store. */
export interface Check {
  readonly path: string;
  /** Rows that were read and counted; null when nothing could be read. */
  rows: number | null;
  /** Of an account in a store: which, and what was removed from it on purpose. */
  readonly stored: {
    readonly account: string;
    readonly erasedCallers: number;
    readonly purgedBefore: string | null;
  } | null;
  /** Of a file: when its receipt was written, and what was proved of the read. */
  readonly receipt: { readonly writtenAt: string; readonly proof: string | null } | null;
  /** What was compared with the API. */
  readonly api: {
    readonly account: string | null;
    /** Calls that the API gave and that were compared. */
    readonly calls: number;
    readonly proof: NonNullable<Receipt['verdict']>['proof'];
    /** Calls of erased callers, and calls from before a purge, which the API still has. */
    readonly erased: number;
    readonly purged: number;
    /** What was compared ends here; null at the end of the API. */
    readonly to: string | null;
  }[];
  /** Which calls it has only, where a copy was filled with a filter, in words. */
  only: string | null;
  readonly findings: Finding[];
}

/** Something of which nothing is known yet. */
export const begin = (path: string, about: Partial<Check> = {}): Check => ({
  path,
  rows: null,
  stored: null,
  receipt: null,
  api: [],
  only: null,
  findings: [],
  ...about,
});

/**
 * `proved`: it is what was read, and that was everything. `unproven`: nothing proves that this is everything. `counted`: there is nothing
 * to compare it with, and nothing is wrong.
 */
export function verdictOf({ findings, receipt, stored, api }: Check) {
  if (findings.some(({ code }) => faults.some((fault) => fault === code))) return 'differs';
  if (findings.length > 0) return 'unproven';
  return receipt === null && stored === null && api.length === 0 ? 'counted' : 'proved';
}

/**
 * Verifies a thing; one that cannot be read does not stop the others. What is not its fault, but
 * that of its server or of how the command was typed, ends the command.
 */
export async function attempt(path: string, work: () => Promise<unknown>, ask: Ask): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (ask.signal.aborted) throw new Interrupted();
    if (error instanceof ClosedPipe || error instanceof UsageError) throw error;
    const isEmpty = CallsError.is(error, 'store_missing');
    if (CallsError.is(error) && !isEmpty && ['usage', 'keys', 'away', 'busy'].includes(error.kind))
      throw error;
    const text = `it cannot be read: ${explain(error).message}`;
    ask.checks.push(begin(path, { findings: [{ code: 'unreadable', text }] }));
  }
}

/**
 * A call on either side: when it was added and its session ID, where it has them, and its text in
 * one form.
 */
export interface Row {
  readonly at: string | null;
  readonly sid: string | null;
  readonly text: string;
}

/** Calls that the API should have. */
export interface Part {
  readonly filter: Filter;
  readonly period: Period;
}

/** The first and the last of some times, as they are shown; null where there are none. */
interface Ends {
  from: string | null;
  to: string | null;
}

function extend(ends: Ends, at: string | null): void {
  if (at === null) return;
  if (ends.from === null || at < ends.from) ends.from = at;
  if (ends.to === null || at > ends.to) ends.to = at;
}

/** Does a call belong to a period? One whose time is none belongs to it as one without a time. */
function isOf(period: Period, at: string | null): boolean {
  const time = parseNaive(at);
  return isIn(period, Number.isNaN(time) ? null : time);
}

/** The calls that are here, until the API gives them. */
export class Rows {
  readonly #ends: Ends = { from: null, to: null };
  readonly #rows = new Map<
    string,
    { readonly at: string | null; readonly text: string; times: number }
  >();

  add({ at, sid, text: row }: Row): void {
    const text = hash('sha256', row, 'base64');

    // Without a session ID a call is recognized by what it says.
    const key = sid ?? text;
    const known = this.#rows.get(key);
    if (known === undefined) this.#rows.set(key, { at, text, times: 1 });
    else known.times += 1;
    extend(this.#ends, at);
  }

  /** From the first of them to the last; of all of time where none has a time. */
  get period(): Period {
    const { from, to } = this.#ends;
    return from === null || to === null
      ? everything
      : periodOf(parseNaive(from), parseNaive(to) + second);
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
  readonly removed: {
    isErased(caller: unknown): boolean;
    readonly purgedBefore: string | null;
  } | null;
  /** Refused keys concern this account alone. */
  readonly isOneOfSeveral: boolean;
}

/**
 * Reads the calls of a period from the API, once, and compares them with those here, call by call.
 */
export async function compareWithApi(
  check: Check,
  comparison: Comparison,
  { signal, watch }: Pick<Ask, 'signal' | 'watch'>,
): Promise<void> {
  const { account, client, filter, period, here, rowOf, mayLackExtensions, removed } = comparison;
  const { line, onProgress } = watch(account === null ? 'the API' : `the API, account ${account}`);

  // What was purged is not there on purpose, and a call from before that was stored since is no
  // fault either.
  const purgedBefore = removed?.purgedBefore ?? null;
  const compared =
    purgedBefore === null ? period : intersect(period, periodOf(parseNaive(purgedBefore), null));
  const isCompared = (at: string | null): boolean => compared !== null && isOf(compared, at);

  const group = (kind: Difference['kind']): Difference => ({
    kind,
    calls: 0,
    from: null,
    to: null,
    sids: [],
  });

  const missing = group('missing');
  const lacking = group('missing');
  const extra = group('extra');
  const changed = group('changed');
  let calls = 0;
  let erased = 0;
  let purged = 0;
  let hasExtensions = false;
  const options = { filter: inPeriod(filter, period), onProgress, signal };
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
      text: `the API could not be read whole: ${describe({ ...ended, only: [] }).text}`,
    });

  for (const difference of [missing, ...(hasExtensions ? [lacking] : []), extra, changed])
    if (difference.calls > 0)
      check.findings.push({ code: 'api', text: sentenceOf(difference), difference });

  check.api.push({ account, calls, proof: ended.proof, erased, purged, to: textOf(period).to });
}

function add(group: Difference, { at, sid }: Pick<Row, 'at' | 'sid'>, times = 1): void {
  group.calls += times;
  extend(group, at);
  if (group.sids.length < 20 && sid !== null && /^[\w.-]{1,64}$/.test(sid)) group.sids.push(sid);
}

function sentenceOf({ kind, calls, from, to }: Difference): string {
  const what = {
    missing: `${plural(calls, 'call is', 'calls are')} missing here`,
    extra: `${plural(calls, 'call')} more here than in the API`,
    changed: `${plural(calls, 'call')} with other contents here than in the API`,
  }[kind];
  if (from === null) return `${what}, without a date`;
  return from === to ? `${what}, of ${from}` : `${what}, of ${from} to ${to}`;
}
