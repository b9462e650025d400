import { fields } from '@call-attribution/core/fields';
import { el } from './dom.ts';

/** A whole number with separators between thousands. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A number with its noun: `1 call`, `2,000 calls`. */
export function counted(value: number, noun: string): string {
  return `${grouped(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** A share as a percentage, with a decimal where it is small. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '0%';
  const value = (part / whole) * 100;
  return `${value > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)}%`;
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** `3 Sep` or `3 Sep 2026`: in English like the rest of the page, whatever the language of the browser. */
export function dateText(date: string, withYear = false): string {
  const text = `${Number(date.slice(8, 10))} ${months[Number(date.slice(5, 7)) - 1]}`;
  return withYear ? `${text} ${date.slice(0, 4)}` : text;
}

/** `4 to 31 Oct 2026`, `28 Sep to 4 Oct 2026`, `4 Oct 2026`. */
export function rangeText(first: string, last: string): string {
  if (first === last) return dateText(first, true);
  const sameYear = first.slice(0, 4) === last.slice(0, 4);
  return `${dateText(first, !sameYear)} to ${dateText(last, true)}`;
}

/** `October 2026` as `Oct 2026`. */
export function monthText(date: string): string {
  return `${months[Number(date.slice(5, 7)) - 1]} ${date.slice(0, 4)}`;
}

const titles: Readonly<Record<string, string>> = {
  date_added: 'Time',
  ani: 'Caller',
  dnis: 'Dialed number',
  talk_minutes: 'Talk minutes',
  channel: 'Channel',
  ppc_status: 'Ad data',
  ppc_campaign: 'Campaign',
  ppc_adgroup: 'Ad group',
  ppc_keywords: 'Keyword',
  ppc_gclid: 'Google click ID',
  landing_page: 'Landing page',
  referrer: 'Source',
  phone_label: 'Number label',
  sid: 'Call ID',
};

/** What a field is called on the page. */
export function titleOf(name: string): string {
  const words = name.replace(/^(ppc|vt)_/, '').replaceAll('_', ' ');
  return titles[name] ?? words.charAt(0).toUpperCase() + words.slice(1).replace(/\bid\b/g, 'ID');
}

/** The plural of a title, for what has no value. */
export const noValue = 'No value';

/** Fields by the part of a call they are about, in the order of the field table. */
export const fieldGroups = ((): ReadonlyMap<string, readonly string[]> => {
  const groups = new Map<string, string[]>();
  for (const { name, group, v3 } of fields) {
    if (v3 !== null) groups.set(group, [...(groups.get(group) ?? []), name]);
  }
  return groups;
})();

// Control characters, and those that turn the direction of text around or join it invisibly.
const invisible = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u;
const invisibleRuns = /([\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff])/u;

/** Text that somebody else wrote: characters that cannot be seen are shown as marks, and its direction stays its own. */
export function foreign(text: string): HTMLElement {
  const place = el('bdi', {});
  if (!invisible.test(text)) {
    place.textContent = text;
    return place;
  }
  for (const part of text.split(invisibleRuns)) {
    const mark = invisible.test(part) && part.length === 1 ? codeOf(part) : null;
    if (mark === null) place.append(part);
    else place.append(el('span', { class: 'mark-char', title: `Invisible character ${mark}` }, mark));
  }
  return place;
}

/** The same as one string, for places that take no elements. */
export function foreignText(text: string): string {
  return text
    .split(invisibleRuns)
    .map((part) => (part.length === 1 && invisible.test(part) ? `‹${codeOf(part)}›` : part))
    .join('');
}

const codeOf = (character: string): string =>
  `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
