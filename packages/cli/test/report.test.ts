import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findChromium, launch } from '@call-attribution/test-tools';
import { callWith } from '@call-attribution/test-tools/call-with';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readDimensions } from '../src/report/dimensions.ts';
import { reportPage } from '../src/report/page.ts';
import { createTally } from '../src/report/tally.ts';
import { reportLines } from '../src/report/terminal.ts';
import { styleFor } from '../src/term/style.ts';
import { textWidth } from '../src/term/width.ts';
import { openStage } from './stage.ts';

const style = styleFor({} as never, {});
const call = (date: string, campaign: string | null, talk = '1.5') =>
  callWith({ date_added: `${date} 10:30:00`, ppc_campaign: campaign, talk_minutes: talk });
const calls = [
  call('2026-10-30', 'Brand'),
  call('2026-10-30', 'Brand', '0.1'),
  call('2026-11-02', 'Generic <b>"x"</b>', '0.2'),
  call('2026-11-03', null),
];
function reportOf(by: string, top = 10, of = calls) {
  const tally = createTally(readDimensions(by.split(',')));
  for (const each of of) tally.add(each);
  return tally.report(top);
}

test('groups are ranked, with exact sums and shares, and (none) for calls without a value', () => {
  const { groups, total } = reportOf('campaign');
  expect(groups.map(({ key, calls, talkMinutes, share }) => [key, calls, talkMinutes, share])).toEqual([
    ['Brand', 2, 1.6, 0.5],
    ['(none)', 1, 1.5, 0.25],
    ['Generic <b>"x"</b>', 1, 0.2, 0.25],
  ]);
  expect(total).toEqual({ calls: 4, talkMinutes: 3.3, share: 1 });
});

test('groups beyond the top are added up, not dropped', () => {
  const { groups, rest, restCount } = reportOf('campaign', 1);
  expect(groups).toHaveLength(1);
  expect(rest).toMatchObject({ key: '2 more', calls: 2, talkMinutes: 1.7 });
  expect(restCount).toBe(2);
});

test('time has no gaps: a day, week or month without calls is 0', () => {
  expect(reportOf('day').groups.map(({ key, calls }) => [key, calls])).toEqual([
    ['2026-10-30', 2],
    ['2026-10-31', 0],
    ['2026-11-01', 0],
    ['2026-11-02', 1],
    ['2026-11-03', 1],
  ]);
  expect(reportOf('week').groups.map(({ key }) => key)).toEqual(['2026-10-26', '2026-11-02']);
  expect(reportOf('month').groups.map(({ key }) => key)).toEqual(['2026-10', '2026-11']);
  expect(reportOf('weekday').groups.map(({ key }) => key)).toEqual([
    'Mon',
    'Tue',
    'Wed',
    'Thu',
    'Fri',
    'Sat',
    'Sun',
  ]);
  expect(reportOf('hour').groups[10]).toMatchObject({ key: '10:00', calls: 4 });
  const odd = reportOf('day', 10, [...calls, callWith({ date_added: null })]);
  expect(odd.groups.at(-1)).toMatchObject({ key: '(none)', calls: 1 });
});

test('of two dimensions, time goes across, whichever came first', () => {
  for (const by of ['campaign,day', 'day,campaign']) {
    const report = reportOf(by);
    expect(report.rows.name).toBe('campaign');
    expect(report.axis).toHaveLength(5);
    expect(report.groups[0]?.series).toEqual([2, 0, 0, 0, 0]);
  }
});

test('the total, the groups and the columns add up to all calls', () => {
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
      const report = reportOf(
        'campaign,day',
        top,
        list.map(([day, name, tenths]) => call(day, name, (tenths / 10).toFixed(1))),
      );
      const groups = report.rest ? [...report.groups, report.rest] : report.groups;
      const sum = (of: (group: (typeof groups)[0]) => number) =>
        groups.reduce((all, group) => all + of(group), 0);
      expect(sum((group) => group.calls)).toBe(list.length);
      expect(report.total.calls).toBe(list.length);
      expect(sum((group) => group.series.reduce((a, b) => a + b, 0))).toBe(list.length);
      expect(Math.round(report.total.talkMinutes * 10)).toBe(
        list.reduce((all, [, , tenths]) => all + tenths, 0),
      );
      for (const line of reportLines(report, { width: 60, style }))
        expect(textWidth(line)).toBeLessThanOrEqual(60);
    }),
    { numRuns: Number(process.env.CALLS_RUNS ?? 60) },
  );
});

