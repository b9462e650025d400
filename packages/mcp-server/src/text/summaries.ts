import type { Version } from '@call-attribution/core';
import { day, formatNaive, parseNaive } from '@call-attribution/core/time';
import { count, counted } from './notes.ts';

// The first sentences of each result. Each takes what a tool found out and says it.

const calls = (value: number): string => counted(value, 'call', 'calls');

/** Which calls a number is about. */
export interface Scope {
  readonly from: string | null;
  readonly to: string | null;
  readonly kind: 'website' | 'extensions' | 'all';
  readonly version: Version;
  /** Conditions besides the period and the kind. */
  readonly isNarrowed: boolean;
}

const adjectives = { website: 'website ', extensions: 'call-extension ', all: '' };

/** The first sentence of every answer: how many calls of which kind and period, as of when, and what is left out. */
export function scopeSentence(
  total: number,
  { from, to, kind, version, isNarrowed }: Scope,
  { extensionsLeftOut, asOf }: { readonly extensionsLeftOut: number | null; readonly asOf: string },
): string {
  const noun = `${count(total)} ${adjectives[kind]}${total === 1 ? 'call' : 'calls'}`;
  const both = kind === 'all' && version === 'v3' ? ', call extensions included' : '';
  const left = kind !== 'website' || version === 'v2' ? '' : leftOut(extensionsLeftOut);
  return `${noun}${isNarrowed ? ' match' : ''} ${periodText(from, to)}${both}${left}${asOf === '' ? '' : `, as of ${minuteOf(asOf)}`}.`;
}

function leftOut(extensions: number | null): string {
  if (extensions === null) return ' (call extensions left out; calls="all" adds them)';
  return extensions === 0
    ? ''
    : ` (${count(extensions)} through call extensions left out; calls="all" adds them)`;
}

/** An instant, as short as an answer needs it. */
export const minuteOf = (instant: string): string => `${instant.slice(0, 16).replace('T', ' ')} UTC`;

/** A period as people say it: the last day is included. */
export function periodText(from: string | null, to: string | null): string {
  const isDay = (time: string): boolean => time.endsWith(' 00:00:00');
  if (from === null && to === null) return 'of all time';
  if (from !== null && to !== null && isDay(from) && isDay(to)) {
    const last = formatNaive(parseNaive(to) - day).slice(0, 10);
    return last === from.slice(0, 10) ? `on ${last}` : `from ${from.slice(0, 10)} to ${last}`;
  }
  const start = from === null ? '' : `from ${from.replace(/ 00:00:00$/, '')}`;
  let end = 'on';
  if (to !== null)
    end = isDay(to) ? `to ${formatNaive(parseNaive(to) - day).slice(0, 10)}` : `until before ${to}`;
  return `${start} ${end}`.trim();
}

/** What `list_calls` says about a page. */
export interface ListFacts {
  readonly shown: number;
  /** Number of the first row in the whole list, from 1. */
  readonly first: number;
  readonly total: number | undefined;
  readonly cursor: string | undefined;
}

/** Says which rows of how many a page has, and how to get more. */
export function listSummary({ shown, first, total, cursor }: ListFacts): string {
  if (shown === 0) {
    return total === undefined || total === 0
      ? 'No calls match.'
      : `No rows here: the list has ${calls(total)} and ends before this page.`;
  }
  const of =
    total === undefined
      ? ' of the newest calls (older ones are still loaded, so nobody knows how many there are)'
      : '';
  const rows = `Rows ${count(first)}-${count(first + shown - 1)}${of}`;
  if (cursor === undefined) return `${rows}; these are the last.`;
  return `${rows}; more with cursor=${cursor}`;
}

/** Says that the list changed between two pages. */
export function changedNote(before: number, now: number): string {
  return `The list changed while paging (${calls(before)} before, ${count(now)} now): rows may be repeated or missing. Start again for an exact list.`;
}

/** Says that some accounts could not be asked; empty when all were. */
export const withoutSentence = (accounts: readonly string[]): string =>
  accounts.length === 0
    ? ''
    : `INCOMPLETE: ${accounts.join(' and ')} could not be read; the numbers are of the others.`;

/** What `analyze_calls` says about its groups. */
export interface GroupFacts {
  readonly groups: number;
  readonly shown: number;
  /** Groups that the answer has, before the budget cut it. */
  readonly allowed: number;
  /** Calls in all groups, and in those that are not shown; null when nobody counted them. */
  readonly calls: number;
  readonly otherCalls: number | null;
  /** Groups that `having` and `top_per` leave out. */
  readonly having: number;
  readonly topPer: number;
}

/** Says how many groups there are and what the hidden ones hold. */
export function groupsSummary(facts: GroupFacts): string {
  const { groups, shown, allowed, calls: all, otherCalls, having, topPer } = facts;
  if (groups === 0) return '';
  const total = counted(groups, 'group', 'groups');
  if (shown === groups) return `${total}, all shown.`;
  const met = groups - having - topPer;
  const meets = groups - having === 1 ? 'meets' : 'meet';
  const parts = [
    ...(having > 0 ? [`${count(groups - having)} ${meets} having`] : []),
    ...(topPer > 0 ? [`top_per leaves out ${count(topPer)}`] : []),
    ...(shown < met ? [`the first ${count(shown)} are shown`] : []),
  ];
  const share =
    otherCalls === null || all === 0
      ? ''
      : `, the others have ${calls(otherCalls)} (${Math.round((otherCalls / all) * 100)}%)`;
  let more = '';
  if (shown < allowed) more = ' More do not fit: narrow the question.';
  else if (shown < met) more = ' A higher limit shows more.';
  return `${total}; ${parts.join(', ')}${share}.${more}`;
}

/** Says how many SMS numbers there are, how many take text messages, and which of them a page has. */
export function smsSummary(
  { shown, first, total, enabled }: { shown: number; first: number; total: number; enabled: number },
  cursor: string | undefined,
): string {
  let which = `${count(enabled)} of which ${enabled === 1 ? 'takes' : 'take'}`;
  if (enabled === total) which = total === 1 ? 'which takes' : 'all of which take';
  const all = `${counted(total, 'number', 'numbers')}, ${which} text messages`;
  if (shown === total) return `${all}.`;
  const rows = `Rows ${count(first)}-${count(first + shown - 1)} of ${all}`;
  return cursor === undefined ? rows : `${rows}; more with cursor=${cursor}`;
}
