import {
  activityTypes,
  clickKinds,
  clickPlaces,
  type DerivedName,
  derivedFields,
  type FieldSettings,
  type TouchName,
  touches,
  weekdays,
  weekShift,
} from '@call-attribution/questions';
import { fn, over } from '../sql/functions.ts';
import { printSql } from '../sql/print.ts';
import {
  and,
  as,
  cast,
  column,
  columnsOf,
  isNotNull,
  literal,
  not,
  op,
  type Query,
  type Sql,
  textOf,
  when,
} from '../sql/tree.ts';

// The places of a click id in a record, with a character between that URLs do not have.
const addresses = fn.concatWs(fn.chr(1), ...clickPlaces.map((name) => column(name)));
// The length apart: an expression that counts to 511 takes longer to compile than thousands of rows to read.
const isId = (id: Sql): Sql =>
  and(
    fn.regexpFullMatch(id, '[A-Za-z0-9_][A-Za-z0-9_.|~:-]+'),
    op('>=', fn.length(id), literal(3)),
    op('<=', fn.length(id), literal(512)),
  );
const gclid = column('ppc_gclid');
const ownId = when([[isId(gclid), gclid]]);
const idIn = (kind: string): Sql => {
  const found = fn.regexpExtractAll(addresses, `(?i)(?:^|[\\x01?&#;])${kind}=([^&#;\\s\\x01]+)`);
  return fn.listExtract(fn.listFilter(fn.listTransform(found, 'id', fn.urlDecode), 'id', isId), 1);
};
const firstKind = when([
  [isNotNull(ownId), literal('gclid')],
  ...clickKinds.map((kind) => [isNotNull(idIn(kind)), literal(kind)] as const),
]);

const [added, displayed] = [column('date_added'), column('displayed_timestamp')];

/** Milliseconds from the first visit to the call. Null for call extensions and where the visit is not before the call. */
export const lagMillis: Sql = when([
  [
    and(not(column('is_extension')), op('<=', displayed, added)),
    op('//', op('-', fn.epochUs(added), fn.epochUs(displayed)), literal(1000)),
  ],
]);

/** Derived fields that follow from one row of `records`. The others need the other calls of the caller. */
type RowField = Exclude<
  DerivedName,
  'caller_nth' | 'hours_since_previous_call' | 'hours_until_next_call' | TouchName
>;

const date = (time: Sql): Sql => cast(time, 'DATE');
const week = (time: Sql, settings: FieldSettings): Sql =>
  weekShift(settings) === 0
    ? date(fn.dateTrunc('week', time))
    : op('-', date(fn.dateTrunc('week', op('+', time, fn.toDays(1)))), literal(1));

/** The expression of each derived field over a row of `records`; `time` is that of the time of the call. */
export const derivedSql: Readonly<Record<RowField, (time: Sql, settings: FieldSettings) => Sql>> = {
  missed: () => op('=', column('talk_minutes'), literal(0)),
  answered: () => op('>', column('talk_minutes'), literal(0)),
  caller_type: () =>
    when([
      [column('is_first'), literal('first')],
      [isNotNull(column('caller_key')), literal('returning')],
    ]),
  lag_minutes: () => op('/', lagMillis, literal(60_000)),
  click_id: () => fn.coalesce(ownId, ...clickKinds.map(idIn)),
  click_kind: () => firstKind,
  activity_type: () => textOf(column('activity_type_id'), activityTypes),
  day: date,
  week,
  month: (time) => date(fn.dateTrunc('month', time)),
  weekday: (time) => textOf(fn.isodow(time), weekdays),
  hour: (time) => cast(fn.hour(time), 'INTEGER'),
};

const hoursBetween = (from: string, to: string): Sql =>
  op('/', op('-', fn.epochMs(column(to)), fn.epochMs(column(from))), literal(3_600_000));

/** The same for fields that follow from the other calls of the caller: over a row of `sequences`. */
export const sequenceSql: Readonly<Record<string, Sql>> = {
  ...Object.fromEntries([...touches.keys()].map((name) => [name, column(name)])),
  caller_nth: column('caller_nth'),
  hours_since_previous_call: hoursBetween('previous_call', 'date_added'),
  hours_until_next_call: hoursBetween('date_added', 'next_call'),
};

const ofCaller = (sql: Sql): Sql => when([[isNotNull(column('caller_no')), sql]]);

const inOrder = {
  partitionBy: [column('account'), column('caller_no')],
  sort: [
    { by: added, descending: false },
    { by: column('sid'), descending: false },
  ],
};

/** The calls with their place among those of their caller in the account. */
export const sequences: Query = {
  columns: [
    ...columnsOf('*'),
    as(ofCaller(over(fn.rowNumber(), 'own')), 'caller_nth'),
    as(ofCaller(over(fn.lag(added), 'own')), 'previous_call'),
    as(ofCaller(over(fn.lead(added), 'own')), 'next_call'),
    // DuckDB works out only those that are read.
    ...[...touches].map(([name, { end, field }]) => {
      const value = end === 'first' ? fn.firstValue : fn.lastValue;
      return as(ofCaller(over(value(column(field)), 'whole')), name);
    }),
  ],
  source: { from: 'records' },
  windows: { own: inOrder, whole: { ...inOrder, isWhole: true } },
};

/** Columns of the view `calls` that follow from the fields of a call. */
export const derivedColumns: readonly {
  readonly name: string;
  readonly sql: string;
  readonly meaning: string;
}[] = derivedFields.flatMap(({ name, meaning }) =>
  isRowField(name) ? [{ name, sql: printSql(derivedSql[name](added, {})).sql, meaning }] : [],
);

function isRowField(name: DerivedName): name is RowField {
  return Object.hasOwn(derivedSql, name);
}
