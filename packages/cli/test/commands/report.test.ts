import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fixtureCalls } from '@call-attribution/core/testing';
import {
  type Answer,
  createAnswers,
  planQuestion,
  type Question,
} from '@call-attribution/questions';
import { openStore } from '@call-attribution/store';
import { findChromium, launch } from '@call-attribution/test-tools';
import { axeViolations } from '@call-attribution/test-tools/axe';
import { callWith } from '@call-attribution/test-tools/call-with';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reportPage } from '../../src/report/page.ts';
import { layoutOf } from '../../src/report/question.ts';
import { reportLines } from '../../src/report/terminal.ts';
import { reportOf } from '../../src/report/view.ts';
import { styleFor } from '../../src/terminal/style.ts';
import { textWidth } from '../../src/terminal/width.ts';
import { openStage } from '../stage.ts';

const style = styleFor({} as never, {});
const call = (date: string, campaign: string | null, talk = '1.5') =>
  callWith({ date_added: `${date} 10:30:00`, ppc_campaign: campaign, talk_minutes: talk });
const calls = [
  call('2026-10-30', 'Brand'),
  call('2026-10-30', 'Brand', '0.1'),
  call('2026-11-02', 'Generic <b>"x"</b>', '0.2'),
  call('2026-11-03', null),
];
/** Before all periods that are compared: of the time before the first call nothing is known. */
const early = call('2026-09-01', 'Early');
const measures = ['calls', 'share', 'talk_sum', 'talk_mean'];
function shown(
  by: string,
  limit = 10,
  of = calls,
  more: Partial<Question> = {},
  until: string | null = null,
  isPage = false,
) {
  const question = { groupBy: by.split(','), measures, limit, ...more };
  const read = { now: Date.UTC(2027, 0, 1) };
  const layout = layoutOf({ question, plan: planQuestion(question, read), read }, true, isPage);
  const answers = layout.plans.map((plan) => {
    const running = createAnswers([plan]);
    for (const each of of) running.add(each);
    return running.answers()[0] as Answer;
  });
  const [main] = answers;
  if (main === undefined) throw new Error('a layout has a question');
  return reportOf(layout, main, answers, { until, annotations: [] });
}

test('weekdays by hours are a grid, with one shade for as many calls in all lines', () => {
  const lines = reportLines(shown('weekday,hour', 10, calls, { measures: ['calls'] }), {
    width: 80,
    style,
  });
  const row = (hour: string) => `${'· '.repeat(10)}${hour}${'· '.repeat(13)}`.trimEnd();
  expect(lines.map((line) => line.trimEnd())).toEqual([
    'Weekday    Calls  0   2   4   6   8   10  12  14  16  18  20  22',
    `Mon            1  ${row('▒▒')}`,
    `Tue            1  ${row('▒▒')}`,
    `Wed            0  ${row('· ')}`,
    `Thu            0  ${row('· ')}`,
    `Fri            2  ${row('██')}`,
    `Sat            0  ${row('· ')}`,
    `Sun            0  ${row('· ')}`,
    'All calls      4',
  ]);
});

test('of two groups time goes across, whichever came first, and none where there is an order', () => {
  for (const by of ['campaign,day', 'day,campaign']) {
    const report = shown(by);
    expect(report.title).toBe('Calls by campaign and day');
    expect(report.across?.axis).toHaveLength(5);
    expect(report.across?.totals).toEqual([2, 0, 0, 1, 1]);
    expect(report.rows[0]).toMatchObject({ name: 'Brand', series: [2, 0, 0, 0, 0] });
  }

  const ordered = shown('campaign,day', 2, calls, { order: 'calls desc, day' });
  expect(ordered.across).toBeNull();
  expect(ordered.rows.map(({ name }) => name)).toEqual([
    'Brand, 2026-10-30',
    'Generic <b>"x"</b>, 2026-11-02',
  ]);
});

