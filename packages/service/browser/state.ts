import {
  addDays,
  formatNaive,
  type Period,
  parseNaive,
  periodOf,
} from '@call-attribution/core/time';
import { type Clause, type Filter, printFilter, safeParse } from '@call-attribution/query-dsl';
import { type PeriodClock, readPeriod } from '@call-attribution/questions';
import { type PageDimension, pageDimensions } from '../src/page/question.ts';

/** The fields that calls can be narrowed by. */
export const dimensions = pageDimensions;

/** A field that calls can be narrowed by. */
export type Dimension = PageDimension;

/** Everything that the address holds: what is shown, and how. It never holds keys. */
export interface State {
  /** The filter as text. */
  readonly q: string;
  /**
   * The words that the time in the filter comes from, such as `last month`; null when it was chosen
   * otherwise.
   */
  readonly period: string | null;
  readonly only: Readonly<Partial<Record<Dimension, readonly (string | null)[]>>>;
  /** Definitions that calls have to meet. */
  readonly definitions: readonly string[];
  /** Whether calls that do not count are left out. */
  readonly isExcluding: boolean;
  /** The report that is shown instead of the numbers; empty for none. */
  readonly report: string;
  readonly by: 'auto' | 'day' | 'week' | 'month';
  /** The page of the table, from 0. */
  readonly page: number;
  readonly columns: readonly string[];
  /** The account of a sandbox; empty for the first one. */
  readonly account: string;
}

/** What is different in another state. */
export type Change = Partial<State>;

/** The columns of the table unless others are chosen. */
export const usualColumns = [
  'date_added',
  'ani',
  'talk_minutes',
  'ppc_campaign',
  'landing_page',
  'channel',
  'ppc_status',
];

/** What is shown at first. */
export const initial: State = {
  q: '',
  period: 'last 28 days',
  only: {},
  definitions: [],
  isExcluding: true,
  report: '',
  by: 'auto',
  page: 0,
  columns: usualColumns,
  account: '',
};

/**
 * The state in an address, such as `#period=last+7+days&page=2`. What cannot be read is as at
 * first.
 */
