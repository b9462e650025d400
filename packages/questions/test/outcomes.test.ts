import { type Call, fields } from '@call-attribution/core';
import { callerOf } from '@call-attribution/core/record';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  answerQuestion,
  createAnswers,
  matchOutcomes,
  type Outcome,
  type OutcomeFile,
  type OutcomeOptions,
  planQuestion,
  type Question,
  QuestionError,
  readOutcomes,
  usualWindow,
} from '../src/index.ts';

const head = 'phone,time,value';
const caller = '(312) 555-0199';

/** A file as its lines say it; cells with commas are in quotes. */
const fileOf = (lines: readonly string[], name = 'sales.csv'): OutcomeFile => ({
  name,
  rows: lines.map((line, i) => ({
    line: i + 1,
    cells: (line.match(/"[^"]*"|[^,]+|(?<=,)(?=,|$)|^(?=,)/g) ?? []).map((cell) =>
      cell.replaceAll('"', ''),
    ),
  })),
});

const chicago: OutcomeOptions = { timeZone: 'America/Chicago', dates: null };
const read = (lines: readonly string[], options = chicago): readonly Outcome[] =>
  readOutcomes([fileOf(lines)], options).all;
const readOne = (row: string, heads = head): Outcome => read([heads, row])[0] as Outcome;
const refusalOf = (lines: readonly string[], options = chicago): string => {
  try {
    read(lines, options);
  } catch (error) {
    expect(error).toBeInstanceOf(QuestionError);
    const { message } = error as QuestionError;
    expect(message).not.toMatch(/555/);
    return message;
  }
  throw new Error('nothing was refused');
};

describe('the columns of a file of sales', () => {
  test('are found by their usual headings, below lines of a title', () => {
    const [sale] = read([
      'Deals won',
      '',
      'Name,Phone Number,Close Date,Amount,Currency Code,Deal ID,Deal Stage,Conversion Name',
      `Ann,${caller},2026-11-03 14:05:09,250,usd,D-7,Won,Booking`,
    ]);
    expect(sale).toMatchObject({
      place: 'sales.csv, row 4',
      caller: callerOf({ ani: caller }),
      value: 250,
      currency: 'USD',
      conversion: 'Booking',
      id: 'D-7',
      counts: true,
    });
  });

  test('may have the date and the time apart', () => {
    const sale = readOne(`${caller},2026-11-03,2:05 PM,9`, 'phone,date,time,value');
    expect(formatNaive(sale.time)).toBe('2026-11-03 14:05:00');
  });

  test('a column "name" is the customer, and is never the name of a conversion', () => {
    expect(readOne(`Ann,${caller},2026-11-03,9`, 'name,phone,time,value').conversion).toBeNull();
  });

  test('are named where they were taken', () => {
    const { columns } = readOutcomes(
      [fileOf(['Caller,Date,Total', `${caller},2026-11-03,9`])],
      chicago,
    );
    expect(columns).toEqual([
      'sales.csv: phone from "Caller", time from "Date", value from "Total"',
    ]);
  });

  test.each<[string, string[], string]>([
    ['an empty file', [], 'sales.csv: no headings were found'],
    [
      'a file without a value',
      ['phone,time', `${caller},2026-11-03`],
      'sales.csv, row 1: there is no column for the value: expected one of value, amount',
    ],
    [
      'two columns for one thing',
      ['phone,sale date,close date,value', `${caller},2026-11-03,2026-11-04,9`],
      'sales.csv, row 1: "sale date" and "close date" may both be the time: rename all but one',
    ],
    [
      'a row that ends early',
      [head, `${caller},2026-11-03,9`, `${caller},2026-1`],
      'sales.csv, row 3: it ends before its last column: is the file whole, or is it still being written?',
    ],
    [
      'a last row without its optional cells',
      [`${head},id`, `${caller},2026-11-03,9,A`, `${caller},2026-11-03,9`],
      'sales.csv, row 3: it ends before its last column',
    ],
  ])('%s is refused', (_, lines, message) => {
    expect(refusalOf(lines)).toContain(message);
  });
});

