import { type FieldType, knownFields } from './dialects.ts';
import type { ParseOptions } from './read.ts';
import { isBound } from './read-bound.ts';

/** One thing that may stand at the cursor. */
export interface Completion {
  /** What to put in place of the text from `start` to `end`. For a date it holds the letters of the shape. */
  readonly text: string;
  readonly kind: 'field' | 'flag' | 'bracket' | 'open' | 'date' | 'number' | 'keyword' | 'comma';
  readonly detail: string;
}

/** What may stand at a place. Each item replaces the text from `start` to `end`. */
export interface Completions {
  readonly items: readonly Completion[];
  readonly start: number;
  readonly end: number;
}

const dateShape = 'YYYY-MM-DD HH:MM:SS';
const item = (kind: Completion['kind'], text: string, detail: string): Completion => ({ kind, text, detail });

/** Says what may stand at `cursor`, an offset into the text: for editors, and for agents that write a filter stepwise. */
export function complete(text: string, cursor = text.length, options: ParseOptions = {}): Completions {
  const { version } = options;
  const fields = knownFields(version, options.fields);
  const before = text.slice(0, cursor);
  const part = before.slice(before.lastIndexOf(',') + 1);
  const name = /^ *(\w*)$/.exec(part)?.[1];
  if (name !== undefined) {
    // A name under the cursor is replaced as a whole, with its colon.
    const rest = /^\w*:?/.exec(text.slice(cursor))?.[0] ?? '';
    const items = Object.entries(fields).map(([field, type]) => toItem(field, type));
    return {
      items: items.filter((each) => starts(each, name)),
      start: cursor - name.length,
      end: cursor + rest.length,
    };
  }
  const [, field = '', range = ''] = /^ *(\w+):(.*)$/s.exec(part) ?? [];
  const type = Object.hasOwn(fields, field) ? fields[field] : undefined;
  const [items, typed] = type === undefined ? [[], ''] : next(range, type, version === 'v3');
  return { items, start: cursor - typed.length, end: cursor };
}

const starts = ({ text }: Completion, typed: string): boolean => text.startsWith(typed.toLowerCase());

const toItem = (field: string, type: FieldType): Completion =>
  type === 'flag'
    ? item('flag', `${field}:1`, 'include the calls made through call extensions')
    : item('field', `${field}:`, type === 'date' ? `range of dates, ${dateShape}` : 'range of numbers');

const comma = [item('comma', ',', 'another part that has to apply too')];

// What may follow on `range`, the text behind the colon, and how much of it the items replace.
function next(range: string, type: FieldType, v3: boolean): [items: Completion[], typed: string] {
  if (type === 'flag') {
    if (range === '') return [[item('flag', '1', 'the only value')], ''];
    return [range === '1' ? comma : [], ''];
  }
  const undocumented = v3 ? ' (documented for v2)' : '';
  if (range === '') {
    return [
      [
        item('bracket', '[', 'lower bound included'),
        item('bracket', '{', `lower bound excluded${undocumented}`),
      ],
      '',
    ];
  }
  const match =
    /^[[{](\*|[-\d.:]*(?: \d[\d:]*)?)(?:( T?O? ?)(?:(?<= TO )(\*|[-\d.:]*(?: [\d:]*)?)([\]}] *)?)?)?$/.exec(
      range,
    );
  if (match === null) return [[], ''];
  const [, lower = '', keyword, upper = '', close] = match;
  if (close !== undefined) return [comma, ''];
  const isWhole = (bound: string): boolean => bound === '*' || Boolean(isBound(bound, type === 'date'));
  if (keyword === ' TO ') {
    if (!isWhole(upper)) return [bounds(upper, type), upper];
    return [
      [
        item('bracket', ']', 'upper bound included'),
        item('bracket', '}', `upper bound excluded${undocumented}`),
      ],
      '',
    ];
  }
  if (isWhole(lower)) return [[item('keyword', ' TO ', 'between the bounds')], keyword ?? ''];
  const typed = lower + (keyword ?? '');
  return [bounds(typed, type), typed];
}

// The bounds that start with what was typed.
function bounds(typed: string, type: FieldType): Completion[] {
  const open = typed === '' ? [item('open', '*', 'no bound on this side')] : [];
  if (type !== 'date')
    return typed === '' ? [item('number', '0', 'a number such as 2 or 2.5'), ...open] : open;
  const shaped = typed.replace(/\d/g, '0') === dateShape.slice(0, typed.length).replace(/[A-Z]/g, '0');
  return shaped ? [item('date', typed + dateShape.slice(typed.length), 'date and time'), ...open] : open;
}
