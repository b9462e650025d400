import type { Question } from '@call-attribution/questions';
import fc from 'fast-check';

// Random calls and questions about them, for the law of questions.

const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values);

// Around and within both clock changes of New York in 2026, a year apart, on borders of days, weeks and months, and no times at all.
const moments = [
  '2026-03-08 01:30:00',
  '2026-03-08 02:30:00',
  '2026-03-08 03:30:00',
  '2026-11-01 00:59:59',
  '2026-11-01 01:30:00',
  '2026-11-01 02:00:00',
  '2026-10-31 23:59:59',
  '2026-11-01 00:00:00',
  '2026-10-01 00:00:00',
  '2026-09-30 20:00:00',
  '2025-10-15 12:00:00',
  '2026-10-05 00:00:00',
  '2026-10-04 23:30:00',
  // The ends of periods that are asked for.
  '2026-09-28 12:00:00',
  '2026-11-02 00:00:00',
  '2026-11-02 00:30:00',
  '2026-11-09 00:00:00',
];
const time = fc.oneof(
  { weight: 5, arbitrary: pick(...moments) },
  {
    weight: 5,
    arbitrary: fc
      .tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 0, max: 23 }), pick('00:00', '30:15'))
      .map(
        ([day, hour, rest]) =>
          `2026-10-${String(day).padStart(2, '0')} ${String(hour).padStart(2, '0')}:${rest}`,
      ),
  },
  { weight: 1, arbitrary: pick('2026-02-31 00:00:00', '', null) },
);
const names = [
  'Brand',
  'brand',
  'Generic 100%',
  'Gen_eric',
  "O'Neil",
  '',
  null,
  '\ufeffBOM',
  '名前',
  'Ärzte',
  'ÄRZTE',
  'İstanbul',
  'ΟΔΟΣ',
];
const record = fc.record({
  sid: fc.integer({ min: 0, max: 60 }),
  date_added: time,
  talk_minutes: fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: 40 }).map((each) => (each / 10).toFixed(1)) },
    { weight: 3, arbitrary: pick('0.0', '0.0', '12.5') },
    { weight: 1, arbitrary: pick('1.50', '007', '1.25', 'x', null, '-0.5') },
  ),
  ani: pick(
    '5555550100',
    '+1 (555) 555-0100',
    '15555550100',
    '5555550101',
    '05555550101',
    '5555550102',
    'Anonymous',
    '',
    null,
  ),
  channel: pick('Tracker', 'Tracker', 'Call Extension', 'Google Call Extensions', null),
  displayed_timestamp: fc.oneof(pick(...moments), pick(null, '2026-10-01 00:00:03')),
  ppc_campaign: pick(...names),
  state: pick('TX', 'tx', 'CA', 'NY', null),
  landing_page: pick('/', '/emergency', '/emergency/now?gclid=abc', '?msclkid=x%20y&wbraid=abcd', null),
  ppc_gclid: pick('Cj0abc', 'no id!', '', null),
  rank: pick('1', '4', '5', null, 'x'),
  activity_type_id: pick(1, 4, 9, null),
});

