import { formatNaive, parseNaive } from '@call-attribution/core/time';
import { expect, test } from 'vitest';
import { answerQuestion, type Question, QuestionError, readPeriod } from '../src/index.ts';

// A Wednesday.
const now = parseNaive('2026-11-25 15:30:00');
const clock = { now, timeZone: 'UTC' };

const cases: readonly (readonly [said: string, from: string | null, to: string | null])[] = [
  ['today', '2026-11-25', '2026-11-26'],
  ['Yesterday', '2026-11-24', '2026-11-25'],
  ['this week', '2026-11-23', '2026-11-30'],
  ['last week', '2026-11-16', '2026-11-23'],
  ['last month', '2026-10-01', '2026-11-01'],
  ['this quarter', '2026-10-01', '2027-01-01'],
  ['last quarter', '2026-07-01', '2026-10-01'],
  ['last year', '2025-01-01', '2026-01-01'],
  ['month to date', '2026-11-01', '2026-11-26'],
  ['last 28 days', '2026-10-28', '2026-11-25'],
  ['last 1 day', '2026-11-24', '2026-11-25'],
  ['past 30 days', '2026-10-26', '2026-11-25'],
  ['last 2 weeks', '2026-11-09', '2026-11-23'],
  ['last 3 months', '2026-08-01', '2026-11-01'],
  ['last 2 hours', '2026-11-25 13:30:00', '2026-11-25 15:30:00'],
  ['2026', '2026-01-01', '2027-01-01'],
  ['2026-Q3', '2026-07-01', '2026-10-01'],
  ['Q4 2026', '2026-10-01', '2027-01-01'],
  ['2024-02', '2024-02-01', '2024-03-01'],
  ['october 2026', '2026-10-01', '2026-11-01'],
  ['Oct 2026', '2026-10-01', '2026-11-01'],
  ['2024-02-29', '2024-02-29', '2024-03-01'],
  ['2026-10-01 to 2026-10-15', '2026-10-01', '2026-10-16'],
  ['2026-10-01..2026-10-15 12:00', '2026-10-01', '2026-10-15 12:00:00'],
  ['2026-12 - 2027-01', '2026-12-01', '2027-02-01'],
  ['since last month', '2026-10-01', null],
  ['until yesterday', null, '2026-11-25'],
  ['2026-W47', '2026-11-16', '2026-11-23'],
  ['2026W1', '2025-12-29', '2026-01-05'],
  ['2026-w53', '2026-12-28', '2027-01-04'],
  ['last weekend', '2026-11-21', '2026-11-23'],
  ['this weekend', '2026-11-28', '2026-11-30'],
  ['monday', '2026-11-23', '2026-11-24'],
  ['Wed', '2026-11-25', '2026-11-26'],
  ['last wednesday', '2026-11-18', '2026-11-19'],
  ['thursday', '2026-11-19', '2026-11-20'],
  ['since monday', '2026-11-23', null],
  ['monday to yesterday', '2026-11-23', '2026-11-25'],
  ['october', '2026-10-01', '2026-11-01'],
  ['Nov', '2026-11-01', '2026-12-01'],
  ['december', '2025-12-01', '2026-01-01'],
  ['since march', '2026-03-01', null],
  ['All time', null, null],
];

const shown = (millis: number | null) => (millis === null ? null : formatNaive(millis));

test.each(cases.map(([said, from, to]) => ({ said, from, to })))('$said', ({ said, from, to }) => {
  const whole = (text: string | null) => (text?.length === 10 ? `${text} 00:00:00` : text);
  const found = readPeriod({ period: said }, clock);
  expect([shown(found.from), shown(found.to)]).toEqual([whole(from), whole(to)]);
});

test.each([
  '',
  'soon',
  '2026-13',
  '2026-02-30',
  'last 0 days',
  'between',
  '2026-Q5',
  '2026-W54',
  '2027-W53',
  '2026-W0',
  'last someday',
  '9999',
  'last 99999 years',
])('%j is no period', async (period) => {
  await expect(answerQuestion({ period }, [])).rejects.toThrow(QuestionError);
});

test('the zone of the answer says what day it is, on both sides of midnight', async () => {
  const at = Date.parse('2026-11-01T03:30:00Z');
  const periodIn = async (inZone: string) =>
    (await answerQuestion({ period: 'today', timeZone: 'UTC', inZone }, [], { now: at })).period;
  expect(await periodIn('America/New_York')).toMatchObject({
    from: '2026-10-31 00:00:00',
    to: '2026-11-01 00:00:00',
  });
  expect(await periodIn('Europe/Berlin')).toMatchObject({ from: '2026-11-01 00:00:00' });
});

