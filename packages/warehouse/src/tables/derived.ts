import { fields } from '@call-attribution/core';

/** Something that follows from the fields of a call: a column of the view `calls`, and a field in conditions and groups. */
export interface DerivedField {
  readonly name: string;
  readonly type: 'boolean' | 'text' | 'number' | 'date';
  readonly meaning: string;
  /** The values there are, in their order. */
  readonly values?: readonly string[];
  /** The expression over a row of `records`; `time` is the expression of the time of the call. */
  sql(time: string): string;
}

/** Days of the week in the order of ISO 8601. */
export const weekdays: readonly string[] = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

const activity = fields.find(({ name }) => name === 'activity_type_id');
const activityTypes = activity?.valueMeanings ?? [];

/** Query parameters that carry a click id, and the kinds of click id they are. */
const clickKinds = ['gclid', 'gbraid', 'wbraid', 'msclkid'] as const;

// The places of a click id in a record, the likeliest first, with a character between that URLs do not have.
const addresses = 'concat_ws(chr(1), first_touch, last_touch, url_tag, landing_page, conversion_page)';
const isId = "'[A-Za-z0-9_][A-Za-z0-9_.|~:-]{2,511}'";
const ownId = `CASE WHEN regexp_full_match(ppc_gclid, ${isId}) THEN ppc_gclid END`;
const found = (kind: string): string =>
  `regexp_extract_all(${addresses}, '(?i)(?:^|[\\x01?&#;])${kind}=([^&#;\\s\\x01]+)', 1)`;
const idIn = (kind: string): string =>
  `list_filter(list_transform(${found(kind)}, lambda id: url_decode(id)), lambda id: regexp_full_match(id, ${isId}))[1]`;
const firstKind = `CASE WHEN ${ownId} IS NOT NULL THEN 'gclid' ${clickKinds.map((kind) => `WHEN ${idIn(kind)} IS NOT NULL THEN '${kind}'`).join(' ')} END`;

/** Minutes from the first visit to the call, in tenths. Null for call extensions and where the visit is not before the call. */
export const lagTenths =
  'CASE WHEN NOT is_extension AND displayed_timestamp <= date_added' +
  ' THEN TRY_CAST((epoch_us(date_added) - epoch_us(displayed_timestamp) + 3000000) // 6000000 AS INTEGER) END';

/** All derived fields. */
export const derivedFields: readonly DerivedField[] = [
  {
    name: 'missed',
    type: 'boolean',
    meaning: 'Nobody answered: the caller was never connected (talk_minutes is 0).',
    sql: () => '(talk_minutes = 0)',
  },
  {
    name: 'caller_type',
    type: 'text',
    values: ['first', 'returning'],
    meaning:
      'first: no earlier call of the caller is in the account; returning: there is one. Null without a caller number.',
    sql: () => "CASE WHEN is_first THEN 'first' WHEN caller_key IS NOT NULL THEN 'returning' END",
  },
  {
    name: 'lag_minutes',
    type: 'number',
    meaning:
      'Minutes from the first visit (displayed_timestamp) to the call, in tenths. Null for call extensions.',
    sql: () => `(${lagTenths} * 0.1)`,
  },
  {
    name: 'click_id',
    type: 'text',
    meaning: 'Click id of the ad: ppc_gclid, or the first one in the addresses of the visit.',
    sql: () => `coalesce(${ownId}, ${clickKinds.map(idIn).join(', ')})`,
  },
  {
    name: 'click_kind',
    type: 'text',
    values: clickKinds,
    meaning: 'Which kind of click id click_id is.',
    sql: () => firstKind,
  },
  {
    name: 'activity_type',
    type: 'text',
    values: activityTypes,
    meaning: 'What activity_type_id means.',
    sql: () =>
      `CASE activity_type_id ${activityTypes.map((text, i) => `WHEN ${activity?.values?.[i]} THEN '${text}'`).join(' ')} END`,
  },
  {
    name: 'day',
    type: 'date',
    meaning: 'Day of date_added.',
    sql: (time) => `CAST(${time} AS DATE)`,
  },
  {
    name: 'week',
    type: 'date',
    meaning: 'Monday of the week of date_added.',
    sql: (time) => `CAST(date_trunc('week', ${time}) AS DATE)`,
  },
  {
    name: 'month',
    type: 'date',
    meaning: 'First day of the month of date_added.',
    sql: (time) => `CAST(date_trunc('month', ${time}) AS DATE)`,
  },
  {
    name: 'weekday',
    type: 'text',
    values: weekdays,
    meaning: 'Day of the week of date_added, Mon to Sun.',
    sql: (time) =>
      `CASE isodow(${time}) ${weekdays.map((name, i) => `WHEN ${i + 1} THEN '${name}'`).join(' ')} END`,
  },
  {
    name: 'hour',
    type: 'number',
    meaning: 'Hour of the day of date_added, 0 to 23.',
    sql: (time) => `CAST(hour(${time}) AS INTEGER)`,
  },
];