const fields = {
  text: [
    'state',
    'ppc_campaign',
    'landing_page',
    'click_id',
    'caller_type',
    'caller_first_campaign',
    'caller_last_source',
  ],
  number: [
    'talk_minutes',
    'lag_minutes',
    'hour',
    'rank',
    'caller_nth',
    'hours_since_previous_call',
    'hours_until_next_call',
  ],
};
const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const operators = pick('=', '<>', '<', '<=', '>', '>=');
const texts = pick(
  'Brand',
  'TX',
  'CA',
  '',
  "O'Neil",
  '/emergency',
  '名前',
  'ärzte',
  'i̇stanbul',
  'istanbul',
  'οδος',
  'GEN_ERIC',
);
const numbers = pick('0', '1.5', '2', '12.5', '1.25', '-1', '24');
const leaf = fc.oneof(
  fc
    .tuple(pick(...fields.number), operators, numbers)
    .map(([field, operator, to]) => `${field} ${operator} ${to}`),
  fc
    .tuple(
      pick('state', 'ppc_campaign', 'landing_page', 'click_id', 'caller_last_campaign'),
      fc.oneof(operators, pick('==')),
      texts,
    )
    .map(([field, operator, to]) => `${field} ${operator} ${quote(to)}`),
  fc
    .tuple(
      pick('date_added', 'displayed_timestamp'),
      operators,
      pick('2026-10-05', '2026-11-01', '2026-11-01 01:30:00', '2026-10-15 12:00'),
    )
    .map(([field, operator, to]) => `${field} ${operator} ${quote(to)}`),
  fc
    .tuple(pick('day', 'week', 'month'), operators, pick('2026-10-05', '2026-11-01'))
    .map(([field, operator, to]) => `${field} ${operator} ${quote(to)}`),
  pick(
    "weekday = 'Sat'",
    "weekday <> 'mon'",
    "weekday IN ('Sun', 'Fri')",
    "weekday > 'Sat'",
    "weekday BETWEEN 'Tue' AND 'thu'",
    "vt_device = 'mobile'",
    "caller_type = 'first'",
    "caller_type <> 'First'",
    "click_kind = 'gclid'",
    "activity_type = 'Direct Default'",
    'missed',
    'is_extension',
    'missed = FALSE',
    'talk_minutes IN (0, 1.5)',
    'talk_minutes BETWEEN 1 AND 2',
    "date_added BETWEEN '2026-10-05' AND '2026-10-20'",
  ),
  fc
    .tuple(pick('state', 'ppc_campaign'), fc.array(texts, { minLength: 1, maxLength: 3 }))
    .map(([field, values]) => `${field} IN (${values.map(quote).join(', ')})`),
  fc
    .tuple(
      pick('ppc_campaign', 'landing_page', 'state'),
      pick('B%', '%e%', '_RAND', '/Emergency%', 'Generic 100\\%', 'gen\\_eric', '%', '', 'ä%'),
    )
    .map(([field, pattern]) => `${field} LIKE ${quote(pattern)}`),
  fc
    .tuple(pick(...fields.text, ...fields.number, 'date_added', 'missed'), pick('', 'NOT '))
    .map(([field, not]) => `${field} IS ${not}NULL`),
);
const condition = fc.letrec<{ test: string }>((tie) => ({
  test: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    leaf,
    fc
      .tuple(pick(' AND ', ' OR '), fc.array(tie('test'), { minLength: 2, maxLength: 3 }))
      .map(([word, parts]) => `(${parts.join(word)})`),
    tie('test').map((part) => `NOT (${part})`),
  ),
})).test;

