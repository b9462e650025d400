import type { Call, Client } from '@call-attribution/core';
import type { TimeSlice } from '@call-attribution/node-stream';
import type { Filter } from '@call-attribution/query-dsl';
import { Interrupted } from '../errors.ts';
import type { Io } from '../io.ts';
import { withinRange } from '../reading/filter.ts';
import { readCalls, verdictText, watch } from '../reading/verdict.ts';
import { plural } from '../term/numbers.ts';
import type { ApiCheck, Difference, Finding } from './finding.ts';
import {
  type ComparedRow,
  commonSlice,
  Hours,
  isWithin,
  NamedRows,
  rangesOf,
  unequalHours,
} from './stretches.ts';

/** A side that can be read again. */
export interface Rows {
  /** Gives each row to `take`. */
  read(take: (row: ComparedRow) => void): Promise<void>;
}

/** What is compared with the API. */
export interface Comparison {
  readonly account: string | null;
  readonly client: Client;
  /** The calls of the API, all of which the thing should have. */
  readonly filter: Filter;
  /** The range within which the two are compared. */
  readonly range: TimeSlice;
  /** The text of a call as the thing would have it. */
  readonly textOf: (call: Call) => string;
  readonly here: Rows;
  /** What was removed here on purpose. */
  readonly removed: { isErased(caller: unknown): boolean; readonly purgedBefore: string | null } | null;
}

/** Compares a thing with the API, call by call. */
export async function compareWithApi(
  comparison: Comparison,
  io: Io,
): Promise<{ readonly check: ApiCheck; readonly findings: Finding[] }> {
  const { account, range, removed } = comparison;
  const [here, there] = [new Hours(), new Hours()];
  // What was purged is not there on purpose, and a call from before that was stored since is no fault either.
  const compared = commonSlice(range, { from: removed?.purgedBefore ?? null, to: null });
  await comparison.here.read((row) => {
    if (isWithin(row.at, compared)) here.add(row);
  });
  const read = await readApi(comparison, range, io, (row) => {
    if (isWithin(row.at, compared)) there.add(row);
  });
  const findings: Finding[] = [];
  if (read.problem !== null)
    findings.push({ code: 'api_not_whole', text: `the API could not be read whole: ${read.problem}` });
  const hours = unequalHours(here, there);
  if (hours.length > 0)
    findings.push(...(await nameDifferences(comparison, { hours, here, there, compared }, io)));
  const check: ApiCheck = {
    account,
    calls: there.count,
    proof: read.proof,
    erased: read.erased,
    purged: read.calls - there.count,
    to: range.to,
  };
  return { check, findings };
}

/** Reads the calls of the API in a range. Those of erased callers are counted only. */
async function readApi(
  { client, filter, textOf, removed }: Comparison,
  { from, to }: TimeSlice,
  io: Io,
  take: (row: ComparedRow) => void,
) {
  let [erased, calls] = [0, 0];
  const { line, onProgress } = watch(io, 'the API');
  const { stream, verdict } = readCalls(client, {
    filter: withinRange(filter, { from, to }),
    onProgress,
    onError: 'skip',
    signal: io.signal,
  });
  try {
    for await (const call of stream) {
      if (removed?.isErased(call.ani) === true) {
        erased += 1;
        continue;
      }
      calls += 1;
      take({ at: call.date_added ?? null, sid: call.sid ?? null, text: textOf(call) });
    }
  } catch (error) {
    throw io.signal.aborted ? new Interrupted(['nothing was changed']) : error;
  } finally {
    line.close();
  }
  const ended = await verdict;
  return { erased, calls, proof: ended.proof, problem: ended.proof === 'whole' ? null : verdictText(ended) };
}

/** What is looked at once more, row by row. */
interface Unequal {
  readonly hours: readonly string[];
  readonly here: Hours;
  readonly there: Hours;
  readonly compared: TimeSlice;
}

/** Names what differs: which calls are missing, are only here, or were changed, and of when they are. */
async function nameDifferences(
  comparison: Comparison,
  { hours, here, there, compared }: Unequal,
  io: Io,
): Promise<Finding[]> {
  const { ranges, rest } = rangesOf(hours, [here, there]);
  const found: Difference[] = [];
  const local = ranges.map(() => new NamedRows());
  await comparison.here.read((row) => {
    if (row.at === null || !isWithin(row.at, compared)) return;
    const at = ranges.findIndex((range) => isWithin(row.at, range));
    local[at]?.add(row);
  });
  for (const [at, range] of ranges.entries()) {
    const remote = new NamedRows();
    await readApi(comparison, commonSlice(range, compared), io, (row) => remote.add(row));
    found.push(...(local[at]?.differences(remote) ?? []));
  }
  if (rest.length > 0) {
    const calls = Math.max(here.sum(rest).count, there.sum(rest).count);
    const [first = '', last = first] = [rest.find((hour) => hour !== ''), rest.at(-1)];
    const time = (hour: string): string | null => (hour === '' ? null : `${hour}:00:00`);
    found.push({ kind: 'differs', calls, from: time(first), to: time(last), sids: [] });
  }
  return found.map((difference) => ({ code: 'api', text: differenceText(difference), difference }));
}

function differenceText({ kind, calls, from, to }: Difference): string {
  const what = {
    missing: `${plural(calls, 'call is', 'calls are')} missing here`,
    extra: `${plural(calls, 'call')} more here than in the API`,
    changed: `${plural(calls, 'call')} with other contents here than in the API`,
    differs: `${plural(calls, 'call')} of which some are missing, more or changed`,
  }[kind];
  if (from === null) return `${what}, without a date`;
  return from === to ? `${what}, of ${from}` : `${what}, of ${from} to ${to}`;
}
