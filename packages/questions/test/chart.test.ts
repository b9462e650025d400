import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Charted,
  chartLegend,
  chartMarks,
  chartStyle,
  chartSvg,
  columnTitle,
  covered,
  daysOfBucket,
  formatCounted,
  formatDate,
  formatDays,
  formatPeriod,
  formatShare,
  formatValue,
  judgeChange,
  longTime,
  markup,
  partOfBucket,
  withPart,
} from '../src/chart/index.ts';
import { answerQuestion } from '../src/index.ts';
import { measures } from '../src/measures.ts';

const [plain] = fixtureCalls(1);
const call = (date: string, campaign: string | null, talk = '1.5'): Call =>
  Object.assign({}, plain, {
    date_added: `${date} 10:30:00`,
    ppc_campaign: campaign,
    talk_minutes: talk,
  });
const calls = [
  call('2026-10-05', 'Brand'),
  call('2026-10-06', 'Brand', '0.0'),
  call('2026-10-13', 'A "<b>" & c'),
  call('2026-10-14', null),
  call('2026-10-20', null),
];
const count = (text: string, part: string | RegExp) => text.split(part).length - 1;
const named = (svg: string) => /aria-label="([^"]*)"/.exec(svg)?.[1];

test.each<[string, string, string, string, string | null]>([
  ['week', '2026-10-05', '2026-10-07 00:00:00', '2026-11-01 00:00:00', '5 of 7 days'],
  ['week', '2026-10-05', '2026-10-01 00:00:00', '2026-10-06 00:00:00', '1 of 7 days'],
  ['week', '2026-10-05', '2026-10-05 00:00:00', '2026-10-12 00:00:00', null],
  ['week', '2026-10-05', '2026-10-05 12:00:00', '2026-10-12 00:00:00', 'part of the week'],
  ['week', '2026-10-05', '2026-11-01 00:00:00', '2026-12-01 00:00:00', null],
  ['month', '2024-02', '2024-02-01 00:00:00', '2024-02-29 00:00:00', '28 of 29 days'],
  ['month', '2026-12', '2026-12-31 00:00:00', '2027-02-01 00:00:00', '1 of 31 days'],
  ['day', '2026-10-05', '2026-10-05 06:00:00', '2026-10-09 00:00:00', '18 of 24 hours'],
  ['day', '2026-10-05', '2026-10-01 00:00:00', '2026-10-05 00:00:01', 'part of the day'],
  ['weekday', 'Mon', '2026-10-07 00:00:00', '2026-10-08 00:00:00', null],
  ['day', '(none)', '2026-10-07 00:00:00', '2026-10-08 00:00:00', null],
])('of the %s %s, in the period from %s to %s, there is: %o', (name, key, from, to, part) => {
  expect(partOfBucket(name, key, { from, to })).toBe(part);
  expect(partOfBucket(name, key, { from: null, to: null })).toBeNull();
});

test('the days of a period cut by their weeks or months add up to it', () => {
  const day = (at: number) =>
    new Date(Date.UTC(2026, 0, 1) + at * 86_400_000).toISOString().slice(0, 10);
  fc.assert(
    fc.property(
      fc.nat(800),
      fc.integer({ min: 1, max: 200 }),
      fc.constantFrom('week', 'month'),
      (start, size, name) => {
        const period = { from: `${day(start)} 00:00:00`, to: `${day(start + size)} 00:00:00` };
        const keys = new Set<string>();
        for (let at = start; at < start + size; at += 1) {
          const monday = day(at - ((new Date(day(at)).getUTCDay() + 6) % 7));
          keys.add(name === 'week' ? monday : day(at).slice(0, 7));
        }

        const days = [...keys].map((key) => {
          const { first, last } = daysOfBucket(name, key) ?? { first: '', last: '' };
          const whole = (Date.parse(last) - Date.parse(first)) / 86_400_000 + 1;
          return Number(partOfBucket(name, key, period)?.split(' ')[0] ?? whole);
        });
        expect(days.reduce((sum, each) => sum + each, 0)).toBe(size);
      },
    ),
    { numRuns: 200 },
  );
});

test('what was read ends a period earlier than it says', () => {
  const period = { from: '2026-10-01 00:00:00', to: '2026-11-01 00:00:00' };
  const answer = (from: string | null, to: string | null, known = { from: null, to: null }) => ({
    period: { from, to, timeZone: null },
    known,
  });
  const october = answer(period.from, period.to);
  expect(covered(october, '2026-10-05 12:00:00').to).toBe('2026-10-05 12:00:00');
  expect(covered(october, '2026-12-05 12:00:00').to).toBe(period.to);
  expect(covered(answer(null, null), '2026-10-05 12:00:00')).toEqual({
    from: null,
    to: '2026-10-05 12:00:00',
  });
});

