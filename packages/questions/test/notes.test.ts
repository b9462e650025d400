import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  answerQuestion,
  createAnswers,
  planQuestion,
  type Question,
  type QuestionError,
} from '../src/index.ts';

const [plain] = fixtureCalls(1);
const call = (sid: string, values: Readonly<Record<string, unknown>>): Call =>
  Object.assign({}, plain, { sid, state: 'TX' }, values);

// Thursday to Sunday.
const calls = [
  call('a', {
    date_added: '2026-10-01 10:00:00',
    ppc_campaign: 'Generic',
    rank: '1',
    vt_device: 'desktop',
  }),
  call('b', {
    date_added: '2026-10-02 11:00:00',
    ppc_campaign: '',
    rank: '5',
    vt_device: 'desktop',
  }),
  call('c', {
    date_added: '2026-10-03 12:00:00',
    ppc_campaign: null,
    rank: '7',
    vt_device: 'tablet',
  }),
  call('d', { date_added: '2026-10-04 13:00:00', ppc_campaign: null, rank: null, vt_device: null }),
];
const ask = (question: Question, of: readonly Call[] = calls) => answerQuestion(question, of);
const said = ({ notes }: Pick<Answer, 'notes'>): string[] => notes.map(({ message }) => message);
const refusalOf = async (question: Question): Promise<string> =>
  ask(question).then(
    () => '',
    (error: QuestionError) => error.message,
  );

const at = Date.parse('2026-11-27T12:00:00Z');

/** Calls at 9, 12 and 15 o'clock of each day, so many each time; a day may have others. */
function daily(
  first: string,
  last: string,
  {
    each = 10,
    values = () => ({}),
    days = {},
  }: {
    readonly each?: number;
    readonly values?: (i: number) => Readonly<Record<string, unknown>>;
    readonly days?: Readonly<Record<string, number>>;
  } = {},
): Call[] {
  const made: Call[] = [];
  for (let day = Date.parse(first); day <= Date.parse(last); day += 86_400_000) {
    const date = new Date(day).toISOString().slice(0, 10);
    for (let i = 0; i < (days[date] ?? each * 3); i += 1) {
      const clock = ['09', '12', '15'][i % 3];
      const own = { date_added: `${date} ${clock}:00:00`, ...values(made.length) };
      made.push(call(`${date} ${i}`, own));
    }
  }

  return made;
}

/** The codes of the notes on what a number is counted of. */
async function traps(question: Question, of: readonly Call[]): Promise<string[]> {
  const { notes } = await answerQuestion({ timeZone: 'UTC', ...question }, of, { now: at });
  return notes.map(({ code }) => code).filter((code) => code !== 'unfinished');
}

/** The one note of a code. */
async function noteOf(code: string, question: Question, of: readonly Call[]) {
  const { notes } = await answerQuestion({ timeZone: 'UTC', ...question }, of, { now: at });
  return notes.find((note) => note.code === code)?.message;
}

describe('a negation leaves out calls without a value', () => {
  const third = daily('2026-10-01', '2026-11-26', {
    values: (i) => ({
      state: i % 3 === 0 ? null : ['TX', 'CA'][i % 2],
      ppc_campaign: i % 3 === 0 ? null : 'Brand',
    }),
  });
  const rare = daily('2026-10-01', '2026-11-26', {
    values: (i) => ({ state: i % 200 === 0 ? null : 'TX' }),
  });

  test.each([
    "state <> 'CA'",
    "NOT state = 'CA'",
    "state NOT IN ('CA', 'NY')",
    "state NOT LIKE 'C%'",
    "NOT (state = 'CA' OR state = 'NY')",
    "talk_minutes >= 0 AND NOT (state LIKE 'C%' AND talk_minutes >= 0)",
  ])('%s', async (where) => {
    const { calls } = await ask({ where }, third);
    const note = (await noteOf('no_value', { where }, third)) ?? '';
    expect(note).toMatch(/^570 calls without state are left out.*OR state IS NULL\) adds them\.$/);
    const added = await ask(
      { where: `(${where}) OR (talk_minutes >= 0 AND state IS NULL)` },
      third,
    );
    expect(added.calls - calls).toBe(570);
  });

  test('conditions on two fields add them together', async () => {
    const where = "state <> 'CA' AND ppc_campaign <> 'Other'";
    expect(await noteOf('no_value', { where }, third)).toMatch(
      /IS NULL\) and \(… OR \w+ IS NULL\) add them\.$/,
    );
  });

  test('in a measure they count as no', async () => {
    const measures = ["share(state <> 'TX')"];
    expect(await noteOf('no_value', { measures }, third)).toBe(
      "In share(state <> 'TX') 570 calls without state count as no, since a negation is not true of them either: (… OR state IS NULL) counts them.",
    );
    expect(await traps({ measures: ["share(state = 'TX')"] }, third)).toEqual([]);
  });

  test.each([
    "state = 'TX'",
    "NOT (state <> 'TX')",
    "state <> 'CA' OR state IS NULL",
    "state <> 'CA' AND state IS NOT NULL",
    "state IN ('TX')",
    "weekday NOT IN ('Sat', 'Sun')",
    "rank = 77 AND state <> 'TX'",
  ])('%s leaves out none unsaid', async (where) => {
    expect(await noteOf('no_value', { where }, third)).toBeUndefined();
  });

  test('of a few in a hundred nothing is said', async () => {
    expect(await noteOf('no_value', { where: "state <> 'CA'" }, rare)).toBeUndefined();
    expect(await noteOf('no_value', { where: "state <> 'CA'" }, third.slice(0, 9))).toBeUndefined();
  });

  test('parts that are merged say it as one', async () => {
    const plan = planQuestion({ where: "state <> 'CA'" });
    const part = createAnswers([plan]);
    const whole = createAnswers([plan]);
    for (const [i, each] of third.entries()) (i % 2 === 0 ? part : whole).add(each);
    whole.merge(part);
    expect(said(whole.answers()[0] as Answer)).toContainEqual(expect.stringMatching(/^570 calls/));
  });
});