export function readAddress(hash: string): State {
  const found = new URLSearchParams(hash.replace(/^#/, ''));
  if ([...found.keys()].length === 0) return initial;
  const by = found.get('by');
  const columns = namesIn(found.get('columns'));
  return {
    q: found.get('q') ?? '',
    period: readWords(found.get('period')),
    only: readOnly(found.get('only')),
    definitions: namesIn(found.get('definitions')),
    isExcluding: found.get('exclude') !== 'no',
    report: found.get('report') ?? '',
    by: by === 'day' || by === 'week' || by === 'month' ? by : 'auto',
    page: Math.max(0, Number.parseInt(found.get('page') ?? '1', 10) - 1 || 0),
    columns: columns.length > 0 ? columns : usualColumns,
    account: found.get('account') ?? '',
  };
}

const namesIn = (text: string | null): readonly string[] =>
  (text ?? '').split(',').filter((name) => /^\w+$/.test(name));

/** Words that are no period would be all time, under another name. */
function readWords(words: string | null): string | null {
  try {
    if (words !== null) periodAt(words, { now: 0 });
    return words;
  } catch {
    return initial.period;
  }
}

/**
 * The address of a state. With a period in words it has no dates, so that a bookmark of the last 28
 * days stays one.
 */
export function addressOf(state: State): string {
  const found = new URLSearchParams();
  const q = state.period === null ? state.q : withoutField(state.q, 'date_added');
  if (state.period !== null) found.set('period', state.period);
  if (q !== '' || state.period === null) found.set('q', q);
  if (Object.keys(state.only).length > 0) found.set('only', JSON.stringify(state.only));
  if (state.definitions.length > 0) found.set('definitions', state.definitions.join());
  if (!state.isExcluding) found.set('exclude', 'no');
  if (state.report !== '') found.set('report', state.report);
  if (state.by !== 'auto') found.set('by', state.by);
  if (state.page > 0) found.set('page', String(state.page + 1));
  if (state.columns.join() !== usualColumns.join()) found.set('columns', state.columns.join());
  if (state.account !== '') found.set('account', state.account);
  return `#${found}`;
}

function readOnly(text: string | null): State['only'] {
  try {
    const content: unknown = JSON.parse(text ?? '{}');
    if (typeof content !== 'object' || content === null) return {};
    const known = Object.entries(content).filter(
      ([name, values]) =>
        dimensions.some((dimension) => dimension === name) &&
        Array.isArray(values) &&
        values.every((value) => value === null || typeof value === 'string'),
    );
    return Object.fromEntries(known) as State['only'];
  } catch {
    return {};
  }
}

/** Periods to choose from. */
export const usualPeriods = [
  'today',
  'last 7 days',
  'last 28 days',
  'last 90 days',
  'month to date',
  'last month',
  'last quarter',
  'all time',
];

/** A period as a title. */
export function periodTitle(words: string): string {
  const text = words.trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What words mean, as everywhere. Throws a `QuestionError` with the fix for what is no period. */
export const periodAt = (words: string, clock: PeriodClock): Period =>
  readPeriod({ period: words }, clock);

/** What the controls show of a filter. */
export interface Controls {
  /** Whole days; null when the filter has no time, or one that is not whole days. */
  readonly days: { readonly first: string; readonly last: string } | null;
  /** The time of the filter as written, when it is not whole days. */
  readonly otherTime: string | null;
  readonly least: number | null;
  readonly most: number | null;
  readonly extensions: boolean;
}

/** The filter in a text; of one with a mistake, which is shown at its input, none. */
function filterIn(q: string): Filter {
  const result = safeParse(q);
  return result.ok ? result.filter : { clauses: [] };
}

/** What a filter means for the controls. */
export function controlsOf(q: string): Controls {
  const { clauses } = filterIn(q);
  const ranges = clauses.filter((clause) => clause.kind === 'range');
  const times = ranges.filter(({ field }) => field === 'date_added');
  const talk = ranges.filter(({ field }) => field === 'talk_minutes');
  const [time] = times;
  const isDays =
    times.length === 1 &&
    time?.lower?.inclusive === true &&
    time.upper?.inclusive === false &&
    time.lower.text.endsWith('00:00:00') &&
    time.upper.text.endsWith('00:00:00') &&
    time.lower.text < time.upper.text;
  const numbers = (end: 'lower' | 'upper') =>
    talk.flatMap((clause) => (clause[end] === null ? [] : [Number(clause[end]?.text)]));
  const least = numbers('lower');
  const most = numbers('upper');
  return {
    days: isDays
      ? { first: time.lower.text.slice(0, 10), last: addDays(time.upper.text.slice(0, 10), -1) }
      : null,
    otherTime: isDays || times.length === 0 ? null : printFilter({ clauses: times }),
    least: least.length === 0 ? null : Math.max(...least),
    most: most.length === 0 ? null : Math.min(...most),
    extensions: clauses.some(({ kind }) => kind === 'flag'),
  };
}

/** The filter without the clauses of a field. */
function withoutField(q: string, field: string): string {
  return printFilter({ clauses: filterIn(q).clauses.filter((clause) => clause.field !== field) });
}

/** The filter with other clauses of a field. */
function withClause(q: string, field: string, clause: Clause | null): string {
  const others = filterIn(q).clauses.filter((each) => each.field !== field);
  const [first, last] = field === 'date_added' ? [clause, null] : [null, clause];
  return printFilter({ clauses: [first, ...others, last].filter((each) => each !== null) });
}

/** The filter for some whole days, both included. */
export function withDays(q: string, { first, last }: { first: string; last: string }): string {
  const startOf = (day: string) => parseNaive(`${day} 00:00:00`);
  return withPeriod(q, periodOf(startOf(first), startOf(addDays(last, 1))));
}

/** The filter for a period. */
export function withPeriod(q: string, { from, to }: Period): string {
  const bound = (millis: number | null, inclusive: boolean) =>
    millis === null ? null : { text: formatNaive(millis), inclusive };
  const clause: Clause = {
    kind: 'range',
    field: 'date_added',
    lower: bound(from, true),
    upper: bound(to, false),
  };
  return withClause(q, 'date_added', from === null && to === null ? null : clause);
}

/** The filter for some talk time in minutes. */
export function withMinutes(q: string, least: number | null, most: number | null): string {
  const bound = (value: number | null) =>
    value === null ? null : { text: String(value), inclusive: true };
  const isOpen = least === null && most === null;
  const clause: Clause = {
    kind: 'range',
    field: 'talk_minutes',
    lower: bound(least),
    upper: bound(most),
  };
  return withClause(q, 'talk_minutes', isOpen ? null : clause);
}

/** The filter with or without calls through call extensions. */
export function withExtensions(q: string, include: boolean): string {
  return withClause(q, 'inc_gce', include ? { kind: 'flag', field: 'inc_gce' } : null);
}

/** The values to keep, with one more or one less. */
export function toggled(only: State['only'], name: Dimension, value: string | null): State['only'] {
  const values = only[name] ?? [];
  return withValues(
    only,
    name,
    values.includes(value) ? values.filter((each) => each !== value) : [...values, value],
  );
}

/** The values to keep, with others for a field. */
export function withValues(
  only: State['only'],
  name: Dimension,
  values: readonly (string | null)[],
): State['only'] {
  const { [name]: _, ...others } = only;
  return values.length === 0 ? others : { ...others, [name]: values };
}