describe('the time of a sale', () => {
  test.each([
    ['2026-11-03', '2026-11-03 00:00:00', '2026-11-03 23:59:59'],
    ['2026-11-03 14:05', '2026-11-03 14:05:00', '2026-11-03 14:05:59'],
    ['2026/11/03 14:05:09', '2026-11-03 14:05:09', '2026-11-03 14:05:09'],
    ['2026-11-03T20:05:09Z', '2026-11-03 14:05:09', '2026-11-03 14:05:09'],
    ['2026-11-03T21:05:09.123+01:00', '2026-11-03 14:05:09', '2026-11-03 14:05:09'],
    ['11/23/2026 12:05 AM', '2026-11-23 00:05:00', '2026-11-23 00:05:59'],
    ['11/23/2026 12:05 pm', '2026-11-23 12:05:00', '2026-11-23 12:05:59'],
    ['23-11-2026', '2026-11-23 00:00:00', '2026-11-23 23:59:59'],
    ['3.11.2026 14:05', '2026-11-03 14:05:00', '2026-11-03 14:05:59'],
  ])('%s', (text, from, until) => {
    const sale = readOne(`${caller},${text},9`);
    expect([formatNaive(sale.time), formatNaive(sale.until)]).toEqual([from, until]);
  });

  test('one row says for all whether the day or the month comes first', () => {
    const rows = (last: string) => [head, `${caller},3/4/2026,9`, `${caller},${last},9`];
    const days = (last: string) =>
      read(rows(last)).map(({ time }) => formatNaive(time).slice(0, 10));
    expect(days('25/4/2026')).toContain('2026-04-03');
    expect(days('4/25/2026')).toContain('2026-03-04');
  });

  test('says which instant it is where it has an offset', () => {
    expect(readOne(`${caller},2026-11-01T01:30:00-06:00,9`).instant).toBe(
      Date.UTC(2026, 10, 1, 7, 30),
    );
    expect(readOne(`${caller},2026-11-01 01:30:00,9`).instant).toBeNull();
  });

  const dates = (...texts: string[]) => [head, ...texts.map((text) => `${caller},${text},9`)];
  test.each<[string, string[], string, Partial<OutcomeOptions>?]>([
    [
      'dates that may all be day and month or month and day',
      dates('3/4/2026', '4/5/2026'),
      'sales.csv, row 2: 3/4/2026 may begin with the day or the month, and so may each date of the file: say which with --outcome-dates dmy or mdy',
    ],
    [
      'both orders in one file',
      dates('25/4/2026', '4/25/2026'),
      'sales.csv, row 2: the day comes first in 25/4/2026, and the month in 4/25/2026 (sales.csv, row 3)',
    ],
    [
      'a day that there is not',
      dates('2026-02-30'),
      'sales.csv, row 2: 2026-02-30 is no time that the calendar has',
    ],
    ['an hour that there is not', dates('2026-02-03 13:05 PM'), '13:05 PM is no time'],
    ['a year of two digits', dates('3/4/26'), 'sales.csv, row 2: its time cannot be read'],
    [
      'a number of days of Excel',
      dates('45965.5'),
      'sales.csv, row 2: its time cannot be read: expected a form such as 2026-11-03',
    ],
    [
      'an offset without the time zone of the account',
      dates('2026-11-03T14:05:00Z'),
      'sales.csv, row 2: its time has an offset from UTC',
      { timeZone: null },
    ],
    [
      'another order than was said',
      dates('25/4/2026'),
      'sales.csv, row 2: 25/4/2026 is no time that the calendar has',
      { dates: 'mdy' },
    ],
    [
      'a day first where the year was said',
      dates('25/4/2026'),
      'row 2: 25/4/2026 does not begin with the year',
      { dates: 'ymd' },
    ],
  ])('%s is refused', (_, lines, message, options = {}) => {
    expect(refusalOf(lines, { ...chicago, ...options })).toContain(message);
  });

  test('is in the order that was said', () => {
    const [sale] = read(dates('3/4/2026'), { ...chicago, dates: 'dmy' });
    expect(formatNaive(sale?.time ?? 0)).toBe('2026-04-03 00:00:00');
  });
});

