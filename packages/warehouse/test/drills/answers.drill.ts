import { openDrill } from '@call-attribution/test-tools/drill';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AnswerValue, Measure, Question } from '../../src/index.ts';
import { answerOf } from '../oracle.ts';
import { printTest, type Row, type Test } from '../oracle-facts.ts';
import { call, testWarehouse } from '../support.ts';

// The drills run this file too, with more runs: see vitest.config.ts.
const runs = Number(process.env.CALLS_LAW_RUNS ?? 2);
const tally = openDrill({
  name: 'warehouse-answers',
  kind: 'random histories',
  what: 'Random calls and questions, around clock changes and with odd values; each answer is what plain JavaScript finds in the same records',
});
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
const record = fc.record({
  account: pick('main', 'main', 'other'),
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
  ppc_campaign: pick('Brand', 'brand', 'Generic 100%', 'Gen_eric', "O'Neil", '', null, '\ufeffBOM', '名前'),
  state: pick('TX', 'CA', 'NY', null),
  landing_page: pick('/', '/emergency', '/emergency/now', null),
});

const operators = pick('=', '<>', '<', '<=', '>', '>=');
const texts = pick('Brand', 'TX', 'CA', '', "O'Neil", '/emergency', '名前');
const leaf: fc.Arbitrary<Test> = fc.oneof(
  fc.record({
    kind: pick('compare' as const),
    field: pick('talk_minutes', 'lag_minutes'),
    operator: operators,
    to: pick(0, 1.5, 2, 12.5, 1.25, -1),
  }),
  fc.record({
    kind: pick('compare' as const),
    field: pick('hour'),
    operator: operators,
    to: pick(0, 9, 18, 2.5),
  }),
  fc.record({
    kind: pick('compare' as const),
    field: pick('state', 'ppc_campaign', 'landing_page'),
    operator: operators,
    to: texts,
  }),
  fc.record({
    kind: pick('compare' as const),
    field: pick('date_added'),
    operator: operators,
    to: pick('2026-10-05', '2026-11-01', '2026-11-01 01:30:00', '2026-10-15 12:00'),
  }),
  fc.record({
    kind: pick('compare' as const),
    field: pick('day'),
    operator: operators,
    to: pick('2026-10-05', '2026-11-01'),
  }),
  fc.record({
    kind: pick('compare' as const),
    field: pick('month'),
    operator: operators,
    to: pick('2026-10', '2026-11'),
  }),
  fc.record({
    kind: pick('compare' as const),
    field: pick('weekday'),
    operator: pick('=', '<>'),
    to: pick('Sat', 'Sun', 'Mon'),
  }),
  fc.record({
    kind: pick('compare' as const),
    field: pick('caller_type'),
    operator: pick('='),
    to: pick('first', 'returning'),
  }),
  fc.record({
    kind: pick('in' as const),
    field: pick('state', 'ppc_campaign'),
    values: fc.array(texts, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    kind: pick('in' as const),
    field: pick('talk_minutes'),
    values: fc.array(pick(0, 1.5, 2), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    kind: pick('like' as const),
    field: pick('ppc_campaign', 'landing_page', 'state'),
    pattern: pick('B%', '%e%', '_rand', '/emergency%', 'Generic 100\\%', 'Gen\\_eric', '%', ''),
    ignoreCase: fc.boolean(),
  }),
  fc.record({
    kind: pick('null' as const),
    field: pick('state', 'ppc_campaign', 'talk_minutes', 'date_added', 'caller_type', 'lag_minutes'),
  }),
  fc.record({ kind: pick('flag' as const), field: pick('missed', 'is_extension') }),
);
const condition = fc.letrec<{ test: Test }>((tie) => ({
  test: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    leaf,
    fc.record({
      kind: pick('and' as const, 'or' as const),
      parts: fc.array(tie('test'), { minLength: 2, maxLength: 3 }),
    }),
    fc.record({ kind: pick('not' as const), part: tie('test') }),
  ),
})).test;

const measures: readonly Measure[] = [
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
  'value',
  { distinct: 'state' },
  { distinct: 'weekday' },
];
const groups = pick(
  'ppc_campaign',
  'state',
  'channel',
  'day',
  'week',
  'month',
  'weekday',
  'hour',
  'caller_type',
  'missed',
  'account',
  'is_extension',
  'talk_minutes',
);
const question = fc.record(
  {
    from: pick('2026-10-01', '2026-09-28 12:00', '2026-10-25', '2026-03-01'),
    to: pick('2026-11-01', '2026-11-02 00:30', '2026-11-08'),
    groupBy: fc.uniqueArray(groups, { maxLength: 3 }),
    measures: fc.uniqueArray(pick(...measures), { minLength: 1, maxLength: 6 }),
    calls: pick('all' as const, 'website' as const, 'extensions' as const),
    accounts: pick(['main'], ['main', 'other']),
    inZone: pick('Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe'),
    compare: pick<NonNullable<Question['compare']>>('previous', 'year', {
      from: '2026-10-10',
      to: '2026-10-12 06:00',
    }),
    test: condition,
  },
  { requiredKeys: ['measures'] },
);
const values = {
  rules: [
    { minTalk: '2m' as const, campaign: 'Gen*', value: 120.5 },
    { maxTalk: '90s' as const, value: 3.25 },
    { campaign: 'b*d', value: 7 },
  ],
  otherwise: 1.1,
};

/** Rows by their groups, so that two lists compare whatever their order. */
const sorted = (rows: readonly Readonly<Record<string, AnswerValue>>[]) =>
  rows.map((row) => JSON.stringify(Object.entries(rounded(row)).sort())).sort();
/** Without the last digits of binary fractions, which depend on the order of a sum. */
const rounded = (row: Readonly<Record<string, AnswerValue>>) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'number' ? Number(value.toPrecision(12)) : value,
    ]),
  );