test('days in which calls are known end a period too', () => {
  const known = { from: '2026-10-03 00:00:00', to: '2026-10-20 00:00:00' };
  const period = { from: '2026-10-01 00:00:00', to: '2026-11-01 00:00:00', timeZone: null };
  expect(covered({ period, known })).toEqual(known);
  expect(covered({ period, known }, '2026-10-05 12:00:00')).toEqual({
    ...known,
    to: '2026-10-05 12:00:00',
  });
});

test.each<[string, string]>([
  [
    formatPeriod({ from: '2026-10-01 00:00:00', to: '2026-11-01 00:00:00' }),
    '1 Oct to 31 Oct 2026',
  ],
  [formatPeriod({ from: '2026-10-01 00:00:00', to: '2026-10-02 00:00:00' }), '1 Oct 2026'],
  [
    formatPeriod({ from: '2025-12-31 08:30:00', to: '2026-01-02 00:00:00' }),
    '31 Dec 2025 08:30 to 2 Jan 2026',
  ],
  [formatPeriod({ from: '2026-10-01 00:00:00', to: null }), 'since 1 Oct 2026'],
  [formatPeriod({ from: null, to: '2026-10-02 00:00:00' }), 'up to 1 Oct 2026'],
  [formatPeriod({ from: null, to: null }), 'all time'],
  [formatDays('2025-12-29', '2026-01-04'), '29 Dec 2025 to 4 Jan 2026'],
  [formatDate('2026-01-04'), '4 Jan'],
  [longTime('day', '2026-10-05'), 'Mon 5 Oct 2026'],
  [longTime('week', '2026-10-05'), '5 Oct to 11 Oct 2026'],
  [longTime('month', '2026-10'), 'Oct 2026'],
  [longTime('hour', '8'), '8:00'],
  [withPart('Oct 2026', '3 of 31 days'), 'Oct 2026 (3 of 31 days)'],
  [withPart('Oct 2026', null), 'Oct 2026'],
  [columnTitle('ppc_keywords'), 'Keyword'],
  [columnTitle('vt_device'), 'Device'],
  [columnTitle('talk_mean', 'minutes'), 'Talk mean (min)'],
  [columnTitle('reached_within_48_of', 'calls'), 'Reached within 48 h, of'],
  [columnTitle('missed_rate_change'), 'Missed rate change'],
  [formatCounted(1, 'call'), '1 call'],
  [formatCounted(1_234_567, 'call'), '1,234,567 calls'],
  [formatShare(0.2555), '25.6%'],
  [formatValue({ name: 'x', kind: 'change', unit: 'share' }, 0.02), '+2.0 pts'],
  [formatValue({ name: 'x', kind: 'change', unit: 'share' }, -0.0001), '0.0 pts'],
  [formatValue({ name: 'x', kind: 'change', unit: 'calls' }, -1200), '-1,200'],
  [formatValue({ name: 'x', kind: 'measure', unit: 'minutes' }, 1234.56), '1,234.6'],
  [formatValue({ name: 'x', kind: 'measure', unit: 'money' }, 8125), '8,125.00'],
  [formatValue({ name: 'x', kind: 'measure', unit: 'share' }, null), ''],
  [formatValue({ name: 'x', kind: 'group', unit: 'value' }, null), '(none)'],
])('%o is what is written for %o', (written, expected) => {
  expect(written).toBe(expected);
});

test.each<[string, number, 'better' | 'worse' | null]>([
  ['calls', 1, 'better'],
  ['calls', -1, 'worse'],
  ['missed_rate', 0.1, 'worse'],
  ['missed', -3, 'better'],
  ['talk_mean', 5, null],
  ['calls', 0, null],
  ['share', 0.1, null],
  ['reached_within', 0.1, 'better'],
])('a change of %s by %d is: %o', (measure, change, judged) => {
  const found = measures.find(({ name }) => name === measure);
  expect(judgeChange(found, change)).toBe(judged);
});

