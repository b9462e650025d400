import type { Version } from '@call-attribution/core';
import { day, formatNaive, parseNaive } from '@call-attribution/core/time';
import { count } from './notes.ts';

// The first sentences of each result. Each takes what a tool found out and says it.

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

/** Says that some accounts could not be asked; empty when all were. */
export const withoutSentence = (accounts: readonly string[]): string =>
  accounts.length === 0
    ? ''
    : `INCOMPLETE: ${accounts.join(' and ')} could not be read; the numbers are of the others.`;