describe('the value of a sale', () => {
  const values = (...texts: string[]) => [
    head,
    ...texts.map((text) => `${caller},2026-11-03,"${text}"`),
  ];
  test.each([
    [['1,033.33'], 1033.33, null],
    [['$1,200.50'], 1200.5, '$'],
    [['USD 25'], 25, 'USD'],
    [['1.200,50 €'], 1200.5, 'EUR'],
    [['1 200,50'], 1200.5, null],
    [['1,250', '9.50'], 1250, null],
    [['1.250', '9,50'], 1250, null],
    [['1,250,000'], 1250000, null],
  ])('%j', (texts, value, currency) => {
    expect(read(values(...texts))[0]).toMatchObject({ value, currency });
  });

  test.each<[string, string[], string]>([
    [
      'a separator that may be either',
      values('1,250', '2,000'),
      'sales.csv, row 2: its value has one separator and three digits after it',
    ],
    [
      'points and commas before the cents',
      values('9.50', '9,50'),
      'sales.csv, row 3: its value has a comma before the cents, and that of sales.csv, row 2 a point',
    ],
    ['a negative amount', values('-5'), 'sales.csv, row 2: its value is negative'],
    [
      'a negative amount of a bookkeeper',
      values('(5.00)'),
      'sales.csv, row 2: its value is negative',
    ],
    [
      'a negative amount with its currency',
      values('$-5'),
      'sales.csv, row 2: its value is negative',
    ],
    ['a row without a value', values(''), 'sales.csv, row 2: it has no value'],
    ['words', values('a lot'), 'sales.csv, row 2: its value is no amount such as 1250.00'],
    [
      'two currencies without a column',
      values('€5', '£5'),
      'sales.csv, row 3: its value is in GBP, and that of sales.csv, row 2 in EUR: add a column "currency"',
    ],
    [
      'a currency that the column contradicts',
      [`${head},currency`, `${caller},2026-11-03,5 EUR,USD`],
      'sales.csv, row 2: its value is in EUR, and its currency says USD',
    ],
    [
      'a currency that is none',
      [`${head},currency`, `${caller},2026-11-03,5,dollars`],
      'sales.csv, row 2: its currency is no code of three letters such as USD',
    ],
  ])('%s is refused', (_, lines, message) => {
    expect(refusalOf(lines)).toContain(message);
  });
});

test('a sheet has numbers as they are, and rows that end where they are empty', () => {
  const rows = [
    { line: 1, cells: ['Phone', 'Date', 'Amount', 'Status'] },
    { line: 2, cells: [3125550199, '2026-11-03', 1250.125, 'won'] },
    { line: 3, cells: [3125550199, '2026-11-03 14:05:00', 1250] },
  ];
  const { all } = readOutcomes([{ name: 'sales.xlsx', rows }], chicago);
  expect(all.map(({ caller: of, value }) => [of, value])).toEqual([
    [callerOf({ ani: caller }), 1250.125],
    [callerOf({ ani: caller }), 1250],
  ]);
  const negative = [...rows, { line: 4, cells: [3125550199, '2026-11-03', -5] }];
  expect(() => readOutcomes([{ name: 'sales.xlsx', rows: negative }], chicago)).toThrow(
    'sales.xlsx, row 4: its value is negative',
  );
  const short = [...rows, { line: 4, cells: [3125550199, '2026-11-03'] }];
  expect(() => readOutcomes([{ name: 'sales.xlsx', rows: short }], chicago)).toThrow(
    'sales.xlsx, row 4: it has no value',
  );
});