test('over time, calls are answered and missed, and the ends that are not whole are marked', async () => {
  const question = {
    groupBy: ['week'],
    measures: ['calls', 'missed'],
    from: '2026-10-06',
    to: '2026-10-25',
  };
  const svg = chartSvg(await answerQuestion(question, calls));
  expect(named(svg)).toBe(
    'Calls by week: 4 from 5 Oct to 11 Oct 2026 to 19 Oct to 25 Oct 2026; most in 12 Oct to 18 Oct 2026, 2 calls.',
  );
  expect(count(svg, '<g class="place')).toBe(3);
  expect(count(svg, '<g class="place part"')).toBe(1);
  expect(svg).toContain('<title>5 Oct to 11 Oct 2026 (6 of 7 days): 1 call, 1 missed</title>');
  const legend = chartLegend(await answerQuestion(question, calls));
  expect([...legend.matchAll(/<\/span>(.*?)<\/li>/g)].map(([, name]) => name)).toEqual([
    'Answered',
    'Missed',
    'Part of a week',
  ]);
});

test('marks have a number above the day, week or month they are in, which the legend explains', async () => {
  const marks = [
    { date: '2026-10-07', text: 'new <landing> page' },
    { date: '2026-10-11', text: 'strike' },
    { date: '2026-10-25', text: 'sale' },
    { date: '2027-01-01', text: 'beyond' },
  ];
  const drawn = async (groupBy: string[]) => {
    const period = { from: '2026-10-06', to: '2026-10-25' };
    const answer = await answerQuestion({ groupBy, measures: ['calls'], ...period }, calls);
    return [chartSvg(answer, { marks }), chartLegend(answer, { marks })];
  };

  const [weeks = '', legend = ''] = await drawn(['week']);
  const numbers = [...weeks.matchAll(/class="mark".*?<text[^>]*>([^<]*)</g)].map(
    ([, text]) => text,
  );
  expect(numbers).toEqual(['1, 2', '3']);
  expect([...legend.matchAll(/<li><b>(.*?)<\/li>/g)].map(([, text]) => text)).toEqual([
    '1</b> 7 Oct 2026: new &lt;landing&gt; page',
    '2</b> 11 Oct 2026: strike',
    '3</b> 25 Oct 2026: sale',
  ]);
  const answer = await answerQuestion({ groupBy: ['week'], measures: ['calls'] }, calls);
  expect(chartMarks(answer, { marks }).map(({ text }) => text)).toEqual([
    'new <landing> page',
    'strike',
    'sale',
  ]);
  for (const other of [['campaign'], ['weekday'], ['hour']])
    expect((await drawn(other)).join('')).not.toMatch(/class="mark"|<b>/);
  expect((await drawn(['campaign', 'week'])).join('')).toMatch(/class="mark".*sale/s);
});

test('a second group is stacked: the largest first, then none, then all others, and all calls are drawn', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', null, null, null, null];
  const many = names.flatMap((name, i) =>
    Array.from({ length: 12 - Math.min(i, 8) }, () => call('2026-10-05', name)),
  );
  const question = { groupBy: ['campaign', 'day'], measures: ['calls'], limit: 100 };
  const answer = await answerQuestion(question, many);
  const svg = chartSvg(answer);
  const bars = [...svg.matchAll(/class="bar (\w+)".*?<title>[^:]*: (.*?)<\/title>/g)].map(
    ([, color, text]) => [color, text],
  );
  expect(bars).toEqual([
    ['c1', 'a: 12 calls'],
    ['c2', 'b: 11 calls'],
    ['c3', 'c: 10 calls'],
    ['c4', 'd: 9 calls'],
    ['c5', 'e: 8 calls'],
    ['c6', 'f: 7 calls'],
    ['none', '(none): 16 calls'],
    ['rest', 'All others: 11 calls'],
  ]);

  // Of some of the groups, what is missing is drawn of the totals.
  const some = { ...answer, rows: answer.rows.filter(({ ppc_campaign }) => ppc_campaign === 'a') };
  const totals = await answerQuestion({ groupBy: ['day'], measures: ['calls'] }, many);
  expect(chartSvg(some, { totals })).toContain('All others: 72 calls');
});

test('weekdays by hours are a grid, the darker the more, with numbers where they fit', async () => {
  for (const groupBy of [
    ['weekday', 'hour'],
    ['hour', 'weekday'],
  ]) {
    const answer = await answerQuestion({ groupBy, measures: ['calls'] }, calls);
    const svg = chartSvg(answer, { width: 900 });
    expect(count(svg, 'class="cell"')).toBe(7 * 24);
    expect(svg).toContain('<title>Tue 10:00: 3 calls</title>');
    expect(count(svg, 'fill-opacity="0.54"')).toBe(1);
    expect(svg).toMatch(/>3<\/text>/);
    expect(named(svg)).toMatch(/^Calls by .*; most on Tue 10:00, 3 calls\.$/);
    expect(chartSvg(answer, { width: 300 })).not.toMatch(/class="value"/);
    expect(chartLegend(answer)).toBe('');
  }
});