test.each<[string, Partial<Question>, string | null, string[]]>([
  [
    'week',
    { from: '2026-10-29', to: '2026-11-03' },
    null,
    ['2026-10-26 (3 of 7 days)', '2026-11-02 (2 of 7 days)'],
  ],
  [
    'month',
    { from: '2026-10-01', to: '2026-11-30' },
    null,
    ['2026-10 (2 of 31 days)', '2026-11 (3 of 30 days)'],
  ],
  [
    'month',
    { from: '2026-10-02' },
    '2026-11-04 00:00:00',
    ['2026-10 (2 of 31 days)', '2026-11 (3 of 30 days)'],
  ],
  [
    'day',
    { from: '2026-11-02 06:00:00', to: '2026-11-03 23:59:59' },
    '2026-11-03 12:30:00',
    ['2026-11-02 (18 of 24 hours)', '2026-11-03 (part of the day)'],
  ],
])('by %s, what is not whole at the ends of %o is marked', (by, period, until, names) => {
  const report = shown(by, 100, calls, period, until);
  expect(report.rows.map(({ cells }) => cells[0])).toEqual(names);
  const page = reportPage(report, {
    title: 'Calls',
    head: [],
    incomplete: [],
    facts: [],
    counted: [],
  });
  const marked = names.filter((name) => name.includes('(')).length;
  expect(page.includes(`Part of a ${by}`)).toBe(marked > 0);
});

test('the total and the columns add up to all calls', () => {
  const days = ['2026-10-30', '2026-11-01', '2026-11-09'];
  const some = fc.array(
    fc.tuple(
      fc.constantFrom(...days),
      fc.constantFrom('A', 'B', 'C', null),
      fc.integer({ min: 0, max: 500 }),
    ),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(some, fc.integer({ min: 1, max: 4 }), (list, top) => {
      const report = shown(
        'campaign,day',
        top,
        list.map(([day, name, tenths]) => call(day, name, (tenths / 10).toFixed(1))),
      );
      const sum = (values: readonly number[] = []) => values.reduce((all, value) => all + value, 0);
      expect(sum(report.across?.totals)).toBe(list.length);
      expect(report.calls).toBe(list.length);
      for (const { series, value } of report.rows) expect(sum(series)).toBe(value);
      expect(Number(report.total.cells[3]?.replaceAll(',', ''))).toBe(
        list.reduce((all, [, , tenths]) => all + tenths, 0) / 10,
      );
      for (const line of reportLines(report, { width: 60, style }))
        expect(textWidth(line)).toBeLessThanOrEqual(60);
    }),
    { numRuns: Number(process.env.CALLS_RUNS ?? 60) },
  );
});

test('a page of two groups without time has all inner rows of the outer ones that are shown', () => {
  const named = (campaign: string, landing_page: string, talk: string) =>
    callWith({
      date_added: '2026-10-30 10:30:00',
      ppc_campaign: campaign,
      landing_page,
      talk_minutes: talk,
    });

  const some = [
    ...['/a', '/a', '/b', '/c'].map((path) => named('Brand', path, '2.0')),
    ...['/a', '/d'].map((path) => named('Generic', path, '0.0')),
    named('Local', '/e', '1.0'),
  ];
  const report = shown(
    'campaign,landing_page',
    2,
    some,
    { measures: ['calls', 'missed_rate'] },
    null,
    true,
  );
  const page = reportPage(report, {
    title: 'Calls',
    head: [],
    incomplete: [],
    facts: [],
    counted: [],
  });
  const lines = [
    ...page.matchAll(
      /<tr class="(.*?)"><th scope="row">(.*?)<\/th><td>(.*?)<\/td><td>(.*?)<\/td>/g,
    ),
  ];
  expect(lines.map(([, ...cells]) => cells)).toEqual([
    ['outer', 'Brand', '4', '0.0%'],
    ['inner', '/a', '2', '0.0%'],
    ['inner', '/b', '1', '0.0%'],
    ['inner', '/c', '1', '0.0%'],
    ['outer', 'Generic', '2', '100.0%'],
    ['inner', '/a', '1', '100.0%'],
    ['inner', '/d', '1', '100.0%'],
  ]);
  expect(page).toContain('1 more group is not shown');
});

