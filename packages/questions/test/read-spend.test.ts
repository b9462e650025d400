import { textOf } from '@call-attribution/core/time';
import { describe, expect, test } from 'vitest';
import { readSpend } from '../src/index.ts';

/** The rows of lines whose cells stand between bars. */
const rowsOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line, i) => ({ line: i + 1, cells: line.split('|').map((cell) => cell.trim()) }));
const read = (text: string, columns: string | null = null) =>
  readSpend({ name: 'spend.csv', rows: rowsOf(text) }, columns);
const amountsOf = (text: string, columns: string | null = null) =>
  read(text, columns).amounts.map(({ names, period, amount }) => [
    ...names,
    ...(period === null ? [] : [textOf(period).from?.slice(0, 10)]),
    amount,
  ]);
const covers = (text: string) => {
  const period = read(text).covers;
  return period && textOf(period);
};

const table = 'Campaign | Cost\nBrand | 1,033.33\nGeneric | 12.00';

describe('a file of spend', () => {
  test.each([
    ['Google Ads', 'October 1, 2026 - October 31, 2026'],
    ['Google Ads, shortened', 'Oct 1, 2026 – Oct 31, 2026'],
    ['Google Ads in German', '1. Oktober 2026 - 31. Oktober 2026'],
    ['Google Ads in Spanish', '1 de octubre de 2026 - 31 de octubre de 2026'],
    ['Microsoft Advertising', 'Report Time: 10/1/2026,10/31/2026'],
    ['dates of ISO 8601', '2026-10-01 to 2026-10-31'],
  ])('is of the dates that a line above the headings names: %s', (_, line) => {
    expect(covers(`Campaign report\n${line}\n${table}`)).toEqual({
      from: '2026-10-01 00:00:00',
      to: '2026-11-01 00:00:00',
    });
  });
  test('is of one day where the line has one date, and of nothing that it names elsewhere', () => {
    expect(covers(`Report Time: 10/31/2026\n${table}`)?.from).toBe('2026-10-31 00:00:00');
    expect(covers(`All time\n${table}`)).toBe(null);
    expect(covers(table)).toBe(null);
    const other = 'Last Completed Available Day: 10/31/2026 10:15:00 PM (GMT)';
    expect(covers(`${other}\n${table}`)).toBe(null);
  });
  test('leaves out totals and the last line of the tool, and says what it took', () => {
    const { said, amounts } = read(
      `Time Zone: (GMT-05:00) Eastern Time\nState | Campaign | Cost\nOn | Brand | 5\nOn | Total care | 1\nTotal: Account | -- | 6\nTotal: Search | -- | 6\n©2026 Microsoft Corporation. All rights reserved.`,
    );
    expect(amounts).toHaveLength(2);
    expect(said).toBe(
      'spend.csv: 2 amounts in a currency that it does not name, campaign from "Campaign" and cost from "Cost"; 2 rows of totals are left out; its days are those of (GMT-05:00) Eastern Time.',
    );
  });
  test('has days in numbers or words, weeks and months', () => {
    const days = [
      '2026-10-13',
      '2026-10-13 00:00:00',
      '10/13/2026',
      '13.10.2026',
      'Oct 13, 2026',
      'Tue, Oct 13, 2026',
    ];
    for (const day of days)
      expect(amountsOf(`Day | Campaign | Cost\n${day} | Brand | 5`)).toEqual([
        ['Brand', '2026-10-13', 5],
      ]);
    const [week] = read('Week | Campaign | Cost\n2026-10-12 | Brand | 5').amounts;
    expect(week?.period && textOf(week.period).to).toBe('2026-10-19 00:00:00');
    for (const name of ['2026-10-01', 'October 2026', 'Oct 2026']) {
      const [month] = read(`Month | Campaign | Cost\n${name} | Brand | 5`).amounts;
      expect(month?.period && textOf(month.period).to).toBe('2026-11-01 00:00:00');
    }
  });
  test('has parts of the weeks at both ends of its dates', () => {
    const { amounts } = read(
      'October 1, 2026 - October 31, 2026\nWeek | Campaign | Cost\n2026-09-28 | Brand | 5\n2026-10-26 | Brand | 6',
    );
    expect(amounts.map(({ period }) => period && textOf(period))).toEqual([
      { from: '2026-10-01 00:00:00', to: '2026-10-05 00:00:00' },
      { from: '2026-10-26 00:00:00', to: '2026-11-01 00:00:00' },
    ]);
  });
  test('has its decimal sign told by all amounts, and numbers of a sheet as they are', () => {
    const german = 'Kampagne | Kosten\nBrand | 1.033,33\nGeneric | 1.000';
    const columns = 'campaign=Kampagne,cost=Kosten';
    expect(amountsOf(german, columns)).toEqual([
      ['Brand', 1033.33],
      ['Generic', 1000],
    ]);
    const rows = [
      { line: 1, cells: ['Campaign', 'Cost'] },
      { line: 2, cells: ['Brand', 1033.125] },
    ];
    expect(readSpend({ name: 'spend.xlsx', rows }, null).amounts[0]?.amount).toBe(1033.125);
  });
  test('is finer where rows differ in a column that is not taken', () => {
    const text =
      'Campaign | Device | Campaign ID | Clicks | Cost\nBrand | Phone | 1 | 4 | 5\nBrand | Tablet | 1 | 4 | 5\nBrand | Phone | 2 | 4 | 5\n';
    expect(amountsOf(text)).toHaveLength(3);
  });
  test('has one currency, of a column, a heading or its amounts', () => {
    expect(read('Campaign | Currency code | Cost\nBrand | EUR | 5').currency).toBe('EUR');
    expect(read('Campaign name | Amount spent (USD)\nBrand | 5').currency).toBe('USD');
    expect(read('Campaign | Cost\nBrand | £5.00').currency).toBe('GBP');
  });
  test.each([
    ['no headings', 'a | b\nBrand | 5', 'spend.csv: no row has headings such as Campaign and Cost'],
    [
      'headings alone',
      'Campaign | Cost',
      'spend.csv: there are headings and no amounts below them',
    ],
    [
      'two columns of the cost',
      'Campaign | Cost | Spend\nBrand | 5 | 6',
      'spend.csv, row 1: "Cost" and "Spend" may both be the cost: name one with --spend-columns cost=…',
    ],
    [
      'a row without a name',
      'Campaign | Cost\nBrand | 5\n-- | 5',
      'spend.csv, row 3: it has no campaign: is it a total?',
    ],
    [
      'a row twice',
      'Campaign | Day | Clicks | Cost\nBrand | 2026-10-01 | 1 | 5\nBrand | 2026-10-01 | 2 | 6',
      'spend.csv, row 3: row 2 says what was spent on the same, Brand, 2026-10-01: remove one',
    ],
    [
      'a row twice, whatever its clicks cost',
      'Campaign | Avg. CPC | Cost\nBrand | 2,57 € | 5,00 €\nBrand | 1,20 € | 6,00 €',
      'spend.csv, row 3: row 2 says what was spent on the same, Brand: remove one',
    ],
    [
      'an amount that is negative',
      'Campaign | Cost\nBrand | -5',
      'spend.csv, row 2: its cost is negative',
    ],
    [
      'no amount',
      'Campaign | Cost\nBrand | ',
      'spend.csv, row 2: it has no cost: is the file whole?',
    ],
    [
      'a row that is cut',
      'Campaign | Cost | Clicks\nBrand | 50.25 | 4\nGeneric | 1.2',
      'spend.csv, row 3: it ends before its last column: is the file whole',
    ],
    [
      'words for an amount',
      'Campaign | Cost\nBrand | five',
      'spend.csv, row 2: its value is no amount',
    ],
    [
      'amounts with both decimal signs',
      'Campaign | Cost\nBrand | 5,50\nGeneric | 5.50',
      'spend.csv, row 2: its value has a comma before the cents, and that of spend.csv, row 3 a point',
    ],
    [
      'amounts that may be thousands or parts',
      'Campaign | Cost\nBrand | 1,250',
      'spend.csv, row 2: its value has one separator and three digits after it',
    ],
    [
      'two currencies',
      'Campaign | Currency | Cost\nBrand | USD | 5\nGeneric | EUR | 5',
      'spend.csv, row 3: it is in EUR, and spend.csv, row 2 in USD: amounts of two currencies never add up',
    ],
    [
      'dates of two orders',
      'Campaign | Day | Cost\nBrand | 3/4/2026 | 5\nGeneric | 5/4/2026 | 5',
      'spend.csv, row 2: 3/4/2026 may begin with the day or the month, and so may each date of the file: say which with --spend-columns dates=dmy or mdy',
    ],
    [
      'no date',
      'Campaign | Day | Cost\nBrand | soon | 5',
      'spend.csv, row 2: its day "soon" is no date such as 2026-10-01',
    ],
    [
      'a day that is not in its dates',
      'October 1, 2026 - October 31, 2026\nCampaign | Day | Cost\nBrand | 2026-11-01 | 5',
      'spend.csv, row 3: its day 2026-11-01 is not among the dates of the file',
    ],
  ])('is refused with %s', (_, text, message) => {
    expect(() => read(text)).toThrow(message);
  });
  test('takes the order of its dates and headings as they are typed, and refuses others', () => {
    const text = 'Campaign | Day | Cost\nBrand | 3/4/2026 | 5';
    expect(amountsOf(text, 'dates=mdy')).toEqual([['Brand', '2026-03-04', 5]]);
    expect(amountsOf(text, 'dates=dmy')).toEqual([['Brand', '2026-04-03', 5]]);
    expect(() => read(text, 'kost=Kosten')).toThrow('Did you mean cost?');
    expect(() => read(text, 'cost=Kosten')).toThrow('no row has headings with "Kosten"');
  });
});