/** Every measure. */
export const lawMeasures = [
  'calls',
  'share',
  'missed',
  'missed_rate',
  'talk_sum',
  'talk_mean',
  'talk_median',
  'talk_p90',
  'callers',
  'repeat_callers',
  'first_time_callers',
  'lag_median',
  'first',
  'last',
  'distinct(campaign)',
  'distinct(weekday)',
  'without(campaign)',
  'without(rank)',
  'count(rank >= 4) as low_rank',
  "share(campaign = 'brand') as of_brand",
  'answered',
  'answered_rate',
];
/** Every kind of group. */
export const lawGroups = [
  'ppc_campaign',
  'state',
  'channel',
  'day',
  'week',
  'month',
  'weekday',
  'hour',
  'caller_type',
  'click_kind',
  'activity_type',
  'missed',
  'account',
  'is_extension',
  'talk_minutes',
  'caller_nth',
  'caller_first_campaign',
  'caller_last_campaign',
  'displayed_timestamp',
];
/** What leaves out calls or rows, in half of the questions: with all of it together most answers would be empty. */
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 2, nil: undefined });
const question: fc.Arbitrary<Question> = fc
  .record(
    {
      from: pick('2026-10-01', '2026-09-28 12:00', '2026-10-25', '2026-03-01'),
      to: pick('2026-11-01', '2026-11-02 00:30', '2026-11-08'),
      groupBy: fc.uniqueArray(pick(...lawGroups), { maxLength: 3 }),
      measures: fc.uniqueArray(pick(...lawMeasures), { minLength: 1, maxLength: 6 }),
      personal: pick('show' as const),
      calls: pick('all' as const, 'all' as const, 'website' as const, 'extensions' as const),
      accounts: sometimes(pick(['main'], ['third'], ['main', 'other'], ['other', 'third'])),
      inZone: pick('Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe'),
      weekStart: pick('sunday' as const, 'monday' as const),
      compare: pick<NonNullable<Question['compare']>>('previous', 'year', {
        from: '2026-10-10',
        to: '2026-10-12 06:00',
      }),
      where: fc.oneof({ weight: 2, arbitrary: condition }, { weight: 1, arbitrary: fc.constant('') }),
      q: sometimes(
        pick(
          'talk_minutes:[1 TO *]',
          'talk_minutes:{0 TO 2],inc_gce:1',
          'date_added:[2026-10-05 00:00:00 TO *]',
        ),
      ),
      topPer: sometimes(pick(1, 2)),
      limit: sometimes(pick(1, 3, 10)),
      orderBy: fc.tuple(fc.nat(), pick('asc', 'desc'), fc.nat(), pick('asc', 'desc')),
      having: sometimes(pick('>', '<=', '<>')),
      spend: pick({ Brand: 10, brand: 1, TX: 2, nothing: 5 }, { Mon: 3, '2026-10': 2, true: 4 }),
    },
    { requiredKeys: ['measures', 'groupBy', 'where'] },
  )
  .map(
    ({ orderBy, having, inZone, compare, topPer, spend, groupBy, where, from, to, ...others }): Question => {
      // To compare, a period needs both ends.
      const compares = compare !== undefined && (from ?? to) !== undefined;
      const period = compares ? { from: from ?? '2026-10-01', to: to ?? '2026-11-01' } : { from, to };
      const rest = { ...others, ...period };
      // Two columns cannot have one name.
      const asked = rest.measures.map((each) =>
        each === 'missed' && groupBy.includes('missed') ? 'missed as missed_calls' : each,
      );
      const columns = [...groupBy, ...asked.map(columnOf)];
      const at = (i: number) => columns[i % columns.length];
      const numeric = asked.map(columnOf).find((each) => each !== 'first' && each !== 'last');
      return {
        ...rest,
        ...(where === '' ? {} : { where }),
        groupBy,
        measures: asked,
        ...(inZone === undefined ? {} : { timeZone: 'America/New_York', inZone }),
        ...(compares ? { compare } : {}),
        ...(orderBy === undefined
          ? {}
          : { order: `${at(orderBy[0])} ${orderBy[1]}, ${at(orderBy[2])} ${orderBy[3]}` }),
        ...(groupBy.length > 0 && topPer !== undefined ? { topPer } : {}),
        ...(groupBy.length > 0 && having !== undefined && numeric !== undefined
          ? { having: `${numeric} ${having} 1` }
          : {}),
        ...(groupBy.length === 1 && spend !== undefined ? { spend } : {}),
      };
    },
  );

const columnOf = (measure: string): string =>
  / as (\w+)$/.exec(measure)?.[1] ??
  measure
    .replace('distinct(campaign', 'distinct_ppc_campaign')
    .replace('distinct(', 'distinct_')
    .replace('without(campaign', 'without_ppc_campaign')
    .replace('without(', 'without_')
    .replace('within(', 'within_')
    .replace(')', '');

/** The accounts of a set of calls. */
export type LawAccount = 'main' | 'other' | 'third';

const batch = (account: LawAccount, maxLength: number) =>
  fc.tuple(fc.constant(account), fc.array(record, { maxLength }));

/**
 * Calls of three accounts in the order in which they come, some of them again with other values, and questions about them. Questions
 * about different accounts are about different calls.
 */
export const cases = (questions: number) =>
  fc.tuple(
    fc.tuple(
      batch('main', 40),
      batch('other', 30),
      batch('third', 15),
      fc.oneof(batch('main', 20), batch('other', 20)),
    ),
    fc.array(question, { minLength: questions, maxLength: questions }),
  );