test('the page has no markup from the data, no script and no URL to load', () => {
  const page = reportPage(shown('campaign,day'), {
    title: '<script>alert(1)</script>',
    head: [['Account', 'Smith <i>& Sons</i>']],
    incomplete: [],
    facts: ['a & b'],
    counted: [],
  });
  expect(page).not.toMatch(/<script|<b>|<link|<img|https?:|url\(|@import/);
  expect(page).toContain('&lt;script&gt;alert(1)');
  expect(page).toContain('Generic &lt;b&gt;&quot;x&quot;&lt;/b&gt;');
});

test.each(['day', 'campaign', 'campaign,day'])(
  'the page by %s has the same numbers as the terminal',
  (by) => {
    const many = Array.from({ length: 400 }, (_, i) => {
      const date = new Date(Date.UTC(2026, 0, 1 + (i % 120))).toISOString().slice(0, 10);
      return call(date, `Campaign ${i % 33}`, (((i * 7) % 90) / 10).toFixed(1));
    });
    const report = shown(by, by === 'day' ? 1000 : 30, many);
    const page = reportPage(report, {
      title: 'Calls',
      head: [],
      incomplete: [],
      facts: [],
      counted: [],
    });
    const rows = [...page.matchAll(/<tr><th scope="row">(.*?)<\/tr>/g)].map(([, cells]) =>
      (cells as string).split(/<\/th><td>|<\/td><td>|<\/td>/).filter((cell) => cell !== ''),
    );
    const total = rows.find(([key]) => key === 'All calls');
    const lines = reportLines(report, { width: 400, style }).slice(1, 2 + report.rows.length);
    const inTerminal = lines.map((line) => line.split(/ {2,}/).slice(0, 5));
    expect(total).toHaveLength(5);
    expect(rows.sort()).toEqual(inTerminal.sort());
  },
);

describe('calls report', () => {
  const stage = openStage();

  test('as data, two groups that are no time have a row for each pair that occurs, and no others', async () => {
    const cwd = stage.folder();
    const all = ['report', '--by', 'keyword,sid', '--measures', 'calls', '--format', 'csv'];
    const { code, stdout } = await stage.quick(all, { cwd });
    const [header, ...rows] = stdout.trimEnd().split(/\r?\n/);
    expect([code, header]).toEqual([0, 'ppc_keywords,sid,calls']);

    // One for each call, of which the API leaves out those through call extensions.
    expect(rows.length).toBeGreaterThan(500);
    expect(rows.length).toBeLessThanOrEqual(600);
    expect(rows.every((row) => row.endsWith(',1'))).toBe(true);
  });

  test('it prints a table, and the same figures as data', async () => {
    const { code, stdout, stderr } = await stage.quick(
      'report --by campaign,day --include-extensions',
      { now: new Date('2026-11-01T12:00:00Z') },
    );
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^\d+ calls through call extensions are counted; the API leaves them out without inc_gce:1.\n$/,
    );
    expect(stdout).toMatch(
      /^Campaign +Calls +Share +Missed +Talk mean \(min\) +2026-\d\d-\d\d\.\.2026-\d\d-\d\d\n/,
    );
    expect(stdout).toMatch(/\nAll calls +600 +100.0% +\d+ +[\d,.]+\n/);
    const rows = JSON.parse(
      (await stage.quick(['report', '--by', 'channel', '--json', '--include-extensions'])).stdout,
    );
    expect(rows.reduce((sum: number, row: { calls: number }) => sum + row.calls, 0)).toBe(600);
    const csv = (
      await stage.quick([
        'report',
        '--by',
        'channel,weekday',
        '--format',
        'csv',
        '--include-extensions',
      ])
    ).stdout;
    expect(csv.trimEnd().split('\r\n')).toHaveLength(1 + 2 * 7);
    expect((await stage.quick(['report', '--by', 'channel'])).stderr).toMatch(
      /^\d+ calls through call extensions are left out. --include-extensions adds them.$/m,
    );
  });

  test('a period to compare with may be said in words, and is said', async () => {
    const cwd = stage.folder();
    const ask = 'report --by channel --period "this month" --time-zone UTC --json --compare';
    const run = (compare: string) =>
      stage.quick(`${ask} "${compare}"`, { cwd, now: new Date('2026-11-21T12:00:00Z') });
    const words = await run('Last month');
    const name = await run('2026-10');
    expect(words.stderr).toContain(
      'The period is not over: 2026-11-01 to 2026-11-21 12:00 is compared with 2026-10-01 to 2026-10-21 12:00.\n',
    );
    expect(words.stdout).toBe(name.stdout);
    expect(JSON.parse(words.stdout)[0].calls_before).toBeGreaterThan(0);
    expect((await run('2026-09-01 to 2026-09-07')).stderr).toContain(
      'compared with 2026-09-01 00:00:00 to 2026-09-07 23:59:59, UTC\n',
    );
  });

  test('JSON, CSV and the table have the same columns, whose change is the difference beside it', async () => {
    const now = new Date('2026-11-21T12:00:00Z');
    const ask =
      'report --by channel --period 2026-10 --compare previous --measures calls,missed_rate';
    const names = [
      'channel',
      'calls',
      'calls_before',
      'calls_change',
      'calls_change_percent',
      'calls_change_per_day',
      'missed_rate',
      'missed_rate_before',
      'missed_rate_change',
    ];
    const run = async (how: string) =>
      (await stage.quick(`${ask} --time-zone UTC ${how}`, { cwd: stage.folder(), now })).stdout;
    const [row] = JSON.parse(await run('--json'));
    expect(Object.keys(row)).toEqual(names);
    expect(row.calls_change).toBe(row.calls - row.calls_before);
    expect(row.calls_change_percent).toBeCloseTo((100 * row.calls_change) / row.calls_before, 6);
    expect((await run('--format csv')).split('\r\n')[0]).toBe(names.join(','));
    expect((await run('')).split('\n')[0]).toMatch(
      /Channel +Calls +before +change +in % +a day +Missed rate +before +change/,
    );
  });

  test('over the API, too, it says where the calls begin within the period, and not beside it', async () => {
    const run = async (how: string) =>
      (await stage.quick(`report --by month --measures calls ${how}`, { cwd: stage.folder() }))
        .stderr;
    const all = await stage.quick('report --measures first --by month --json', {
      cwd: stage.folder(),
    });
    const [{ first }] = JSON.parse(all.stdout);
    const early = `${Number(first.slice(0, 4)) - 1}-01-01`;
    const said = await run(`--from ${early} --include-extensions`);
    expect(said).toContain(': nothing is known of the period before it.');
    expect(await run(`--from ${first.slice(0, 10)}`)).not.toContain('The first call');
  });

  test('the last days leave today out of both sides, along time too', async () => {
    const run = await stage.quick(
      'report --by channel,day --from 7d --compare previous --time-zone UTC',
      { cwd: stage.folder(), now: new Date('2026-11-21T12:00:00Z') },
    );
    expect(run.stderr).toContain(
      'Today is left out, since it is not over: 2026-11-14 to 2026-11-20 is compared with 2026-11-07 to 2026-11-13.',
    );
    expect(run.stdout).toContain('2026-11-14..2026-11-20');
  });

  const browserPath = findChromium();
  describe.skipIf(browserPath === null)('it writes a page that a browser shows', () => {
    let browser: Awaited<ReturnType<typeof launch>>;
    beforeAll(async () => {
      browser = await launch(browserPath ?? '');
    });
    afterAll(() => browser.close());

    test.each([
      ['campaign,day', 'svg rect', 20],
      ['day', 'svg rect', 20],
      ['campaign', 'svg rect', 4],
    ])('by %s, in light and dark colors, without a request', async (by, shapes, least) => {
      const cwd = stage.folder();
      const { code } = await stage.quick(
        ['report', '--by', by, '--output', 'report.html', '--title', 'Calls <of> autumn'],
        { cwd },
      );
      expect(code).toBe(0);
      const page = await browser.newPage();
      const requests: string[] = [];
      const complaints: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(String(error)));
      await page.goto(pathToFileURL(join(cwd, 'report.html')).href);
      expect(await page.title()).toBe('Calls <of> autumn');
      expect(await page.locator(shapes).count()).toBeGreaterThanOrEqual(least);
      expect(await page.getByRole('term').allTextContents()).toEqual([
        'Account',
        'Period',
        'Written',
      ]);
      expect(await page.getByRole('img', { name: /^Calls by / }).count()).toBe(1);
      expect(
        await page
          .getByRole('table', { name: /calls by/ })
          .getByRole('row')
          .count(),
      ).toBeGreaterThan(2);
      expect(await page.getByRole('columnheader').count()).toBe(5);

      const cutOff = () =>
        page.locator('svg text').evaluateAll((texts) =>
          texts.flatMap((text) => {
            const own = text.getBoundingClientRect();
            const chart = text.closest('svg')?.getBoundingClientRect();
            if (!chart || own.width === 0) return [];
            const isCut = own.left < chart.left - 1 || own.right > chart.right + 1;
            return isCut || own.height < 10 ? [text.textContent] : [];
          }),
        );

      expect(await cutOff()).toEqual([]);
      const grounds = new Set<string>();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        grounds.add(await page.evaluate<string>('getComputedStyle(document.body).backgroundColor'));
        if (process.env.CALLS_TEST_SCREENSHOTS) {
          await page.screenshot({
            path: join(process.env.CALLS_TEST_SCREENSHOTS, `${by}-${colorScheme}.png`),
            fullPage: true,
          });
        }
      }

      expect(grounds.size).toBe(2);
      expect(await axeViolations(page)).toEqual([]);

      // As narrow as a phone: nothing is wider than the page, which is not long, and no text is
      // tiny or cut off.
      await page.setViewportSize({ width: 390, height: 800 });
      expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThan(
        6 * 800,
      );
      expect(await cutOff()).toEqual([]);
      expect(
        await page.evaluate<number>('document.documentElement.scrollWidth'),
      ).toBeLessThanOrEqual(390);
      expect(requests.filter((url) => !url.startsWith('file:'))).toEqual([]);
      expect(complaints).toEqual([]);
      await page.close();
    });

    test('of a comparison, the figures of a row stand at one height, and each part of a change has a line', async () => {
      const cwd = stage.folder();
      await stage.quick(
        'report --by campaign,keyword --period 2026-10 --compare previous --measures calls,missed_rate,callers,talk_mean -o compared.html',
        { cwd },
      );
      const page = await browser.newPage();
      await page.goto(pathToFileURL(join(cwd, 'compared.html')).href);
      const heights = await page.locator('tr:has(small)').evaluateAll((rows) =>
        rows.map((row) => {
          // What has changed stands right below a figure.
          const below = [...row.querySelectorAll('small span:first-child')].filter(
            (each) => !each.textContent?.startsWith('before:'),
          );
          const figures = below.map((each) => Math.round(each.getBoundingClientRect().top));
          const parts = [...row.querySelectorAll('td:first-of-type span')];
          const lines = new Set(parts.map((part) => part.getBoundingClientRect().top));
          return { figures: new Set(figures).size, parts: parts.length, lines: lines.size };
        }),
      );
      expect(heights.length).toBeGreaterThan(5);
      expect(new Set(heights.map(({ figures }) => figures))).toEqual(new Set([1]));
      expect(heights.filter(({ parts, lines }) => parts !== lines)).toEqual([]);
      await page.close();
    });
  });
});