describe('a row', () => {
  const full = `${head},id,status`;
  test.each(['', 'won', 'Paid', 'completed'])('with the status %j counts', (status) => {
    expect(readOne(`${caller},2026-11-03,9,A,${status}`, full).counts).toBe(true);
  });

  test.each(['cancelled', 'Canceled', 'REFUNDED', 'void'])(
    'with the status %s does not',
    (status) => {
      expect(readOne(`${caller},2026-11-03,,A,${status}`, full).counts).toBe(false);
    },
  );

  test('that is worth 0 does not count', () => {
    expect(readOne(`${caller},2026-11-03,0`).counts).toBe(false);
  });

  test.each(['Anonymous', '0', ''])('with %j for a number is of nobody', (phone) => {
    expect(readOne(`${phone},2026-11-03,9`).caller).toBeNull();
  });

  test('may have a number that a spreadsheet wrote with a fraction', () => {
    expect(readOne('3125550199.0,2026-11-03,9').caller).toBe(callerOf({ ani: caller }));
  });

  test.each<[string, string[], string]>([
    [
      'another status',
      [full, `${caller},2026-11-03,9,A,open`],
      'sales.csv, row 2: its status is "open". A sale counts as won, paid, completed or without a status, and cancelled, canceled, refunded, void takes it back: remove rows with another status',
    ],
    [
      'a number in the status',
      [full, `${caller},2026-11-03,9,A,3125550199`],
      'sales.csv, row 2: its status is not known',
    ],
    [
      'a number that was rounded',
      [head, '3.03E+09,2026-11-03,9'],
      'sales.csv, row 2: its phone number was rounded, as in 3.03E+09',
    ],
    [
      'the number of the caller for an id',
      [full, `${caller},2026-11-03,9,3125550199,`],
      'sales.csv, row 2: its id is the number or an address of the customer',
    ],
    [
      'an id twice with two values',
      [full, `${caller},2026-11-03,9,A,`, `${caller},2026-11-04,8,A,`],
      'sales.csv, row 3: its id is that of sales.csv, row 2, which says something else',
    ],
    [
      'an id twice, paid and refunded at one time',
      [full, `${caller},2026-11-03,9,A,`, `${caller},2026-11-03,9,A,void`],
      'row 3: its id is that of sales.csv, row 2',
    ],
  ])('with %s is refused', (_, lines, message) => {
    expect(refusalOf(lines)).toContain(message);
  });

  test('that is refunded later replaces the sale', () => {
    const sales = read([
      full,
      `${caller},2026-11-05,9,A,refunded`,
      `${caller},2026-11-03,9,A,paid`,
    ]);
    expect(sales).toMatchObject([{ place: 'sales.csv, row 2', counts: false }]);
  });
});

describe('several files', () => {
  const full = `${head},id,status`;
  const files = [
    fileOf([full, `${caller},2026-11-03,9,A,paid`, `${caller},2026-11-03,9,B,`], 'monday.csv'),
    fileOf([full, `${caller},2026-11-05,12,A,paid`, `${caller},2026-11-04,9,C,`], 'tuesday.csv'),
    fileOf(
      [full, `${caller},2026-11-06,9,C,refunded`, `${caller},2026-11-03,9,B,`],
      'wednesday.csv',
    ),
    fileOf([head, `${caller},2026-11-07,1`, `${caller},2026-11-07,1`], 'cash.csv'),
    fileOf([head, `${caller},2026-11-07,1`, `${caller},2026-11-08,1`], 'more cash.csv'),
  ];

  test('say together what their union says, in any order: the newest row of each id', () => {
    const orders = [files, files.toReversed(), [2, 0, 4, 1, 3].flatMap((i) => files[i] ?? [])];
    for (const order of orders) {
      const { all, replaced } = readOutcomes(order, chicago);
      const said = all.map(({ id, value, counts, time }) => [id, value, counts, formatNaive(time)]);
      expect(said.filter(([id]) => id !== null).sort()).toEqual([
        ['A', 12, true, '2026-11-05 00:00:00'],
        ['B', 9, true, '2026-11-03 00:00:00'],
        ['C', 9, false, '2026-11-06 00:00:00'],
      ]);
      expect(said.filter(([id]) => id === null)).toHaveLength(3);
      expect(replaced).toBe(4);
    }
  });

  test('that are any at all say the same in any order, or are refused in each', () => {
    const row = fc.record({
      day: fc.integer({ min: 1, max: 5 }),
      value: fc.integer({ min: 1, max: 2 }),
      id: fc.constantFrom('', 'A', 'B'),
      status: fc.constantFrom('', 'void'),
    });
    const lines = fc
      .array(row, { maxLength: 4 })
      .map((rows) => [
        full,
        ...rows.map((of) => `${caller},2026-11-0${of.day},${of.value},${of.id},${of.status}`),
      ]);
    const said = (of: readonly OutcomeFile[]) => {
      try {
        const { all } = readOutcomes(of, chicago);
        return all.map(({ place: _, ...outcome }) => JSON.stringify(outcome)).sort();
      } catch (error) {
        return String(error);
      }
    };
    let refused = 0;
    fc.assert(
      fc.property(fc.array(lines, { minLength: 2, maxLength: 4 }), fc.nat(), (texts, turn) => {
        const all = texts.map((each, i) => fileOf(each, `${i}.csv`));
        const turned = [...all.slice(turn % all.length), ...all.slice(0, turn % all.length)];
        const expected = said(all);
        if (typeof expected === 'string') {
          refused += 1;
          expect(said(turned)).toEqual(expect.stringContaining('which says something else'));
        } else {
          expect(said(turned)).toEqual(expected);
          expect(said(turned.toReversed())).toEqual(expected);
          expect(said([...all, ...all])).toEqual(expected);
        }
      }),
      { numRuns: 300 },
    );
    expect(refused).toBeGreaterThan(10);
    expect(refused).toBeLessThan(290);
  });

  test('that contradict each other at one time are refused', () => {
    const other = fileOf([full, `${caller},2026-11-03,8,A,paid`], 'other.csv');
    expect(() => readOutcomes([files[0] as OutcomeFile, other], chicago)).toThrow(
      'its id is that of monday.csv, row 2, which says something else',
    );
  });
});

