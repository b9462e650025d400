import type { Client } from '@call-attribution/core';
import { formatNaive, hour, parseNaive } from '@call-attribution/core/time';
import { sliceFilter, type TimeSlice } from '@call-attribution/node-stream';
import type { Receipt } from '@call-attribution/node-stream/receipts';
import type { PlannedJob } from '../job.ts';

/** A month of an account, as one file. */
export interface Month extends TimeSlice {
  /** `2026-10`. */
  readonly name: string;
  /** The filter of its calls. */
  readonly filter: string;
}

const monthOf = (time: string): string => time.slice(0, 7);

function nextMonth(name: string): string {
  const [year = 0, month = 0] = name.split('-').map(Number);
  return month === 12 ? `${year + 1}-01` : `${name.slice(0, 4)}-${String(month + 1).padStart(2, '0')}`;
}

const beginOf = (name: string): string => `${name}-01 00:00:00`;

/** The months of a job, from that of the first call on. */
export function monthsOf(job: PlannedJob, first: string, now: number): Month[] {
  // In some zone it is later already.
  const end = job.until === null ? formatNaive(now + 14 * hour) : formatNaive(parseNaive(job.until) - 1000);
  const begin = job.from === null ? first : monthOf(job.from);
  const months: Month[] = [];
  for (let name = begin; name <= monthOf(end); name = nextMonth(name)) {
    const from = later(beginOf(name), job.from);
    const to = sooner(beginOf(nextMonth(name)), job.until);
    months.push({ name, from, to, filter: sliceFilter(job.filter, { from, to }, 'half-open', job.version) });
  }
  return months;
}

const later = (time: string, other: string | null): string => (other !== null && other > time ? other : time);
const sooner = (time: string, other: string | null): string =>
  other !== null && other < time ? other : time;

/** The month of the first call; that of today when there is none. */
export async function firstMonth(
  client: Client,
  filter: string,
  now: number,
  signal: AbortSignal,
): Promise<string> {
  const { records } = await client.listCalls({ filter, rows: 1, signal });
  const [first] = records;
  const time = first?.date_added ?? '';
  return Number.isNaN(parseNaive(time)) ? monthOf(formatNaive(now)) : monthOf(time);
}

/** What decides whether a month is read. */
export interface DueOptions {
  /** When the round began, in milliseconds since 1970: what was written since is not written again. */
  readonly round: number;
  readonly settle: number;
}

/** Whether the file of a month is missing, was about something else, is not whole, or may have changed since it was written. */
export function isDue(month: Month, receipt: Receipt | undefined, { round, settle }: DueOptions): boolean {
  if (receipt === undefined || receipt.filter !== month.filter) return true;
  if (Date.parse(receipt.writtenAt) >= round) return false;
  if (receipt.verdict?.proof !== 'whole') return true;
  return Date.parse(receipt.writtenAt) < parseNaive(month.to ?? '') + settle;
}

/** The name of the file of a month, from the folder or prefix of the job. */
export const monthPath = (account: string, month: string, { format }: Pick<PlannedJob, 'format'>): string =>
  `account=${account}/month=${month}.${format ?? 'parquet'}`;

/** The month in the name of a file; null for any other name. */
export function monthIn(
  path: string,
  account: string,
  { format }: Pick<PlannedJob, 'format'>,
): string | null {
  const [, month = null] = /^account=[^/]+\/month=(\d{4}-\d{2})\./.exec(path) ?? [];
  return month !== null && path === monthPath(account, month, { format }) ? month : null;
}

/** The file that says which job a folder or prefix belongs to. */
export const markPath = '_fleet.json';

/** What the mark says: the name of a job. Null when it says nothing that can be read. */
export function readMark(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    const isMark =
      typeof value === 'object' && value !== null && 'job' in value && typeof value.job === 'string';
    return isMark ? String(value.job) : null;
  } catch {
    return null;
  }
}

/** The text of a mark. */
export const markOf = (job: string): string => `${JSON.stringify({ job })}\n`;