test('what does not add up is drawn as lines, and groups as bars, of any measure', async () => {
  const rates = await answerQuestion(
    { groupBy: ['campaign', 'week'], measures: ['missed_rate'] },
    calls,
  );
  expect(count(chartSvg(rates), '<polyline')).toBe(3);
  expect(chartSvg(rates)).toContain('Brand: 50.0%');
  const groups = await answerQuestion(
    { groupBy: ['campaign'], measures: ['calls', 'talk_mean'] },
    calls,
  );
  const bars = chartSvg(groups, { measure: 'talk_mean' });
  expect(named(bars)).toMatch(/^Talk mean \(min\) by campaign; most in /);
  expect(count(bars, 'class="bar ')).toBe(3);
  expect(count(bars, 'class="bar none"')).toBe(1);
  expect(bars).toContain('A &quot;&lt;b&gt;&quot; &amp; c');
});

test('nothing is drawn of an answer without groups, without numbers or without rows', async () => {
  const total = await answerQuestion({ measures: ['calls'] }, calls);
  const times = await answerQuestion({ groupBy: ['campaign'], measures: ['first'] }, calls);
  const none = await answerQuestion({ groupBy: ['campaign'], measures: ['calls'] }, []);
  for (const answer of [total, times, none]) {
    expect(chartSvg(answer)).toBe('');
    expect(chartLegend(answer)).toBe('');
  }
});

test('bars that can be pressed are buttons, of which one is reached by Tab', async () => {
  const answer = await answerQuestion({ groupBy: ['day'], measures: ['calls'] }, calls);
  const svg = chartSvg(answer, { press: 'Show only these' });
  expect(count(svg, 'role="button"')).toBe(16);
  expect(count(svg, 'tabindex="0"')).toBe(1);
  expect(svg).toContain('data-at="0" data-name="Mon 5 Oct 2026" data-value="1 call"');
  expect(svg).toContain('aria-label="Mon 5 Oct 2026: 1 call. Show only these"');
});

test('every text stays within the picture and apart from the next, whatever the values and the width', () => {
  const answers = fc.record({
    values: fc.array(
      fc.oneof(fc.integer({ min: -1000, max: 1e9 }), fc.double({ noNaN: true, min: -5, max: 5 })),
      { minLength: 1, maxLength: 60 },
    ),
    width: fc.integer({ min: 240, max: 2560 }),
    unit: fc.constantFrom('calls', 'share', 'minutes', 'money', 'count' as const),
  });
  fc.assert(
    fc.property(answers, ({ values, width, unit }) => {
      const charted: Charted = {
        columns: [
          { name: 'day', kind: 'group', unit: 'time' },
          { name: 'x', kind: 'measure', unit },
        ],
        rows: values.map((x, i) => ({
          day: new Date(Date.UTC(2026, 8, 1 + i)).toISOString().slice(0, 10),
          x,
        })),
      };
      const svg = chartSvg(charted, { width });
      expect(svg).not.toMatch(/NaN|Infinity|undefined/);
      const labels = [
        ...svg.matchAll(/<text x="([\d.-]+)" y="\d+" text-anchor="middle"[^>]*>([^<]*)</g),
      ].map(([, x, text]) => ({ x: Number(x), half: ((text ?? '').length * 7) / 2 }));
      labels.forEach(({ x, half }, i) => {
        expect(x + half).toBeLessThanOrEqual(width);
        const before = labels[i - 1];
        if (before) expect(x - half).toBeGreaterThan(before.x + before.half);
      });
      for (const [, height] of svg.matchAll(/<rect[^>]* height="([^"]*)"/g))
        expect(Number(height)).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 100 },
  );
});

test('no text can become markup, and none is turned around', () => {
  expect(markup(`<img src=x onerror='a("b")'>&\u202e\u0000\ud800`)).toBe(
    '&lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt;&amp;   ',
  );
});

test('the style names every color that is drawn, and loads nothing', () => {
  for (const color of ['1', '2', '3', '4', '5', '6', 'missed', 'none', 'rest'])
    expect(chartStyle).toContain(`var(--chart-${color})`);
  expect(chartStyle).not.toMatch(/url\(|@import|https?:/);
});
