import { formatNaive, formatOffset, naiveAt, offsetAt } from '@call-attribution/core/time';
import type { ClickIdName } from '@call-attribution/questions';
import type { Consent, ConsentStatus } from '../consent.ts';
import type { ConversionRules } from '../conversion.ts';
import type { LedgerEntry } from '../entry.ts';
import type { SheetColumn } from '../sheet-format.ts';

/** What most tools take; what they find a conversion by, each says itself. */
export const usualAcceptance = {
  onlyExtensions: false,
  needsFinalStatus: true,
  takesValue: true,
  minTalk: '60s',
  minAge: '6h',
  clickWindow: '90d',
} as const;

const clickIdForm = /^[A-Za-z0-9_][\w.|~:-]{2,511}$/;

/** The id that the tool matches by. */
export function clickIdColumn(title: string, name: ClickIdName): SheetColumn {
  return { title, cell: ({ clickIds }) => clickIds[name] ?? null, pattern: clickIdForm };
}

/** The click of a conversion that was uploaded. */
export function adjustedClickColumn(title: string): SheetColumn<LedgerEntry> {
  return { title, cell: ({ click }) => click?.id ?? null, pattern: clickIdForm };
}

/** The name of the conversion action, goal or type. */
export function nameColumn<T extends { readonly name: string }>(title: string): SheetColumn<T> {
  return { title, cell: ({ name }) => name, pattern: /^\S.{0,99}$/u };
}

/** A conversion, or an adjustment of one. */
type Valued = Pick<LedgerEntry, 'value' | 'currency'> & { readonly action?: LedgerEntry['action'] };

/** The value, with two decimals; empty for a conversion that is taken back. */
export function valueColumn<T extends Valued>(title: string): SheetColumn<T> {
  return {
    title,
    cell: ({ action, value }) => (action === 'retract' ? null : (value?.toFixed(2) ?? null)),
    pattern: /^\d+(\.\d{1,6})?$/,
    isOptional: true,
  };
}

/** The currency of the value. */
export function currencyColumn<T extends Valued>(title: string): SheetColumn<T> {
  return {
    title,
    cell: ({ action, currency }) => (action === 'retract' ? null : currency),
    pattern: /^[A-Z]{3}$/,
    isOptional: true,
  };
}

/**
 * What the caller agreed to, as Google asks for it. Left out when the rules say nothing about
 * consent.
 */
export function consentColumns({ consent }: ConversionRules): SheetColumn[] {
  if (consent === undefined) return [];
  const words = { granted: 'Granted', denied: 'Denied', unknown: null };

  const column = (title: string, of: (consent: Consent) => ConsentStatus): SheetColumn => ({
    title,
    cell: ({ consent }) => (consent === null ? null : words[of(consent)]),
    pattern: /^(Granted|Denied)$/,
    isOptional: true,
  });

  return [
    column('Ad User Data', ({ adUserData }) => adUserData),
    column('Ad Personalization', ({ adPersonalization }) => adPersonalization),
  ];
}

/** The session id of the call. */
export function sidColumn<T extends { readonly sid: string }>(title: string): SheetColumn<T> {
  return { title, cell: ({ sid }) => sid, pattern: /^\S{1,100}$/ };
}

/** The same word in every row. */
export function constantColumn<T>(title: string, word: string): SheetColumn<T> {
  return { title, cell: () => word, pattern: new RegExp(`^${word}$`) };
}

/** A column that the tool knows and we leave empty. */
export function emptyColumn<T>(title: string): SheetColumn<T> {
  return { title, cell: () => null, pattern: /^$/, isOptional: true };
}

/** `2026-11-20 14:03:00` on the clocks of the time zone. */
export function localTime(at: number, zone: string | null): string {
  return formatNaive(naiveAt(at, zone ?? 'UTC'));
}

/** `2026-11-20 14:03:00-0500`: local time and offset, right on both sides of a clock change. */
export function withOffset(at: number, zone: string | null): string {
  return `${localTime(at, zone)}${formatOffset(offsetAt(at, zone ?? 'UTC')).replace(':', '')}`;
}

/** `11/20/2026` on the clocks of the time zone. */
export function americanDate(at: number, zone: string | null): string {
  const text = localTime(at, zone);
  return `${text.slice(5, 7)}/${text.slice(8, 10)}/${text.slice(0, 4)}`;
}

/** `11/20/2026 7:03:00 PM` in UTC. */
export function americanUtc(at: number): string {
  const text = formatNaive(at);
  const hour = Number(text.slice(11, 13));
  const date = `${Number(text.slice(5, 7))}/${Number(text.slice(8, 10))}/${text.slice(0, 4)}`;
  return `${date} ${hour % 12 || 12}${text.slice(13)} ${hour < 12 ? 'AM' : 'PM'}`;
}

/** `2026-11-20T19:03:00Z`. */
export function isoUtc(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
