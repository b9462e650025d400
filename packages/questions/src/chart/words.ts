import { formatCount } from '@call-attribution/core/errors';
import { shownValue } from '../answer/left-out.ts';
import type { AnswerColumn, AnswerValue } from '../question/answer.ts';

// How numbers and names are written wherever an answer is shown: one look for a report, a page and
// an app.

/** A column, as far as it has to be known to write its values. */
export type ShownColumn = Pick<AnswerColumn, 'name' | 'kind' | 'unit'> &
  Partial<Pick<AnswerColumn, 'better' | 'addsUp'>>;

/**
 * Text made safe for markup, inside and outside of attributes. What cannot be seen or turns text
 * around is a space.
 */
export function markup(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069\ufffe\uffff]|\p{Cs}/gu, ' ')
    .replace(/[&<>"']/g, (char) => entities[char] ?? char);
}

/** Digits after the point that a mean or a share is shown with; a share of 0.255 is 25.5%. */
export const shownDigits: Readonly<Partial<Record<string, number>>> = {
  share: 3,
  minutes: 1,
  money: 2,
  number: 2,
};

/** A part of a whole, such as 0.255, as `25.5%`. */
export const formatShare = (value: number): string => `${(value * 100).toFixed(1)}%`;

function decimal(value: number, digits: number): string {
  const [whole = '0', fraction = ''] = value.toFixed(digits).split('.');
  return `${formatCount(Number(whole))}.${fraction}`;
}

/**
 * A value of a column as people read it: `(none)` for a group without a value, nothing for a
 * measure without one.
 */
export function formatValue({ kind, unit }: ShownColumn, value: AnswerValue | undefined): string {
  if (kind === 'group') return shownValue(value);
  if (value === null || value === undefined) return '';
  if (typeof value !== 'number') return String(value);
  const text = plainNumber(unit, Math.abs(value));
  const isZero = !/[1-9]/.test(text);
  if (kind === 'measure' || kind === 'before') return value < 0 && !isZero ? `-${text}` : text;

  // A share that goes from 10% to 12% has grown by a fifth, and by two points.
  const change = unit === 'share' ? text.replace('%', ' pts') : text;
  if (isZero) return change;
  return value < 0 ? `-${change}` : `+${change}`;
}

function plainNumber(unit: AnswerColumn['unit'], value: number): string {
  if (unit === 'share') return formatShare(value);
  if (unit === 'percent') return formatShare(value / 100);
  const digits = shownDigits[String(unit)];
  return digits === undefined ? formatCount(value) : decimal(value, digits);
}

const titles: Readonly<Record<string, string>> = {
  date_added: 'Time',
  ani: 'Caller',
  dnis: 'Dialed number',
  ppc_status: 'Ad data',
  ppc_adgroup: 'Ad group',
  ppc_keywords: 'Keyword',
  ppc_gclid: 'Google click ID',
  referrer: 'Source',
  phone_label: 'Number label',
  sid: 'Call ID',
};

/**
 * What a field or a column is called: `ppc_campaign` is Campaign. With the unit of a measure, minutes
 * are said: `Talk mean (min)`.
 */
export function columnTitle(name: string, unit?: ShownColumn['unit']): string {
  if (unit === 'minutes') return `${columnTitle(name)} (min)`;
  const words = name
    .replace(/_of$/, ', of')
    .replace(/^(?:ppc|vt)_/, '')
    .replaceAll('_', ' ')
    .replace(/\bid\b/g, 'ID')
    .replace(/ within ([\d.]+)/, ' within $1 h');
  return titles[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * Whether a change of a measure is good or bad: more calls are good, more missed ones bad. Null
 * where nobody can say: as when there are fewer calls in fewer days, and more of them a day.
 */
export function judgeChange(
  { better = null }: Pick<ShownColumn, 'better'> = {},
  change: number,
  perDay = change,
): 'better' | 'worse' | null {
  if (better === null || Math.sign(change) * Math.sign(perDay) <= 0) return null;
  return change > 0 === (better === 'more') ? 'better' : 'worse';
}
