import { CallsError, type Client } from '@call-attribution/core';
import { day, type Period, parseNaive, periodOf } from '@call-attribution/core/time';
import type { Filter } from '@call-attribution/query-dsl';
import { inPeriod, withExtensions } from './filter.ts';

// Whether the calls of an account begin within the time that is asked: a number of them is no number
// of the whole time then.

/** All calls of a period, whatever else is asked of them. */
const allOfPeriod = (period: Period, version: 'v2' | 'v3'): Filter =>
  withExtensions(inPeriod({ clauses: [] }, period), version);

/**
 * Is a call of a period, of which all were read, the first one of the account? It is asked for only
 * where the call is a day or more after the period begins.
 */
export async function isFirstCall(
  first: string | null,
  { from }: Period,
  version: 'v2' | 'v3',
  count: (filter: Filter) => Promise<{ readonly total: number }>,
): Promise<boolean> {
  if (first === null || from === null) return from === null;
  if (parseNaive(first) - from < day) return false;
  try {
    return (await count(allOfPeriod(periodOf(null, from), version))).total === 0;
  } catch (error) {
    // It is only said beside the numbers, which are known.
    if (error instanceof CallsError) return false;
    throw error;
  }
}

/** That the calls begin within the period of a filter, as a sentence; none where they do not. */
export async function firstCallSaid(
  client: Client,
  filter: Filter,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { selectedBy } = await import('@call-attribution/questions/filter');
  const { from } = selectedBy(filter).period;
  if (from === null) return [];
  const later = allOfPeriod(periodOf(from, null), client.version);
  try {
    const { records } = await client.listCalls({ rows: 2, filter: later, signal });
    const [one, other] = records.map(({ date_added }) => date_added);
    // Of a server that lists the newest first, the first one is not known.
    if (one === undefined || (other !== undefined && other < one)) return [];
    const count = (of: Filter) => client.countCalls({ filter: of, signal });
    if (!(await isFirstCall(one, periodOf(from, null), client.version, count))) return [];
    const { firstCallSentence } = await import('@call-attribution/questions');
    return [firstCallSentence(one)];
  } catch (error) {
    if (error instanceof CallsError) return [];
    throw error;
  }
}