describe('a sale belongs to', () => {
  const call = (
    sid: string,
    at: string,
    { account = '101', ani = caller, isExcluded = false } = {},
  ) => ({
    sid,
    account,
    ani,
    isExcluded,
    time: parseNaive(at),
  });
  const match = (row: string, calls: readonly ReturnType<typeof call>[]) => {
    const matcher = matchOutcomes<string>(read([head, row]));
    for (const { ani, ...one } of calls) {
      const key = callerOf({ ani });
      if (matcher.wants(key)) matcher.add(key, { ...one, it: one.sid });
    }
    const [{ call: found, why } = { call: null, why: null }] = matcher.matches();
    return found ?? why;
  };
  const sale = `${caller},2026-11-20 12:00:00,9`;

  test('the last call of its caller before it', () => {
    const calls = [
      call('1', '2026-11-19 10:00:00'),
      call('3', '2026-11-20 11:59:00'),
      call('2', '2026-11-20 11:59:00'),
      call('4', '2026-11-20 12:00:01'),
      call('5', '2026-11-20 11:59:59', { ani: '3125550000' }),
    ];
    expect(match(sale, calls)).toBe('3');
    expect(match(sale, calls.toReversed())).toBe('3');
  });

  test('a call of its day where it has a date alone, and of its minute', () => {
    expect(match(`${caller},2026-11-20,9`, [call('1', '2026-11-20 23:10:00')])).toBe('1');
    expect(match(`${caller},2026-11-20 12:00,9`, [call('1', '2026-11-20 12:00:30')])).toBe('1');
    expect(match(`${caller},2026-11-20 12:00,9`, [call('1', '2026-11-20 12:01:00')])).toBe(
      'no_call',
    );
  });

  test.each<[string, string, ReturnType<typeof call>[]]>([
    ['no_call', sale, [call('1', '2026-11-20 12:00:01')]],
    ['no_number', 'Anonymous,2026-11-20,9', [call('1', '2026-11-19 10:00:00')]],
    ['too_late', sale, [call('1', '2026-10-21 11:59:59')]],
    [
      'many_calls',
      sale,
      Array.from({ length: 21 }, (_, i) => call(String(i), `2026-11-19 10:00:${10 + i}`)),
    ],
    [
      'excluded',
      sale,
      [call('1', '2026-11-10 10:00:00', { isExcluded: true }), call('2', '2026-11-19 10:00:00')],
    ],
  ])('no call: %s', (why, row, calls) => {
    expect(match(row, calls)).toBe(why);
  });

  test('the window of 30 days begins with its first second, and 20 calls are not too many', () => {
    expect(match(sale, [call('1', '2026-10-21 12:00:00')])).toBe('1');
    const calls = Array.from({ length: 20 }, (_, i) =>
      call(String(i), `2026-11-19 10:00:${10 + i}`),
    );
    expect(match(sale, calls)).toBe('19');
  });

  test('calls of two accounts, and is refused', () => {
    const calls = [
      call('1', '2026-11-19 10:00:00'),
      call('2', '2026-11-18 10:00:00', { account: '102' }),
    ];
    expect(() => match(sale, calls)).toThrow(
      'sales.csv, row 2: it belongs to calls of two accounts, 101 and 102: ask about one of them, with its own file',
    );
  });
});