describe('where the data begins and ends', () => {
  const all = daily('2026-08-30', '2026-11-27');
  const stopped = daily('2026-08-30', '2026-11-04');
  const weekdays = daily('2026-08-31', '2026-11-27').filter(
    ({ date_added: time }) =>
      ![0, 6].includes(new Date(`${String(time).slice(0, 10)}Z`).getUTCDay()),
  );

  test('a month, a week or a day that lies partly before the first call is no whole one', async () => {
    const months = await answerQuestion({ groupBy: ['month'], timeZone: 'UTC' }, all, { now: at });
    expect(months.known).toEqual({ from: '2026-08-30 00:00:00', to: null });
    const { known } = await answerQuestion(
      { groupBy: ['week'], from: '2026-09-07', timeZone: 'UTC' },
      stopped,
      { now: at },
    );
    expect(known).toEqual({ from: null, to: '2026-11-05 00:00:00' });
  });

  test('it is said when calls stop before the period ends', async () => {
    expect(await traps({ from: '2026-09-07', groupBy: ['week'] }, stopped)).toEqual(['last_call']);
    expect(await traps({ period: 'this month' }, stopped)).toEqual(['last_call']);
    expect(await traps({ period: '2026' }, all)).toEqual(['first_call']);
  });

  test('a closed weekend, a night and a period that was over are no end of the data', async () => {
    const monday = Date.parse('2026-11-30T07:00:00Z');
    const { notes, known } = await answerQuestion(
      { period: 'this month', groupBy: ['week'], timeZone: 'UTC' },
      weekdays,
      { now: monday },
    );
    expect(notes.map(({ code }) => code)).toEqual(['unfinished']);
    expect(known).toEqual({ from: null, to: null });
    expect(await traps({ period: '2026-10', groupBy: ['month'] }, stopped)).toEqual([]);
    expect(await traps({ groupBy: ['state'] }, stopped)).toEqual([]);
  });
});

describe('first-time callers near the begin of the data', () => {
  const long = daily('2026-05-01', '2026-11-27', { each: 1 });

  test.each<Question>([
    { measures: ['first_time_callers'], period: '2026-06' },
    { groupBy: ['caller_type'], from: '2026-06-10' },
    { where: 'caller_nth = 1', period: '2026-07' },
    { groupBy: ['caller_first_campaign'] },
  ])('%j', async (question) => {
    expect(await noteOf('new_callers', question, long)).toBe(
      'Calls are known from 2026-05-01 on: who called before that counts as new.',
    );
  });

  test.each<Question>([
    { measures: ['first_time_callers'], period: '2026-10' },
    { groupBy: ['caller_type'], from: '2026-08-01' },
    { measures: ['callers'], period: '2026-05' },
    { measures: ['called_again_within(24)'], period: '2026-06' },
  ])('%j needs none', async (question) => {
    expect(await noteOf('new_callers', question, long)).toBeUndefined();
  });
});

