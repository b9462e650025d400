import { count, counted } from './notes.ts';

// The first sentence of each result. Each takes what a tool found out and says it.

const calls = (value: number): string => counted(value, 'call', 'calls');

/** What `list_calls` says about a page. */
export interface ListFacts {
  readonly shown: number;
  /** Number of the first row in the whole list, from 1. */
  readonly first: number;
  readonly total: number | undefined;
  readonly cursor: string | undefined;
  /** There was a page before this one. */
  readonly isLaterPage: boolean;
}

/** Says which rows of how many a page has, and how to get more. */
export function listSummary({ shown, first, total, cursor, isLaterPage }: ListFacts): string {
  if (shown === 0) {
    if (total === undefined && isLaterPage) return 'No more rows: the previous page was the last.';
    return total === undefined || total === 0
      ? 'No calls match. Try a wider from/to.'
      : `No rows here: the list has ${calls(total)} and ends before this page.`;
  }
  const of = total === undefined ? 'an unknown number of calls' : calls(total);
  const rows = `Rows ${count(first)}-${count(first + shown - 1)} of ${of}`;
  if (cursor === undefined) return `${rows}; these are the last.`;
  return `${rows}; ${total === undefined ? 'there may be ' : ''}more with cursor=${cursor}`;
}

/** Says that the list changed between two pages. */
export function changedNote(before: number, now: number): string {
  return `The list changed while paging (${calls(before)} before, ${count(now)} now): rows may be repeated or missing. Start again for an exact list.`;
}

const countSources: Readonly<Record<string, string>> = {
  count: 'the count request of the API',
  'content-range': 'the Content-Range header of a one-row list',
};

/** Says how many calls a filter matches, and where the number comes from. */
export function countSummary(total: number, filter: string, source: string): string {
  const where = filter === '' ? 'in total' : `for ${filter}`;
  return `${calls(total)} ${where}, from ${countSources[source] ?? source}.`;
}

/** What stopped `summarize_calls` before the end of the list. */
export type Stop =
  | { readonly by: 'rows'; readonly rows: number }
  | { readonly by: 'time'; readonly ms: number };

/** How much of a list was read. */
export interface Coverage {
  readonly read: number;
  readonly total: number | null;
  /** Rows that came more than once. */
  readonly repeated: number;
  readonly complete: boolean;
  readonly stop: Stop | undefined;
}

/** Says how many calls the numbers of a summary cover. */
export function coverageSummary({ read, total, complete, stop }: Coverage): string {
  if (complete) return read === 0 ? 'No calls match.' : `Read all ${calls(read)}.`;
  const of = total === null ? '' : ` of ${count(total)}`;
  const why =
    stop === undefined
      ? 'the list changed while it was read'
      : `stopped by the limit of ${stop.by === 'rows' ? calls(stop.rows) : `${Math.round(stop.ms / 1000)} seconds`}`;
  return `INCOMPLETE: read only ${count(read)}${of} calls, ${why}. The numbers below are for those; narrow from/to for exact ones.`;
}

/** Says that rows came more than once. */
export function repeatedNotes(repeated: number): string[] {
  return repeated === 0
    ? []
    : [`${count(repeated)} repeated rows were counted once: the list changed while it was read.`];
}

/** What `summarize_calls` says about its groups. */
export interface GroupFacts {
  readonly groups: number;
  readonly shown: number;
  /** Groups that the limit allows. */
  readonly allowed: number;
  /** Calls in all groups, and in those that are not shown. */
  readonly calls: number;
  readonly otherCalls: number;
}

/** Says how many groups there are and what the hidden ones hold. */
export function groupsSummary({ groups, shown, allowed, calls: all, otherCalls }: GroupFacts): string {
  if (groups === 0) return '';
  const total = counted(groups, 'group', 'groups');
  if (shown === groups) return `${total}, all shown.`;
  const share = Math.round((otherCalls / all) * 100);
  const more = shown < allowed ? 'More do not fit: narrow the question.' : 'A higher limit shows more.';
  return `${total}; the ${shown} largest are shown, the others have ${calls(otherCalls)} (${share}%). ${more}`;
}

/** Says which SMS numbers a page has. */
export function smsSummary(shown: number, first: number, total: number, cursor: string | undefined): string {
  const all = counted(total, 'SMS number', 'SMS numbers');
  if (shown === total) return `${all}.`;
  const rows = `Rows ${count(first)}-${count(first + shown - 1)} of ${all}`;
  return cursor === undefined ? rows : `${rows}; more with cursor=${cursor}`;
}
