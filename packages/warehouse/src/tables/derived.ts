import {
  activityTypes,
  clickKinds,
  type DerivedName,
  derivedFields,
  type FieldSettings,
  weekdays,
  weekShift,
} from '@call-attribution/questions';

// The places of a click id in a record, the likeliest first, with a character between that URLs do not have.
const addresses = 'concat_ws(chr(1), first_touch, last_touch, url_tag, landing_page, conversion_page)';
// The length apart: an expression that counts to 511 takes longer to compile than thousands of rows to read.
const isId = (id: string): string =>
  `(regexp_full_match(${id}, '[A-Za-z0-9_][A-Za-z0-9_.|~:-]+') AND length(${id}) BETWEEN 3 AND 512)`;
const ownId = `CASE WHEN ${isId('ppc_gclid')} THEN ppc_gclid END`;
const found = (kind: string): string =>
  `regexp_extract_all(${addresses}, '(?i)(?:^|[\\x01?&#;])${kind}=([^&#;\\s\\x01]+)', 1)`;
const idIn = (kind: string): string =>
  `list_filter(list_transform(${found(kind)}, lambda id: url_decode(id)), lambda id: ${isId('id')})[1]`;
const firstKind = `CASE WHEN ${ownId} IS NOT NULL THEN 'gclid' ${clickKinds.map((kind) => `WHEN ${idIn(kind)} IS NOT NULL THEN '${kind}'`).join(' ')} END`;

/** Milliseconds from the first visit to the call. Null for call extensions and where the visit is not before the call. */
export const lagMillis =
  'CASE WHEN NOT is_extension AND displayed_timestamp <= date_added' +
  ' THEN (epoch_us(date_added) - epoch_us(displayed_timestamp)) // 1000 END';

/** Derived fields that follow from one row of `records`. The others need the other calls of the caller. */
type RowField = Exclude<DerivedName, 'caller_nth' | 'hours_since_previous_call' | 'hours_until_next_call'>;

const week = (time: string, settings: FieldSettings): string =>
  weekShift(settings) === 0
    ? `CAST(date_trunc('week', ${time}) AS DATE)`
    : `CAST(date_trunc('week', ${time} + INTERVAL 1 DAY) AS DATE) - 1`;

/** The expression of each derived field over a row of `records`; `time` is that of the time of the call. */
export const derivedSql: Readonly<Record<RowField, (time: string, settings: FieldSettings) => string>> = {
  missed: () => '(talk_minutes = 0)',
  caller_type: () => "CASE WHEN is_first THEN 'first' WHEN caller_key IS NOT NULL THEN 'returning' END",
  lag_minutes: () => `((${lagMillis}) / 60000)`,
  click_id: () => `coalesce(${ownId}, ${clickKinds.map(idIn).join(', ')})`,
  click_kind: () => firstKind,
  activity_type: () =>
    `CASE activity_type_id ${activityTypes.map((text, i) => `WHEN ${i + 1} THEN '${text}'`).join(' ')} END`,
  day: (time) => `CAST(${time} AS DATE)`,
  week,
  month: (time) => `CAST(date_trunc('month', ${time}) AS DATE)`,
  weekday: (time) =>
    `CASE isodow(${time}) ${weekdays.map((name, i) => `WHEN ${i + 1} THEN '${name}'`).join(' ')} END`,
  hour: (time) => `CAST(hour(${time}) AS INTEGER)`,
};

/** The same for fields that follow from the other calls of the caller: over a row of `sequences`. */
export const sequenceSql: Readonly<Record<Exclude<DerivedName, RowField>, string>> = {
  caller_nth: 'caller_nth',
  hours_since_previous_call: '((epoch_ms(date_added) - epoch_ms(previous_call)) / 3600000)',
  hours_until_next_call: '((epoch_ms(next_call) - epoch_ms(date_added)) / 3600000)',
};

/** The calls with their place among those of their caller in the account. */
export const sequences = `(SELECT *, CASE WHEN caller_no IS NOT NULL THEN row_number() OVER own END AS caller_nth,
  CASE WHEN caller_no IS NOT NULL THEN lag(date_added) OVER own END AS previous_call,
  CASE WHEN caller_no IS NOT NULL THEN lead(date_added) OVER own END AS next_call
  FROM records WINDOW own AS (PARTITION BY account, caller_no ORDER BY date_added NULLS LAST, sid))`;

/** Columns of the view `calls` that follow from the fields of a call. */
export const derivedColumns: readonly {
  readonly name: string;
  readonly sql: string;
  readonly meaning: string;
}[] = derivedFields.flatMap(({ name, meaning }) =>
  isRowField(name) ? [{ name, sql: derivedSql[name]('date_added', {}), meaning }] : [],
);

function isRowField(name: DerivedName): name is RowField {
  return Object.hasOwn(derivedSql, name);
}