describe('days with hardly a call', () => {
  const lost = daily('2026-10-01', '2026-11-26', { days: { '2026-11-19': 1, '2026-11-02': 0 } });
  const named =
    'Few calls on 2026-11-02 (0, usually 30), 2026-11-19 (1, usually 30): less than a tenth of what the day of the week has.';

  test.each<Question>([
    { period: '2026-11', compare: 'previous' },
    { from: '2026-10-01', measures: ['per_day'] },
    { from: '2026-10-01', groupBy: ['week'] },
    { from: '2026-10-01', groupBy: ['weekday'], where: "state = 'TX'" },
  ])('%j', async (question) => {
    expect(await noteOf('few_calls', question, lost)).toBe(named);
  });

  test('a day without any is named once where each day has a row', async () => {
    const question: Question = { from: '2026-10-01', to: '2026-11-26', groupBy: ['day'] };
    expect(await traps(question, lost)).toEqual(['few_calls', 'empty_days']);
    expect(await noteOf('few_calls', question, lost)).toContain('on 2026-11-19 (1, usually 30):');
  });

  test('numbers that are not of days, days a condition leaves out, and small accounts are silent', async () => {
    expect(await traps({ from: '2026-10-01', groupBy: ['state'] }, lost)).toEqual([]);
    const where = "weekday NOT IN ('Mon', 'Thu')";
    expect(
      await noteOf('few_calls', { from: '2026-10-01', measures: ['per_day'], where }, lost),
    ).toBeUndefined();
    const small = daily('2026-10-01', '2026-11-26', { each: 3, days: { '2026-11-19': 0 } });
    expect(
      await noteOf('few_calls', { from: '2026-10-01', measures: ['per_day'] }, small),
    ).toBeUndefined();
  });

  test('two weeks that are compared are judged by the four weeks before them', async () => {
    const week: Question = { period: '2026-11-16 to 2026-11-22', compare: 'previous' };
    expect(await noteOf('few_calls', week, lost)).toBe(
      'Few calls on 2026-11-19 (1, usually 30): less than a tenth of what the day of the week has.',
    );
    const known = lost.filter(({ date_added: at }) => at >= '2026-11-02');
    expect(await noteOf('few_calls', week, known)).toBeUndefined();
    const whole = daily('2026-10-01', '2026-11-26');
    expect(await noteOf('few_calls', week, whole)).toBeUndefined();
  });
});

test('minutes are said where a condition calls them otherwise', async () => {
  expect(await noteOf('minutes', { where: 'duration >= 60' }, calls)).toBe(
    'The condition compares talk_minutes, which is in minutes: 60 seconds are 1.',
  );
  expect(await noteOf('minutes', { where: 'talk_minutes >= 60' }, calls)).toBeUndefined();
  expect(await noteOf('minutes', { where: 'missed' }, calls)).toBeUndefined();
  expect(
    await noteOf('minutes', { where: "state = 'TX' AND minutes >= 2" }, calls),
  ).toBeUndefined();
  const definitions = { lead: 'talk_minutes >= 2' };
  expect(await noteOf('minutes', { where: 'lead', definitions }, calls)).toBeUndefined();
});

test('an answer has three of these notes at most, the one that changes the number most first', async () => {
  const many = daily('2026-08-30', '2026-11-10', {
    values: (i) => ({ state: i % 10 === 0 ? null : 'TX' }),
    days: { '2026-10-19': 1 },
  });
  const question: Question = {
    from: '2026-08-01',
    groupBy: ['week'],
    measures: ['first_time_callers', 'per_day'],
    where: "state <> 'CA' AND duration >= 0",
  };
  expect(await traps(question, many)).toEqual(['minutes', 'new_callers', 'first_call']);
});

describe('rates, means and shares bring their calls', () => {
  const columnsOf = async (question: Question): Promise<string[]> =>
    (await ask(question)).columns.map(({ name }) => name);

  test.each<[readonly string[], readonly string[]]>([
    [['missed_rate'], ['missed_rate', 'calls']],
    [
      ['talk_mean', 'median(rank)'],
      ['talk_mean', 'median_rank', 'calls'],
    ],
    [['share(missed)'], ['share(missed)', 'calls']],
    [['share(missed) as calls'], ['calls']],
    [
      ['missed_rate', 'missed'],
      ['missed_rate', 'missed'],
    ],
    [['per_day'], ['per_day']],
    [['talk_sum'], ['talk_sum']],
    [['reached_within(48)'], ['reached_within_48', 'reached_within_48_of']],
    [
      ['missed_rate', 'called_again_within(4) as again'],
      ['missed_rate', 'again', 'again_of', 'calls'],
    ],
  ])('%j', async (measures, columns) => {
    expect(await columnsOf({ measures })).toEqual(columns);
    expect(await columnsOf({ measures, groupBy: ['state'] })).toEqual(['state', ...columns]);
  });

  test('order and limit stay with what is asked', async () => {
    const { rows } = await ask({ groupBy: ['rank'], measures: ['talk_median'], limit: 2 });
    expect(rows.map((row) => Object.keys(row))).toEqual([
      ['rank', 'talk_median', 'calls'],
      ['rank', 'talk_median', 'calls'],
    ]);
  });
});