describe('a question about what calls became', () => {
  const call = (sid: string, date_added: string, changes: Partial<Call> = {}): Call => ({
    ...(Object.fromEntries(fields.map(({ name }) => [name, null])) as unknown as Call),
    sid,
    date_added,
    acct_id: '101',
    channel: 'Tracker',
    ani: '13125550199',
    ...changes,
  });
  const other = { ani: '3125550111' };
  const calls = [
    call('1', '2026-10-25 09:00:00', { ppc_campaign: 'Brand' }),
    call('2', '2026-11-02 09:00:00', { ppc_campaign: 'Plumber' }),
    call('3', '2026-11-09 09:00:00', { ppc_campaign: 'Brand', ...other }),
    call('4', '2026-11-20 09:00:00', { ppc_campaign: 'Brand', state: 'TX', ani: '3125550122' }),
    call('5', '2026-12-03 09:00:00', { ppc_campaign: 'Late', ...other }),
  ];
  const sales = read([
    `${head},status`,
    `${caller},2026-11-03,100.10,`, // of 2
    `${caller},2026-11-04,200.20,`, // of 2
    `${caller},2026-10-26,50,`, // of 1, before the period
    `${other.ani},2026-12-01,7,`, // of 3
    `${other.ani},2026-12-04,8,`, // of 5, after the period
    `${other.ani},2026-11-10,9,refunded`,
    '3125550122,2026-11-21,1000,', // of 4
    '3125550133,2026-11-21,1,', // of nobody
    'Anonymous,2026-11-21,1,',
  ]);
  const measures = ['calls', 'outcomes', 'revenue', 'revenue_per_call'];
  const question: Question = {
    groupBy: ['campaign'],
    measures,
    period: '2026-11',
    timeZone: 'America/Chicago',
    order: 'revenue desc',
    outcomes: { all: sales, window: usualWindow },
  };

  test('gives each sale to the call it belongs to, in the period of the call', async () => {
    const { rows, total, leftOut } = await answerQuestion(question, calls);
    expect(rows).toEqual([
      { ppc_campaign: 'Brand', calls: 2, outcomes: 2, revenue: 1007, revenue_per_call: 503.5 },
      { ppc_campaign: 'Plumber', calls: 1, outcomes: 2, revenue: 300.3, revenue_per_call: 300.3 },
    ]);
    expect(total).toMatchObject({ calls: 3, outcomes: 4, revenue: 1307.3 });
    expect(leftOut).toContainEqual({
      code: 'outcomes',
      count: 5,
      message:
        '4 of 9 outcomes belong to calls that are counted. Not counted: 2 of other calls, such as those of another period; 1 cancelled or worth 0; 1 no_number (its phone number is none that somebody calls from); 1 no_call (no call from this number is known before it).',
    });
  });

  test('says of each sale which call it belongs to, or why to none', async () => {
    const { outcomes } = await answerQuestion(question, calls);
    const said = outcomes.map(
      ({ place, sid, why }) => `${place.slice(11)}: ${sid ?? why}${sid && why ? ` ${why}` : ''}`,
    );
    expect(said).toEqual([
      'row 4: 1',
      'row 2: 2',
      'row 3: 2',
      'row 7: 3 cancelled',
      'row 8: 4',
      'row 9: no_call',
      'row 10: no_number',
      'row 5: 3',
      'row 6: 5',
    ]);
    expect(outcomes[1]).toEqual({
      place: 'sales.csv, row 2',
      time: '2026-11-03 00:00:00',
      value: 100.1,
      currency: null,
      account: 'main',
      sid: '2',
      date_added: '2026-11-02 09:00:00',
      why: null,
    });
  });

  test('counts those of calls that fulfill its condition, and of no excluded number', async () => {
    const texan = await answerQuestion({ ...question, where: "state = 'TX'" }, calls);
    expect(texan.total).toMatchObject({ calls: 1, outcomes: 1, revenue: 1000 });
    const { total, leftOut } = await answerQuestion(
      { ...question, exclude: "state = 'TX'" },
      calls,
    );
    expect(total).toMatchObject({ calls: 2, outcomes: 3, revenue: 307.3 });
    expect(leftOut.map(({ message }) => message).join()).toContain(
      '1 excluded (calls from this number do not count, as the exclusion says)',
    );
  });

  test('compares periods, and needs calls as far around them as the window only', async () => {
    const compared: Question = { ...question, groupBy: [], compare: 'previous' };
    const early = { sid: 'early', ani: '13125559999', date_added: '2026-09-30 08:00:00' };
    const known = [...calls, Object.assign({}, calls[0], early)];
    const { total } = await answerQuestion({ ...compared, order: undefined }, known);
    expect(total).toMatchObject({ outcomes: 4, outcomes_before: 1, revenue_before: 50 });
    const { needs } = planQuestion(question);
    const [, ...dated] = needs.map(({ period }) => period);
    expect(formatNaive(Math.min(...dated.map(({ from }) => from ?? 0)))).toBe(
      '2026-10-02 00:00:00',
    );
    expect(formatNaive(Math.max(...dated.map(({ to }) => to ?? 0)))).toBe('2026-12-31 00:00:00');
  });

  test('is chosen by its measures, also where they are not shown', async () => {
    const having = { ...question, measures: ['outcomes'], having: 'revenue > 500' };
    const { rows } = await answerQuestion(having, calls);
    expect(rows).toEqual([{ ppc_campaign: 'Brand', outcomes: 2 }]);
  });

  test('says what a sale cost, and what was earned for what was spent', async () => {
    const spend = { Brand: 503.5, Plumber: 0, Unheard: 100 };
    const asked: Question = { ...question, measures: ['outcomes', 'revenue'], spend };
    const { rows, total } = await answerQuestion(asked, calls);
    const found = rows.map(({ ppc_campaign, cost_per_outcome, return_on_ad_spend }) => {
      return [ppc_campaign, cost_per_outcome, return_on_ad_spend];
    });
    expect(found).toEqual([
      ['Brand', 251.75, 2],
      ['Plumber', 0, null],
      ['Unheard', null, 0],
    ]);
    expect(total).toMatchObject({ spend: 603.5, revenue: 1307.3, cost_per_outcome: 150.875 });
    expect(total.return_on_ad_spend).toBeCloseTo(1307.3 / 603.5, 10);
    const named = { ...asked, measures: ['roas'], order: 'roas desc' };
    expect((await answerQuestion(named, calls)).rows[0]).toMatchObject({ return_on_ad_spend: 2 });
  });

  test('refuses a sale that belongs to calls of two accounts', () => {
    const running = createAnswers([planQuestion(question)]);
    for (const one of calls) running.add(one, 'main');
    running.add(call('9', '2026-11-03 08:00:00'), 'berlin');
    expect(() => running.answers()).toThrow(
      'sales.csv, row 2: it belongs to calls of two accounts, berlin and main',
    );
  });

  test('gives the same when accounts are counted apart and then together', async () => {
    const whole = await answerQuestion(question, calls);
    const plans = [planQuestion(question)];
    const one = createAnswers(plans);
    const two = createAnswers(plans);
    for (const each of calls) (each.ani === caller ? one : two).add(each, String(each.ani));
    one.merge(two);
    expect(one.answers()[0]?.rows).toEqual(whole.rows);
  });

  test.each<[string, Question, string]>([
    [
      'measures of no outcomes',
      { measures: ['revenue'] },
      'revenue is measured of what calls became later: give `outcomes`',
    ],
    [
      'costs of outcomes without spend',
      { ...question, measures: ['roas'] },
      'roas needs to know what was spent: give it with `spend`',
    ],
    [
      'outcomes that nothing measures',
      { ...question, measures: ['calls'], order: undefined },
      'outcomes is given, and nothing is measured of it',
    ],
    [
      'two currencies',
      {
        ...question,
        outcomes: {
          all: read([
            `${head},currency`,
            `${caller},2026-11-03,1,USD`,
            `${caller},2026-11-04,1,EUR`,
          ]),
          window: usualWindow,
        },
      },
      'sales.csv, row 3: its value is in EUR, and that of sales.csv, row 2 in USD: amounts of two currencies never add up',
    ],
  ])('%s are refused', (_, asked, message) => {
    expect(() => planQuestion(asked)).toThrow(message);
  });
});