test('every answer is what plain JavaScript finds in the same records', async () => {
  const { warehouse } = await testWarehouse();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(record, { maxLength: 40 }), { minLength: 1, maxLength: 3 }),
      fc.array(question, { minLength: 4, maxLength: 4 }),
      tally.counted(async (batches, questions) => {
        run += 1;
        const accountOf = (account: string) => `${account}-${run}`;
        const stored = new Map<string, Row>();
        for (const batch of batches) {
          for (const name of ['main', 'other']) {
            const own = batch.filter(({ account }) => account === name);
            const calls = [
              call('always', { date_added: '2026-10-15 12:00:00' }),
              ...own.map(({ account: _, sid, ...rest }) => call(`S${sid}`, rest)),
            ];
            await warehouse.load(accountOf(name), calls);
            for (const each of calls)
              stored.set(`${name} ${each.sid}`, { account: accountOf(name), call: each });
          }
        }
        for (const { test: condition, inZone, ...rest } of questions) {
          const asked: Question = {
            ...rest,
            accounts: (rest.accounts ?? ['main', 'other']).map(accountOf),
            ...(inZone === undefined ? {} : { timeZone: 'America/New_York', inZone }),
            ...(condition === undefined ? {} : { where: printTest(condition) }),
            ...(rest.compare !== undefined && (rest.from === undefined || rest.to === undefined)
              ? { compare: undefined }
              : {}),
            values,
            limit: 100_000,
          };
          if (asked.groupBy?.includes('missed') && asked.measures?.includes('missed')) {
            await expect(warehouse.analyze(asked)).rejects.toThrow('both give a column missed');
            continue;
          }
          const expected = answerOf([...stored.values()], asked, condition ?? null);
          const answer = await warehouse.analyze(asked);
          expect(answer.calls).toBe(expected.calls);
          expect(rounded(answer.total)).toEqual(rounded(expected.total));
          if ((asked.groupBy ?? []).length > 0) expect(sorted(answer.rows)).toEqual(sorted(expected.rows));
          expect(answer.groups).toBe(answer.rows.length);
        }
      }),
    ),
    { numRuns: runs },
  );
}, 600_000);