describe('rows are chosen and ordered by any measure', () => {
  const many = daily('2026-11-02', '2026-11-15', {
    values: (i) => ({ state: i % 4 === 0 ? 'TX' : 'CA', rank: String((i % 3) + 1) }),
  });
  const states = async (question: Question) =>
    (await ask({ groupBy: ['state'], measures: ['missed_rate'], ...question }, many)).rows;

  test.each<[Question, readonly string[]]>([
    [{ having: 'calls >= 200' }, ['CA']],
    [{ having: 'calls < 200 AND share < 0.5' }, ['TX']],
    [{ having: "count(weekday = 'Mon') >= 40" }, ['CA']],
    [{ having: 'median(rank) = 2', order: 'calls' }, ['TX', 'CA']],
    [{ order: 'per_day desc' }, ['CA', 'TX']],
    [{ order: "count(state = 'TX') desc" }, ['TX', 'CA']],
    [{ order: 'mean(rank), calls' }, ['TX', 'CA']],
  ])('%j', async (question, expected) => {
    const rows = await states({ measures: ['missed'], ...question });
    expect(rows.map(({ state }) => state)).toEqual(expected);
    expect(Object.keys(rows[0] ?? {})).toEqual(['state', 'missed']);
  });

  test('a measure that there is not is refused with the nearest', async () => {
    expect(await refusalOf({ groupBy: ['state'], having: 'cals > 2' })).toContain(
      'Did you mean calls?',
    );
    expect(await refusalOf({ groupBy: ['state'], order: 'cals' })).toContain('Did you mean calls?');
    expect(await refusalOf({ groupBy: ['state'], having: 'median(foo) > 2' })).toContain('foo');
  });
});

describe('calls of v2', () => {
  const planned = (question: Question) => () => planQuestion(question, { version: 'v2' });

  test.each<[Question, string]>([
    [{ groupBy: ['campaign'] }, 'ppc_campaign, and these calls are of v2. Use ppc_campaign_id.'],
    [{ groupBy: ['keyword'], where: "state = 'TX'" }, 'Use ppc_keyword_id.'],
    [{ where: "campaign LIKE '%Brand%'" }, 'Use ppc_campaign_id.'],
    [{ where: 'landing_page IS NULL' }, 'Use first_touch.'],
    [{ measures: ['distinct(campaign)'] }, 'Use ppc_campaign_id.'],
    [{ measures: ["share(browser = 'Chrome')"] }, 'Only v3 of the API has browser'],
    [{ groupBy: ['state'], order: 'without(campaign) desc' }, 'Use ppc_campaign_id.'],
    [{ groupBy: ['caller_first_campaign'] }, 'Only v3 of the API has caller_first_campaign'],
  ])('%j is refused', (question, message) => {
    expect(planned(question)).toThrow(message);
    expect(() => planQuestion(question)).not.toThrow();
  });

  test.each<Question>([
    { groupBy: ['ppc_campaign_id', 'month'] },
    { where: "first_touch LIKE '%/emergency%' AND missed", measures: ['talk_mean', 'callers'] },
    { groupBy: ['click_kind'] },
  ])('%j is answered', (question) => {
    expect(planned(question)).not.toThrow();
  });
});

test('the days that changes are divided by are those that the condition allows', async () => {
  const all = daily('2026-09-01', '2026-10-31');
  const weekdays: Question = {
    period: '2026-10',
    compare: '2026-09',
    where: "weekday NOT IN ('Sat', 'Sun')",
  };
  // Both months have 22 working days.
  expect(await noteOf('per_day', weekdays, all)).toBeUndefined();
  expect(await noteOf('per_day', { ...weekdays, where: "weekday = 'Sat'" }, all)).toBe(
    'The periods have 5 and 4 days: compare the change per day of calls.',
  );
  expect(await noteOf('per_day', { period: '2026-10', compare: '2026-09' }, all)).toBe(
    'The periods have 31 and 30 days: compare the change per day of calls.',
  );
});

