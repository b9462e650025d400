import { addDays } from '@call-attribution/core/time';
import { type Clause, diagnose, type Filter, printFilter } from '@call-attribution/query-dsl';
import { type PageDimension, pageDimensions } from '../src/page/question.ts';

/** A version of the API. */
export type Version = 'v2' | 'v3';

/** The fields that calls can be narrowed by. */
export const dimensions = pageDimensions;

/** A field that calls can be narrowed by. */
export type Dimension = PageDimension;

/** Everything that the address holds: what is shown, and how. It never holds keys. */
export interface State {
  readonly version: Version;
  /** The filter as text. */
  readonly q: string;
  /** The preset that the time in the filter comes from; null when it was chosen otherwise. */
  readonly preset: string | null;
  readonly only: Readonly<Partial<Record<Dimension, readonly (string | null)[]>>>;
  readonly by: 'auto' | 'day' | 'week' | 'month';
  /** The page of the table, from 0. */
  readonly page: number;
  readonly columns: readonly string[];
  /** The account of a sandbox; empty for the first one. */
  readonly account: string;
}

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
  version: 'v3',
  q: '',
  preset: '28d',
  only: {},
  by: 'auto',
  page: 0,
  columns: usualColumns,
  account: '',
};

/** The state in an address, such as `#last=28d&page=2`. What cannot be read is as at first. */
export function readAddress(hash: string): State {
  const found = new URLSearchParams(hash.replace(/^#/, ''));
  if ([...found.keys()].length === 0) return initial;
  const by = found.get('by');
  const columns = (found.get('columns') ?? '').split(',').filter((name) => /^\w+$/.test(name));
  return {
    version: found.get('v') === 'v2' ? 'v2' : 'v3',
    q: found.get('q') ?? '',
    preset: readPreset(found.get('last')),
    only: readOnly(found.get('only')),
    by: by === 'day' || by === 'week' || by === 'month' ? by : 'auto',
    page: Math.max(0, Number.parseInt(found.get('page') ?? '1', 10) - 1 || 0),
    columns: columns.length > 0 ? columns : usualColumns,
    account: found.get('account') ?? '',
  };
}

/** A preset that is none would be all time, under another name. */
const readPreset = (name: string | null): string | null =>
  name === null || presets.some(([known]) => known === name) || /^[1-9]\d{0,3}d$/.test(name)
    ? name
    : initial.preset;

/** The address of a state. With a preset it has no dates, so that a bookmark of the last 28 days stays one. */
export function addressOf(state: State): string {
  const found = new URLSearchParams();
  const q = state.preset === null ? state.q : withoutField(state.q, 'date_added');
  if (state.preset !== null) found.set('last', state.preset);
  if (q !== '' || state.preset === null) found.set('q', q);
  if (Object.keys(state.only).length > 0) found.set('only', JSON.stringify(state.only));
  if (state.by !== 'auto') found.set('by', state.by);
  if (state.page > 0) found.set('page', String(state.page + 1));
  if (state.columns.join() !== usualColumns.join()) found.set('columns', state.columns.join());
  if (state.account !== '') found.set('account', state.account);
  if (state.version === 'v2') found.set('v', 'v2');
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

/** Choices of time, counted back from the day of the latest call. */
export const presets: readonly (readonly [name: string, label: string])[] = [
  ['1d', 'Last day'],
  ['7d', 'Last 7 days'],
  ['28d', 'Last 28 days'],
  ['90d', 'Last 90 days'],
  ['month', 'This month'],
  ['previous', 'Previous month'],
  ['all', 'All time'],
];

/** The first and the last day of a preset; null for all time and for an unknown one. */
export function presetDates(name: string, latest: string): { first: string; last: string } | null {
  const monthStart = `${latest.slice(0, 7)}-01`;
  if (name === 'month') return { first: monthStart, last: latest };
  if (name === 'previous') {
    const last = addDays(monthStart, -1);
    return { first: `${last.slice(0, 7)}-01`, last };
  }
  const days = /^(\d{1,4})d$/.exec(name)?.[1];
  return days === undefined ? null : { first: addDays(latest, 1 - Number(days)), last: latest };
}

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

const filterIn = (q: string): Filter => diagnose(q).filter;

/** What a filter means for the controls. */
export function controlsOf(q: string, version: Version): Controls {
  const { clauses } = filterIn(q);
  const times = clauses.flatMap((clause) =>
    clause.kind === 'range' && clause.field === 'date_added' ? [clause] : [],
  );
  const talk = clauses.flatMap((clause) =>
    clause.kind === 'range' && clause.field === 'talk_minutes' ? [clause] : [],
  );
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
  const [least, most] = [numbers('lower'), numbers('upper')];
  return {
    days: isDays
      ? { first: time.lower.text.slice(0, 10), last: addDays(time.upper.text.slice(0, 10), -1) }
      : null,
    otherTime: isDays || times.length === 0 ? null : printFilter({ clauses: times }),
    least: least.length === 0 ? null : Math.max(...least),
    most: most.length === 0 ? null : Math.min(...most),
    extensions: version === 'v2' || clauses.some(({ kind }) => kind === 'flag'),
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

/** The filter for some whole days, or for all time. */
export function withDays(q: string, days: { first: string; last: string } | null): string {
  const clause: Clause | null = days && {
    kind: 'range',
    field: 'date_added',
    lower: { text: `${days.first} 00:00:00`, inclusive: true },
    upper: { text: `${addDays(days.last, 1)} 00:00:00`, inclusive: false },
  };
  return withClause(q, 'date_added', clause);
}

/** The filter for some talk time in minutes. */
export function withMinutes(q: string, least: number | null, most: number | null): string {
  const bound = (value: number | null) => (value === null ? null : { text: String(value), inclusive: true });
  const isOpen = least === null && most === null;
  const clause: Clause = { kind: 'range', field: 'talk_minutes', lower: bound(least), upper: bound(most) };
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