test('a period that ends before it begins, or two ways to say it, are refused', async () => {
  await expect(answerQuestion({ period: '2026-10-05 to 2026-10-01' }, [])).rejects.toThrow(
    'ends before it begins',
  );
  await expect(answerQuestion({ period: 'today', from: '2026-10-01' }, [])).rejects.toThrow(
    'period has both ends: leave out `from` and `to`.',
  );
});

test.each([
  ['2026-11-09 to 2026-11-15', 'week', '2025-11-10', '2025-11-17'],
  // Days that happen to be whole weeks: the answer does not depend on the day on which it is asked.
  ['2026-11-09 to 2026-11-15', 'day', '2025-11-09', '2025-11-16'],
  ['2020-12-28 to 2021-01-03', 'week', '2019-12-30', '2020-01-06'],
  ['2026-11-08 to 2026-11-14', 'week', '2025-11-08', '2025-11-15'],
  ['2027-02', 'week', '2026-02-01', '2026-03-01'],
  ['2024-02-29', 'day', '2023-02-28', '2023-03-01'],
] as const)('a year before %s by %s', async (period, group, from, to) => {
  const { compared } = await answerQuestion({ period, groupBy: [group], compare: 'year' }, []);
  expect(compared).toEqual({ from: `${from} 00:00:00`, to: `${to} 00:00:00` });
});

test.each([
  ['last moth', 'period is "last moth", which is not a period. Did you mean \'last month\'?'],
  ['yesterdy', 'period is "yesterdy", which is not a period. Did you mean \'yesterday\'?'],
  ['2026-02-30', 'period is "2026-02-30", which is not a period. Did you mean 2026-02-28?'],
  [
    '2026-11-20 14:00:00',
    'period is "2026-11-20 14:00:00", which is a moment. Write both ends, such as \'2026-11-20 14:00:00 to 2026-11-20 15:00:00\'.',
  ],
  [
    '2026-11 to 2026-09',
    'period is "2026-11 to 2026-09", which ends before it begins. Write the earlier time first.',
  ],
])('the mistake in %j is told with its fix', async (period, message) => {
  await expect(answerQuestion({ period }, [])).rejects.toThrow(message);
});

test('28d begins at the midnight 28 days ago and ends now; its days are counted in the zone', () => {
  const at = Date.parse('2026-11-26T03:30:00Z');
  const { from, to, moves } = readPeriod(
    { from: '28d' },
    { now: at, timeZone: 'America/New_York' },
  );
  expect([shown(from), shown(to), moves]).toEqual([
    '2026-10-28 00:00:00',
    '2026-11-25 22:30:01',
    true,
  ]);
  expect(() => readPeriod({ from: '12h' }, clock)).toThrow('or 28d for 28 days ago');
  expect(() => readPeriod({ to: '28d' }, clock)).toThrow('not a time that exists');
});

test.each([
  // Clocks went back on 1 November 2026 at 02:00, and forward on 8 March.
  ['2026-11-01T06:40:00Z', '2026-10-31 23:40:00', '2026-11-01 01:40:00'],
  ['2026-03-08T07:30:00Z', '2026-03-08 00:30:00', '2026-03-08 03:30:00'],
])('the last 2 hours at %s lose no call when clocks are set', (instant, from, to) => {
  const found = readPeriod(
    { period: 'last 2 hours' },
    { now: Date.parse(instant), timeZone: 'America/New_York' },
  );
  expect([shown(found.from), shown(found.to)]).toEqual([from, to]);
});

test('an answer says whose days they are, and how far a period is that is not over', async () => {
  const at = { now };
  const notes = async (question: Question) =>
    (await answerQuestion(question, [], at)).notes.map(({ message }) => message);
  expect(await notes({ period: 'this week', timeZone: 'UTC' })).toContain(
    'The period is not over: 2 of 7 days are.',
  );
  expect(await notes({ period: 'last 7 days' })).toContainEqual(
    expect.stringMatching(/^The period is counted in days of this machine \(.+\)/),
  );
  expect(await notes({ period: 'last 7 days', timeZone: 'UTC' })).not.toContainEqual(
    expect.stringMatching(/not over|this machine/),
  );
  await expect(
    answerQuestion({ period: '2026-10', compare: '2026-10-01 to 2026-10-31' }, [], at),
  ).rejects.toThrow('A period cannot be compared with itself');
});