test('a day that a condition leaves out is no day of per_day', async () => {
  const all = daily('2026-11-02', '2026-11-15');
  const perDay = async (question: Question) =>
    (
      await answerQuestion({ timeZone: 'UTC', measures: ['per_day'], ...question }, all, {
        now: at,
      })
    ).total.per_day;
  const period = { from: '2026-11-02', to: '2026-11-15' };
  expect(await perDay({ ...period, where: "weekday NOT IN ('Sat', 'Sun')" })).toBe(30);
  expect(await perDay({ ...period, where: "weekday = 'Sat'" })).toBe(30);
  expect(await perDay({ ...period, where: 'hour = 9' })).toBe(10);
  expect(await perDay({ ...period, where: "date_added >= '2026-11-09'" })).toBe(30);
  expect(await perDay({ ...period, where: "state = 'TX'" })).toBe(30);
  expect(await perDay({ ...period, where: "weekday = 'Sat' OR state = 'TX'" })).toBe(30);
});

test('a note has a code beside its sentence', async () => {
  expect((await ask({ period: '2026-10' })).notes.map(({ code }) => code)).toEqual([
    'no_time_zone',
    'last_call',
  ]);
});

describe('a field that no call has', () => {
  const lacked = async (question: Question) =>
    said(await ask(question)).filter((note) => note.includes('only v3'));

  test('is not said of calls that a condition or a limit has chosen', async () => {
    expect(await lacked({ groupBy: ['campaign'], where: 'campaign is null' })).toEqual([]);
    expect(await lacked({ groupBy: ['campaign'], where: "weekday = 'Sun'" })).toEqual([]);
    expect(await lacked({ groupBy: ['campaign'], limit: 1 })).toEqual([]);
  });
});

describe('a condition that is true of no call says what the field holds', () => {
  test.each<[Question, string]>([
    [{ where: "state IN ('TY', 'X')" }, "state is never 'TY', 'X'; nearest: 'TX'."],
    [
      { measures: ["share(campaign = 'Genric')"] },
      "ppc_campaign is never 'Genric'; nearest: 'Generic'.",
    ],
    [
      { where: "device = 'mobile'", personal: 'show' },
      "vt_device is never 'mobile'; its values: 'desktop', 'tablet'.",
    ],
  ])('%j', async (question, note) => {
    expect(said(await ask(question))).toContain(note);
    const part = createAnswers([planQuestion(question)]);
    const whole = createAnswers([planQuestion(question)]);
    for (const [i, each] of calls.entries()) (i % 2 === 0 ? part : whole).add(each);
    whole.merge(part);
    expect(said(whole.answers()[0] as Answer)).toContain(note);
  });

  test('what visitors typed is shown to nobody who has not asked for it', async () => {
    expect(said(await ask({ where: "device = 'mobile'" }))).toEqual([]);
  });

  test('where another part of the condition or the period is the reason, nothing is said', async () => {
    expect(said(await ask({ where: "campaign = 'generic' AND rank = 5" }))).toEqual([]);
    expect(
      said(await ask({ measures: ["count(campaign = 'generic')"], where: 'rank = 5' })),
    ).toEqual([]);
  });
});

test('an empty value is none of the different values', async () => {
  expect((await ask({ measures: ['distinct(campaign)', 'without(campaign)'] })).rows).toEqual([
    { distinct_ppc_campaign: 1, without_ppc_campaign: 3 },
  ]);
});

test.each([
  ["weekday > 'fri'", 2],
  ["weekday <= 'Thu'", 1],
  ["weekday BETWEEN 'Mon' AND 'Fri'", 2],
  ["weekday > 'Sun'", 0],
] as const)('%s is in the order of a week', async (where, count) => {
  expect((await ask({ where })).calls).toBe(count);
});

describe('names of columns', () => {
  test('two columns of one name: the measure that is meant is named', async () => {
    expect(await refusalOf({ groupBy: ['missed'], measures: ['missed'] })).toContain(
      '"missed as how_many"',
    );
    expect(await refusalOf({ groupBy: ['missed'], measures: ['calls as missed'] })).toContain(
      '"calls as how_many"',
    );
  });

  test.each(['__proto__', 'constructor'])('%s is none, and no field either', async (name) => {
    expect(await refusalOf({ measures: [`calls as ${name}`] })).toBe(
      `A column cannot be called ${name}: every object in JavaScript has it. Choose another name.`,
    );
    expect(await refusalOf({ groupBy: [name] })).toContain(
      `There is no field "${name}" to group by.`,
    );
    expect(await refusalOf({ where: `${name} = 1` })).toContain(`There is no field ${name}.`);
    expect(await refusalOf({ where: `state ${name} 1` })).not.toContain('native code');
  });
});
