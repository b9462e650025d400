import { type FieldType, filterFields, safeParse } from '@call-attribution/query-dsl';
import type { Version } from './state.ts';

/** One thing that can follow at the cursor of the filter. */
export interface Completion {
  /** What to put in place of the text from `start` to `end`. In a date, capital letters stand for digits still to be typed. */
  readonly text: string;
  /** A few words about it. */
  readonly detail: string;
  readonly start: number;
  readonly end: number;
}

/** Texts with a few words about each, and the end of the typed text that they replace. */
type Next = readonly [offers: readonly (readonly [text: string, detail: string])[], replaced: string];

const dateForm = 'YYYY-MM-DD HH:MM:SS';
const comma: Next = [[[',', 'another clause, which must match too']], ''];
const nothing: Next = [[], ''];

/** What can follow at `cursor`, an offset into the text of a filter; the most likely first. */
export function completionsAt(text: string, cursor: number, version: Version): readonly Completion[] {
  const before = text.slice(0, cursor);
  const clause = before.slice(before.lastIndexOf(',') + 1);
  const fields: Readonly<Record<string, FieldType>> = filterFields[version];
  const name = /^ *(\w*)$/.exec(clause)?.[1];
  if (name !== undefined) {
    // A name under the cursor is replaced as a whole, with its colon.
    const end = cursor + (/^\w*:?/.exec(text.slice(cursor))?.[0] ?? '').length;
    return Object.entries(fields)
      .filter(([field]) => field.startsWith(name.toLowerCase()))
      .map(([field, type]) => ({ ...fieldOffers[type](field), start: cursor - name.length, end }));
  }
  const [, field = '', typed = ''] = /^ *(\w+):(.*)$/s.exec(clause) ?? [];
  const [offers, replaced] = Object.hasOwn(fields, field) ? afterColon(typed, field, version) : nothing;
  return offers.map(([offer, detail]) => ({
    text: offer,
    detail,
    start: cursor - replaced.length,
    end: cursor,
  }));
}

const fieldOffers: Readonly<Record<FieldType, (name: string) => { text: string; detail: string }>> = {
  date: (name) => ({ text: `${name}:`, detail: `range of dates, ${dateForm}` }),
  decimal: (name) => ({ text: `${name}:`, detail: 'range of numbers' }),
  flag: (name) => ({ text: `${name}:1`, detail: 'include the calls made through call extensions' }),
};

// lower bound, " TO " or the start of it, upper bound, closing bracket: each only after the one before.
const partOfRange =
  /^[[{](\*|[-\d.:]*(?: \d[\d:]*)?)(?:( T?O? ?)(?:(?<= TO )(\*|[-\d.:]*(?: [\d:]*)?)([\]}] *)?)?)?$/;

/** What can follow on `typed`, the text after the colon. */
function afterColon(typed: string, field: string, version: Version): Next {
  if (field === 'inc_gce') {
    if (typed === '') return [[['1', 'the only value']], ''];
    return typed === '1' ? comma : nothing;
  }
  const note = version === 'v3' ? ' (documented for v2)' : '';
  const brackets = (side: string, inclusive: string, exclusive: string): Next => [
    [
      [inclusive, `${side} bound included`],
      [exclusive, `${side} bound excluded${note}`],
    ],
    '',
  ];
  if (typed === '') return brackets('lower', '[', '{');
  const match = partOfRange.exec(typed);
  if (match === null) return nothing;
  const [, lower = '', to = '', upper = '', close] = match;
  const isWhole = (bound: string): boolean => safeParse(`${field}:[${bound} TO *]`).ok;
  const isDate = field === 'date_added';
  if (close !== undefined) return comma;
  if (to === ' TO ') return isWhole(upper) ? brackets('upper', ']', '}') : bounds(upper, isDate);
  return isWhole(lower) ? [[[' TO ', 'between the bounds']], to] : bounds(lower + to, isDate);
}

/** The bounds that start with what was typed. */
function bounds(typed: string, isDate: boolean): Next {
  const open = ['*', 'no bound on this side'] as const;
  if (typed === '') {
    const first = isDate ? [dateForm, 'date and time'] : ['0', 'a number such as 2 or 2.5'];
    return [[first as [string, string], open], ''];
  }
  const isStart = typed.replace(/\d/g, '0') === dateForm.slice(0, typed.length).replace(/[A-Z]/g, '0');
  if (!isDate || !isStart) return [[], typed];
  return [[[typed + dateForm.slice(typed.length), 'date and time']], typed];
}