test('the page has no markup from the data, no script and no URL to load', () => {
  const page = reportPage(reportOf('campaign,day'), {
    title: '<script>alert(1)</script>',
    incomplete: [],
    facts: ['a & b'],
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
    const report = reportOf(by, 30, many);
    const page = reportPage(report, { title: 'Calls', incomplete: [], facts: [] });
    const rows = [...page.matchAll(/<tr><th scope="row">(.*?)<\/tr>/g)].map(([, cells]) =>
      (cells as string).split(/<\/th><td>|<\/td><td>|<\/td>/).filter((cell) => cell !== ''),
    );
    const total = rows.find(([key]) => key === 'All calls');
    const shown = rows.filter((row) => row !== total).sort();
    const lines = reportLines(report, { width: 400, style });
    const inTerminal = lines.slice(1, -2).map((line) => line.split(/ {2,}/).slice(0, 5));
    expect(shown).toEqual(inTerminal.sort());
    expect(lines.at(-1)).toContain(`${total?.[1]} calls, ${total?.[3]} talk minutes`);
    // A long table is folded.
    expect(page.split('<details>')[0]?.match(/<tr>/g)?.length).toBeLessThan(30);
  },
);

describe('calls report', () => {
  const stage = openStage();
  afterAll(() => stage.close());

  test('as data, two groups that are no time have a row for each pair that occurs, and no others', async () => {
    const cwd = stage.folder();
    const all = ['report', '--by', 'keyword,sid', '--format', 'csv'];
    const { code, stdout } = await stage.quick(all, { cwd });
    const [header, ...rows] = stdout.trimEnd().split(/\r?\n/);
    expect([code, header]).toEqual([0, 'keyword,sid,calls']);
    // One for each call, of which the API leaves out those through call extensions.
    expect(rows.length).toBeGreaterThan(500);
    expect(rows.length).toBeLessThanOrEqual(600);
    expect(rows.every((row) => row.endsWith(',1'))).toBe(true);
  });

  test('it prints a table, and the same figures as data', async () => {
    const { code, stdout, stderr } = await stage.quick([
      'report',
      '--by',
      'campaign,day',
      '--include-extensions',
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Campaign +Calls +Share +Talk min +Mean +2026-\d\d-\d\d\.\.2026-\d\d-\d\d\n/);
    expect(stdout).toMatch(/\n600 calls, [\d,.]+ talk minutes\n$/);
    const rows = JSON.parse(
      (await stage.quick(['report', '--by', 'channel', '--json', '--include-extensions'])).stdout,
    );
    expect(rows.reduce((sum: number, row: { calls: number }) => sum + row.calls, 0)).toBe(600);
    const csv = (
      await stage.quick(['report', '--by', 'channel,weekday', '--format', 'csv', '--include-extensions'])
    ).stdout;
    expect(csv.trimEnd().split('\r\n')).toHaveLength(1 + 2 * 7);
    expect((await stage.quick(['report', '--by', 'channel'])).stderr).toMatch(
      /call extensions are not included/,
    );
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
            const [own, chart] = [text.getBoundingClientRect(), text.closest('svg')?.getBoundingClientRect()];
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
      // As narrow as a phone: nothing is wider than the page, which is not long, and no text is tiny or cut off.
      await page.setViewportSize({ width: 390, height: 800 });
      expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThan(6 * 800);
      expect(await cutOff()).toEqual([]);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
      expect(requests.filter((url) => !url.startsWith('file:'))).toEqual([]);
      expect(complaints).toEqual([]);
      await page.close();
    });
  });
});

test('the report of a whole year has one line for each group', () => {
  const year = Array.from({ length: 365 }, (_, at) =>
    call(new Date(Date.UTC(2026, 0, 1 + at)).toISOString().slice(0, 10), 'Brand'),
  );
  const lines = reportLines(reportOf('campaign,day', 10, year), { width: 80, style });
  expect(lines.filter((line) => line.startsWith('Brand'))).toHaveLength(1);
});
