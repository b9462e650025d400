import { isBound } from './bounds.ts';
import { type Field, type FieldType, fieldsOf, type ParseOptions } from './filter.ts';

/** One thing that can follow at the cursor. */
export interface Completion {
  /** What to put in place of the text from `start` to `end`. In a date, letters stand for the digits still to be typed. */
  readonly text: string;
  /** What it is, for an icon or a color. */
  readonly kind: 'field' | 'flag' | 'bracket' | 'open' | 'date' | 'number' | 'keyword' | 'comma';
  /** A few words about it. */
  readonly detail: string;
}

/** What can follow at a cursor. */
export interface Completions {
  /** What can follow, the most likely first. */
  readonly items: readonly Completion[];
  /** Where the text that an item replaces starts. */
  readonly start: number;
  /** Where it ends. */
  readonly end: number;
}

const dateForm = 'YYYY-MM-DD HH:MM:SS';
const item = (kind: Completion['kind'], text: string, detail: string): Completion => ({ kind, text, detail });

/**
 * Says what can follow at `cursor`, an offset into the text: for editors, and for agents that write a filter step by step.
 *
 * @example
 * complete('talk_minutes:[2').items; // one item: ' TO '
 */
export function complete(text: string, cursor = text.length, options: ParseOptions = {}): Completions {
  const fields = fieldsOf(options);
  const before = text.slice(0, cursor);
  const clause = before.slice(before.lastIndexOf(',') + 1);
  const name = /^ *(\w*)$/.exec(clause)?.[1];
  if (name !== undefined) {
    // A name under the cursor is replaced as a whole, with its colon.
    const rest = /^\w*:?/.exec(text.slice(cursor))?.[0] ?? '';
    const items = fields.map(fieldItem).filter((each) => each.text.startsWith(name.toLowerCase()));
    return { items, start: cursor - name.length, end: cursor + rest.length };
  }
  const [, fieldName, typed = ''] = /^ *(\w+):(.*)$/s.exec(clause) ?? [];
  const field = fields.find((each) => each.name === fieldName);
  const next = field === undefined ? nothing : afterColon(typed, field.type, options.version === 'v3');
  return { items: next.items, start: cursor - next.replaced.length, end: cursor };
}

/** Items, and the end of the typed text that they replace. */
interface Next {
  readonly items: readonly Completion[];
  readonly replaced: string;
}

const nothing: Next = { items: [], replaced: '' };
const comma: Next = { items: [item('comma', ',', 'another clause, which must match too')], replaced: '' };

function fieldItem({ name, type }: Field): Completion {
  if (type === 'flag') return item('flag', `${name}:1`, 'include the calls made through call extensions');
  return item('field', `${name}:`, type === 'date' ? `range of dates, ${dateForm}` : 'range of numbers');
}

// lower bound, " TO " or the start of it, upper bound, closing bracket: each only after the one before.
const partOfRange =
  /^[[{](\*|[-\d.:]*(?: \d[\d:]*)?)(?:( T?O? ?)(?:(?<= TO )(\*|[-\d.:]*(?: [\d:]*)?)([\]}] *)?)?)?$/;

/** What can follow on `typed`, the text after the colon. */
function afterColon(typed: string, type: FieldType, isV3: boolean): Next {
  if (type === 'flag') {
    if (typed === '') return { items: [item('flag', '1', 'the only value')], replaced: '' };
    return typed === '1' ? comma : nothing;
  }
  const note = isV3 ? ' (documented for v2)' : '';
  if (typed === '') return brackets('lower', '[', '{', note);
  const match = partOfRange.exec(typed);
  if (match === null) return nothing;
  const [, lower = '', to = '', upper = '', close] = match;
  const isWhole = (bound: string): boolean => bound === '*' || isBound(bound, type);
  if (close !== undefined) return comma;
  if (to === ' TO ') return isWhole(upper) ? brackets('upper', ']', '}', note) : bounds(upper, type);
  return isWhole(lower)
    ? { items: [item('keyword', ' TO ', 'between the bounds')], replaced: to }
    : bounds(lower + to, type);
}

const brackets = (side: string, inclusive: string, exclusive: string, note: string): Next => ({
  items: [
    item('bracket', inclusive, `${side} bound included`),
    item('bracket', exclusive, `${side} bound excluded${note}`),
  ],
  replaced: '',
});

/** The bounds that start with what was typed. */
function bounds(typed: string, type: FieldType): Next {
  const items: Completion[] = [];
  if (type === 'date') {
    const isStart = typed.replace(/\d/g, '0') === dateForm.slice(0, typed.length).replace(/[A-Z]/g, '0');
    if (isStart) items.push(item('date', typed + dateForm.slice(typed.length), 'date and time'));
  } else if (typed === '') items.push(item('number', '0', 'a number such as 2 or 2.5'));
  if (typed === '') items.push(item('open', '*', 'no bound on this side'));
  return { items, replaced: typed };
}