test('a page says whether a change is good, and what is missing is not the strongest color', () => {
  const report = shown('campaign', 10, [...calls, early], {
    measures: ['calls', 'missed'],
    compare: '2026-10-22 to 2026-10-31',
    from: '2026-11-01',
    to: '2026-11-10',
  });
  const page = reportPage(report, {
    title: 'Calls',
    head: [],
    incomplete: [],
    facts: [],
    counted: [],
  });
  expect(page).toContain(
    '<td>0<small><span><b class="chart-worse" title="worse">▼ -2</b> (-100.0%)</span> <span>from 2</span></small></td>',
  );
  expect(page).toContain(
    '<td>1<small><span><b class="chart-better" title="better">▲ +1</b></span> <span>from 0</span></small></td>',
  );
  expect(page).toMatch(/\(none\)<\/text><rect class="bar none"/);
  expect(page).toContain('<div class="scroll" role="region"');
});

test('a narrow terminal shows whole figures, and says which of a comparison are left out', () => {
  const compared = {
    measures: ['calls', 'missed_rate'],
    period: '2026-11-01 to 2026-11-10',
    compare: 'previous',
  } as const;
  const report = shown('campaign', 10, [...calls, early], compared);
  const lines = (width: number) => reportLines(report, { width, style });
  const [head, ...rows] = lines(100);
  const titles = head?.split(/ {2,}/).slice(1).join();
  expect(titles).toBe('Calls,before,change,in %,Missed rate,before,change');
  expect(rows).toContainEqual(
    expect.stringMatching(/^All calls +2 +2 +0 +0\.0% +0\.0% +0\.0% +0\.0 pts$/),
  );
  const narrow = lines(61);
  expect(narrow).toContainEqual(expect.stringMatching(/^All calls +2 +0 +0\.0% +0\.0 pts$/));
  expect(narrow.at(-1)).toBe(
    'Not enough width for Calls before, Calls change percent, Missed rate before; --json has all.',
  );
  for (const line of [...rows, ...narrow]) expect(line).not.toContain('…');
  const days = Array.from('554444', (day, i) => `2026-1${i < 3 ? 1 : 0}-2${day} 10:00:00`);
  const six = days.map((date_added, i) =>
    callWith({ date_added, talk_minutes: `${[4.2, 4.3, 4.3, 3.3, 3.3, 3.4][i]}` }),
  );
  const means = shown('campaign', 10, [...six, early], {
    ...compared,
    measures: ['talk_mean'],
    period: '2026-11',
  });
  expect(means.rows[0]?.cells.slice(0, 4)).toEqual(['Brand', '4.3', '3.3', '+1.0']);
  const both = six.map((call, i) => ({ ...call, ppc_campaign: 'AABABB'.charAt(i) }));
  const shares = shown('campaign', 10, [...both, early], {
    ...compared,
    measures: ['share'],
    period: '2026-11',
  });
  expect(shares.rows[0]?.cells.slice(0, 4)).toEqual(['A', '66.7%', '33.3%', '+33.4 pts']);
});

test('that nothing was synced yet is said once', async () => {
  const stage = openStage();
  const cwd = stage.folder();
  const store = await openStore(`sqlite:${join(cwd, 'calls.db')}`);
  await store.putAccount({ id: '101', name: 'Main' });
  await store.upsert('101', fixtureCalls(30));
  await store.close();
  const { stderr } = await stage.quick(['report', '--store', 'sqlite:calls.db'], { cwd });
  expect(stderr.match(/synced.*/gi)).toEqual(['synced yet']);
});
