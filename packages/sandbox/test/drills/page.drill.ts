import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@call-attribution/core';
import { createService } from '@call-attribution/service';
import { openStore } from '@call-attribution/store';
import { findChromium, launch } from '@call-attribution/test-tools';
import { axeViolations } from '@call-attribution/test-tools/axe';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { generate, type Sandbox, startSandbox } from '../../src/index.ts';
import { contrasts } from '../contrasts.ts';

openDrill({
  name: 'page',
  kind: 'whole programs',
  what: 'The page is used in a browser with mouse and keyboard, in each size and color; it shows the right numbers and breaks no rule of WCAG',
  countTests: true,
});

const chromium = findChromium();
const data = { records: 1_500, seed: 3, days: 10, to: '2026-10-21 00:00:00' };
// Words such as `last 28 days` are about the days before the one after the last call.
const clock = { ...systemClock, now: () => Date.parse(`${data.to.replace(' ', 'T')}Z`) };
const calls = [...generate(data)];
const tracked = calls.filter((call) => call.channel === 'Tracker');
const grouped = (value: number) => String(value).replace(/\B(?=(\d{3})+$)/g, ',');

describe.skipIf(chromium === null)('the page in a real browser', { timeout: 60_000 }, () => {
  const assets = mkdtempSync(join(tmpdir(), 'page-'));
  let browser: Browser;
  let sandbox: Sandbox;

  // One page for all tests: a new one costs a process. Nothing but the address has any state.
  let shared: Page;

  /** What went wrong in the page, and to which hosts it sent requests. */
  const errors: string[] = [];
  const hosts = new Set<string>();

  beforeAll(async () => {
    const builder = new URL(
      'page.build.mjs',
      import.meta.resolve('@call-attribution/service/package.json'),
    );
    execFileSync(process.execPath, [fileURLToPath(builder), assets]);
    sandbox = await startSandbox({ ...data, clock, service: { page: { assets } } });
    browser = await launch(chromium as string);
    shared = await browser.newPage();
    shared.setDefaultTimeout(20_000);
    shared.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    shared.on('pageerror', (error) => errors.push(String(error)));
    shared.on('request', (request) => hosts.add(new URL(request.url()).host));
  });
  afterEach(async () => {
    await leave();
    expect(errors.splice(0)).toEqual([]);
    expect([...hosts].filter((host) => host !== '' && !host.startsWith('127.0.0.1:'))).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await sandbox?.close();
    rmSync(assets, { recursive: true });
  });

  async function leave(): Promise<void> {
    if (shared.url() !== 'about:blank') await shared.goto('about:blank');
  }

  async function open(url = sandbox.url): Promise<Page> {
    // An address that differs in its hash only would not load the page again.
    await leave();
    await shared.goto(url);
    return shared;
  }

  const loaded = async (page: Page) => {
    // All parts of the numbers have come.
    await page.waitForSelector('#results[aria-busy="false"] #days svg');
    return page;
  };

  const range = (page: Page) => page.locator('#calls-range');
  const filter = (page: Page) => page.getByRole('textbox', { name: 'Filter' });
  const openText = (page: Page) => page.getByText('Filter as text').click();
  const openDevelopers = (page: Page) => page.getByText('For developers').click();
  const until = (page: Page, text: string) =>
    page.locator('#calls-range', { hasText: new RegExp(`^${text}, newest first$`) }).waitFor();
  const ofAll = (count: number) => `1 to 25 of ${grouped(count)}`;
  const newestFirst = [...tracked].sort((a, b) =>
    a.date_added + a.sid < b.date_added + b.sid ? 1 : -1,
  );
  const days28 = 'date_added:[2026-09-23 00:00:00 TO 2026-10-21 00:00:00}';

  test('it shows accounts with their keys, the newest calls and the exact total', async () => {
    const page = await loaded(await open());
    expect(await page.getByRole('combobox', { name: 'Account' }).textContent()).toContain(
      'Harbor Dental',
    );
    await openDevelopers(page);
    expect(await page.getByText('test_access_101', { exact: true }).isVisible()).toBe(true);
    expect(await range(page).textContent()).toBe(`${ofAll(tracked.length)}, newest first`);
    const times = await page.locator('#calls tbody tr button').allTextContents();
    expect(times).toEqual(newestFirst.slice(0, 25).map(({ date_added }) => date_added));
  });

  test('its numbers are those of the calls, and say what is left out', async () => {
    const page = await loaded(await open(`${sandbox.url}/#period=last+7+days`));
    const week = tracked.filter(({ date_added }) => date_added >= '2026-10-14');
    const missed = week.filter(({ talk_minutes }) => talk_minutes === '0.0').length;
    const mean =
      week.reduce((sum, { talk_minutes }) => sum + Number(talk_minutes), 0) / week.length;
    const values = await page.locator('#numbers .value').allTextContents();
    expect(values.slice(0, 3)).toEqual([
      grouped(week.length),
      grouped(missed),
      `${mean.toFixed(1)} min`,
    ]);
    expect(await page.locator('#compared').textContent()).toBe(
      'Compared with 7 Oct to 13 Oct 2026. The first call is from 2026-10-11 01:56:39: nothing is known of the period before it. Calls are known from 2026-10-11 on: who called before that counts as new.',
    );

    // What is not known to have been less has not grown.
    expect(await page.locator('#numbers .change').count()).toBe(0);
    expect(await page.locator('#glance').textContent()).toBe(
      `${grouped(week.length)} calls in this time.`,
    );
    const left = calls.filter(
      ({ channel, date_added }) => channel !== 'Tracker' && date_added >= '2026-10-14',
    );
    expect(await page.locator('#extensions-note').textContent()).toBe(
      `${left.length} calls not included`,
    );
  });

  test('who signs in on the page that stands alone gets what the address says, chooses an account, and signs out', async () => {
    const own = await startSandbox({
      ...data,
      clock,
      accounts: 2,
      service: { page: { assets, password: 'open sesame' } },
    });
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(`${own.url}/#period=last+7+days`);
      expect(await page.locator('#app').count()).toBe(0);
      expect(await axeViolations(page)).toEqual([]);
      await page.getByLabel('Password').fill('wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('The user name or the password is wrong.').waitFor();
      await page.getByLabel('Password').fill('open sesame');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await loaded(page);
      expect(new URL(page.url()).hash).toBe('#period=last+7+days');
      expect(await page.locator('#sign-in').isVisible()).toBe(false);
      expect(await page.locator('#keys').textContent()).toBe('');
      const before = await range(page).textContent();
      await page.getByRole('combobox', { name: 'Account' }).selectOption({ index: 1 });
      await expect.poll(() => range(page).textContent(), { timeout: 10_000 }).not.toBe(before);
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Save as CSV: Campaign' }).click();
      const file = readFileSync(await (await saved).path(), 'utf8');
      expect(file).toMatch(/^ppc_campaign,calls,missed\r\n/);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      await page.reload();
      expect(await page.getByLabel('Password').isVisible()).toBe(true);
    } finally {
      await context.close();
      await own.close();
    }
  });

  test('it goes to the oldest page and back, also with the Back button of the browser', async () => {
    const page = await loaded(await open());
    const total = grouped(tracked.length);
    await page.getByRole('button', { name: 'Oldest' }).click();
    const first = Math.floor((tracked.length - 1) / 25) * 25 + 1;
    await until(page, `${grouped(first)} to ${total} of ${total}`);
    expect(new URL(page.url()).hash).toContain(`page=${(first - 1) / 25 + 1}`);
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Previous' }).click();
    await until(page, `${grouped(first - 25)} to ${grouped(first - 1)} of ${total}`);
    await page.goBack();
    await until(page, `${grouped(first)} to ${total} of ${total}`);
    await page.goBack();
    await until(page, ofAll(tracked.length));
  });

  test('the controls write the filter, and the filter sets the controls', async () => {
    const page = await loaded(await open());
    await openText(page);
    expect(await filter(page).inputValue()).toBe(days28);
    await page.getByRole('checkbox', { name: /Include/ }).check();
    await until(page, ofAll(calls.length));
    expect(await filter(page).inputValue()).toBe(`${days28},inc_gce:1`);
    await page.getByRole('spinbutton', { name: 'Least talk time' }).fill('1');
    await page.getByRole('spinbutton', { name: 'Least talk time' }).press('Enter');
    const long = calls.filter(({ talk_minutes }) => Number(talk_minutes) >= 1);
    await until(page, ofAll(long.length));
    expect(await filter(page).inputValue()).toBe(`${days28},inc_gce:1,talk_minutes:[1 TO *]`);
    await page.locator('#period').click();
    await page.locator('#from').fill('2026-10-15');
    await page.locator('#to').fill('2026-10-17');
    await page.getByRole('button', { name: 'Show these days' }).click();
    const three = long.filter(
      ({ date_added }) => date_added >= '2026-10-15' && date_added < '2026-10-18',
    );
    await until(page, ofAll(three.length));
    expect(await filter(page).inputValue()).toMatch(
      /^date_added:\[2026-10-15 00:00:00 TO 2026-10-18 00:00:00\}/,
    );
    await page.locator('#period').click();
    await page.locator('#words').fill('last moth');
    await page.locator('#words').press('Enter');
    const problem = page.locator('#words-problem');
    expect(await problem.textContent()).toContain("Did you mean 'last month'?");
    await page.locator('#words').fill('since 2026-10-15');
    expect(await problem.textContent()).toBe('');
    await page.locator('#words').press('Enter');
    await until(page, ofAll(long.filter(({ date_added }) => date_added >= '2026-10-15').length));
    expect(new URL(page.url()).hash).toContain('period=since+2026-10-15');
    await filter(page).fill('talk_minutes:[0 TO 0]');
    await filter(page).press('Enter');
    await until(page, ofAll(tracked.filter(({ talk_minutes }) => talk_minutes === '0.0').length));
    expect(await page.locator('#period-text').textContent()).toBe('All time');
    expect(await page.locator('#minutes-text').textContent()).toBe('missed');
    expect(await page.getByRole('checkbox', { name: /Include/ }).isChecked()).toBe(false);
  });

  test('bars, columns and pickers narrow, chips take back, and the address holds it all', async () => {
    const page = await loaded(await open());
    const [most] = await page.locator('#breakdown-landing_page .group .name').allTextContents();
    await page.locator('#breakdown-landing_page .group').first().click();
    const onPage = tracked.filter(({ landing_page }) => landing_page === most);
    await until(page, ofAll(onPage.length));

    // The other values of the field stay, to compare with and to add.
    expect(await page.locator('#breakdown-landing_page .group').count()).toBeGreaterThan(1);
    await page.getByRole('button', { name: /^Tue 20 Oct 2026: \d+ calls/ }).click();
    const that = onPage.filter(({ date_added }) => date_added.startsWith('2026-10-20'));
    await page.locator('#calls-range', { hasText: `of ${that.length},` }).waitFor();
    expect(await page.locator('#period-text').textContent()).toBe('20 Oct 2026');
    const address = page.url();
    await page.goBack();
    await until(page, ofAll(onPage.length));
    const again = await loaded(await open(address));
    expect(await range(again).textContent()).toContain(`of ${that.length},`);
    await again.getByRole('button', { name: `Remove Landing page: ${most}` }).click();
    const day = tracked.filter(({ date_added }) => date_added.startsWith('2026-10-20'));
    await until(again, ofAll(day.length));
    await again.getByRole('button', { name: 'Campaign', exact: true }).click();
    await again.getByLabel('Find in campaign').fill('brand');
    const choice = again.locator('#panel-ppc_campaign .option').first();
    const campaign = (await choice.locator('bdi').textContent()) ?? '';
    await choice.click();
    const branded = day.filter(({ ppc_campaign }) => ppc_campaign === campaign).length;
    await again.locator('#calls-range', { hasText: `of ${branded},` }).waitFor();
    expect(await again.locator('#shell-note').isVisible()).toBe(false);
    await again.keyboard.press('Escape');
    await openDevelopers(again);
    expect(await again.locator('#shell-note').isVisible()).toBe(true);
    expect(await again.locator('#shell').textContent()).toContain('only={"ppc_campaign"');
  });

  test('definitions are switches, what is excluded is said, reports have a menu, and the address holds it all', async () => {
    const own = await startSandbox({
      ...data,
      clock,
      service: {
        page: {
          assets,
          setup: {
            definitions: { lead: 'talk_minutes >= 2', short: 'talk_minutes < 1', silent: 'missed' },
            exclude: 'silent',
            reports: [
              {
                name: 'weekly',
                title: 'Leads by channel',
                accounts: null,
                question: {
                  groupBy: ['channel'],
                  measures: ['calls', 'count(lead) as leads'],
                  period: 'last 7 days',
                  compare: 'previous',
                },
                files: null,
              },
            ],
            annotations: [{ date: '2026-10-15', text: 'a new landing page', account: null }],
          },
        },
      },
    });
    try {
      const page = await loaded(await open(`${own.url}/#period=last+7+days`));
      const week = tracked.filter(({ date_added }) => date_added >= '2026-10-14');
      const answered = week.filter(({ talk_minutes }) => talk_minutes !== '0.0');
      const leads = week.filter(({ talk_minutes }) => Number(talk_minutes) >= 2);
      await until(page, ofAll(answered.length));
      const switches = page.locator('#switches');
      await switches.getByRole('button', { name: `lead ${leads.length}` }).waitFor();
      const left = `Without silent: ${week.length - answered.length} calls`;
      expect(await switches.textContent()).toContain(left);
      expect(await page.locator('#legend').textContent()).toContain(
        '15 Oct 2026: a new landing page',
      );
      expect(await axeViolations(page)).toEqual([]);

      await switches.getByRole('button', { name: /^lead/ }).click();
      await until(page, ofAll(leads.length));
      expect(new URL(page.url()).hash).toBe('#period=last+7+days&definitions=lead');
      await switches.getByRole('button', { name: /^lead/ }).click();
      await until(page, ofAll(answered.length));
      await switches.getByRole('button', { name: 'Count them' }).click();
      await until(page, ofAll(week.length));
      await page.goBack();
      await page.goBack();
      await until(page, ofAll(leads.length));
      expect(await switches.getByRole('button', { pressed: true }).count()).toBe(1);

      await page.getByRole('link', { name: 'Leads by channel' }).click();
      await page.getByRole('heading', { name: 'Leads by channel' }).waitFor();
      expect(new URL(page.url()).hash).toContain('report=weekly');
      const cells = await page.locator('#report tfoot td').allTextContents();
      const all = calls.filter(({ date_added }) => date_added >= '2026-10-14');
      const before = calls.filter(
        ({ date_added }) => date_added >= '2026-10-07' && date_added < '2026-10-14',
      );
      expect(cells[1]).toMatch(new RegExp(`^${grouped(all.length)}.* from ${before.length}$`));
      expect(await page.locator('#findings').isVisible()).toBe(false);
      expect(await axeViolations(page)).toEqual([]);
      for (const width of [390, 1280, 2560]) {
        await page.setViewportSize({ width, height: 900 });
        const over = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect(over).toBeLessThanOrEqual(0);
      }

      const again = await open(page.url());
      await again.getByRole('heading', { name: 'Leads by channel' }).waitFor();
      await again.getByRole('link', { name: 'Overview' }).click();
      await loaded(again);
      expect(await again.locator('#findings').isVisible()).toBe(true);
    } finally {
      await shared.setViewportSize({ width: 1280, height: 720 });
      await leave();
      await own.close();
    }
  });

  test('columns can be chosen, and the CSV has what is seen', async () => {
    const page = await loaded(await open(`${sandbox.url}/#period=yesterday`));
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'City', exact: true }).check();
    await page.getByRole('checkbox', { name: 'Campaign', exact: true }).uncheck();
    await page.keyboard.press('Escape');
    const titles = page.getByRole('columnheader');
    await expect
      .poll(() => titles.allTextContents())
      .toEqual(['Time', 'Caller', 'Talk minutes', 'Landing page', 'Channel', 'Ad data', 'City']);
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).toBe('calls-2026-10-20-to-2026-10-20.csv');
    const lines = readFileSync(await file.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    expect(lines[0]).toBe('date_added,ani,talk_minutes,landing_page,channel,ppc_status,city');
    expect(lines).toHaveLength(
      1 + tracked.filter(({ date_added }) => date_added >= '2026-10-20').length,
    );
  });

  test('it points at a mistake once typing pauses, and fixes it', async () => {
    const page = await loaded(await open());
    await openText(page);
    let requests = 0;
    const count = () => requests++;
    page.on('request', count);
    await filter(page).fill('');
    await filter(page).pressSequentially('talk_minutes:[2 to *]', { delay: 5 });
    const problem = page.locator('#problem');

    // Not in the middle of a word.
    expect(await problem.textContent()).toBe('');
    await problem.locator('pre').waitFor();
    expect(await problem.locator('pre').textContent()).toBe(
      'talk_minutes:[2 to *]\n               ^^^',
    );
    expect(await filter(page).getAttribute('aria-invalid')).toBe('true');
    expect(await problem.getAttribute('aria-live')).toBe('polite');
    await filter(page).press('Enter');
    expect(requests).toBe(0);
    page.off('request', count);
    await page.getByRole('button', { name: /Fix it/ }).click();
    expect(await filter(page).inputValue()).toBe('talk_minutes:[2 TO *]');
    expect(await filter(page).getAttribute('aria-invalid')).toBe('false');
    await filter(page).press('Enter');
    const long = tracked.filter((call) => Number(call.talk_minutes) >= 2).length;
    await until(page, ofAll(long));
  });

  test('it can be used with the keyboard only: skip link, controls, chart, filter, record and back', async () => {
    const page = await loaded(await open());
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to the filter');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement?.id')).toBe('period');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Last 7 days/ }).focus();
    await page.keyboard.press('Enter');
    await until(page, ofAll(tracked.filter(({ date_added }) => date_added >= '2026-10-14').length));
    expect(await page.evaluate('document.activeElement?.id')).toBe('period');
    await page.locator('.column[tabindex="0"]').focus();
    await page.keyboard.press('ArrowLeft');
    expect(await page.evaluate('document.activeElement?.getAttribute("aria-label")')).toMatch(
      /^Mon 19 Oct 2026/,
    );
    await page.keyboard.press('Enter');
    const monday = tracked.filter(({ date_added }) => date_added.startsWith('2026-10-19'));
    await until(page, ofAll(monday.length));
    await page.getByText('Filter as text').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Control+A');
    await filter(page).fill('inc_gce:1');
    await page.keyboard.press('Enter');
    await until(page, ofAll(calls.length));
    await page.locator('#calls tbody button').first().focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('#record dl');
    expect(await page.getByRole('dialog', { name: /^Call / }).isVisible()).toBe(true);
    expect(await page.locator('#record dt').count()).toBe(73);
    await page.keyboard.press('Escape');
    expect(await page.evaluate("document.activeElement?.closest('#calls') !== null")).toBe(true);
  });

  test('it draws the calls of each day, also in words and as a table', async () => {
    const page = await loaded(
      await open(
        `${sandbox.url}/#q=${encodeURIComponent('date_added:[2026-10-12 00:00:00 TO 2026-10-19 00:00:00}')}`,
      ),
    );
    await expect.poll(() => page.locator('#days .column').count()).toBe(7);
    await page.getByText('As a table').click();

    const shown = () =>
      page
        .locator('#days tbody tr')
        .evaluateAll((rows) =>
          rows.map((row) => [...row.children].slice(1).map((cell) => cell.textContent)),
        );

    const expected = Array.from({ length: 7 }, (_, i) => {
      const those = tracked.filter((call) => call.date_added.startsWith(`2026-10-${12 + i}`));
      return [
        String(those.length),
        String(those.filter(({ talk_minutes }) => talk_minutes === '0.0').length),
      ];
    });
    await expect.poll(shown).toEqual(expected);
    const sum = expected.reduce((all, [count]) => all + Number(count), 0);
    expect(await page.locator('#days svg').getAttribute('aria-label')).toContain(
      `${sum} from Mon 12 Oct 2026 to Sun 18 Oct 2026`,
    );
    const busiest = (await page.locator('#hours svg').getAttribute('aria-label')) ?? '';
    expect(busiest).toMatch(/^Calls by weekday and hour; most on \w{3} \d+:00, \d+ calls\.$/);
    await page.locator('.column').first().hover();
    expect(await page.locator('.tip').textContent()).toContain(`${expected[0]?.[0]} calls`);
    await page.getByRole('combobox', { name: 'Columns' }).selectOption('week');
    await expect.poll(() => page.locator('#days .column').count()).toBe(1);
  });

  test('it shows what visitors wrote as text, never as markup, and invisible characters as marks', async () => {
    const odd = tracked.find(
      (call) =>
        `${call.search_term}${call.custom_value}`.includes('<img') &&
        tracked.filter(({ date_added }) => date_added === call.date_added).length === 1,
    );
    if (!odd) throw new Error('the seed has no call with markup in it');
    const day = odd.date_added;
    const page = await loaded(
      await open(`${sandbox.url}/#q=${encodeURIComponent(`date_added:[${day} TO ${day}]`)}`),
    );
    expect(await page.locator('#period-text').textContent()).toBe('Times in the filter');
    await page.locator('#calls tbody button').first().click();
    await page.waitForSelector('#record dl');
    expect(
      await page.locator('#record dd', { hasText: '<img src=x onerror=alert(1)>' }).count(),
    ).toBeGreaterThan(0);
    expect(await page.locator('#record img').count()).toBe(0);

    const store = await openStore('sqlite::memory:');
    const account = { id: '7', name: 'Own', accessKey: 'a', secretKey: 's', bearerToken: 'b' };
    const long = {
      ...account,
      id: '8',
      name: 'Brightwater Plumbing, Heating and Drains of Denver',
    };
    const service = createService({
      store,
      accounts: [account],
      clock,
      page: {
        assets,
        sandbox: {
          accounts: [
            { ...account, records: 1 },
            { ...long, records: 0 },
          ],
          live: false,
        },
      },
    });
    const { url } = await service.listen();
    try {
      await store.upsert('7', [
        { ...odd, ppc_campaign: 'Sale\u202efdp.exe', landing_page: `/${'long'.repeat(90)}` },
      ]);
      const own = await loaded(await open(url));
      expect(await own.locator('#calls tbody .mark-char').allTextContents()).toEqual(['U+202E']);
      expect(await own.locator('#breakdown-ppc_campaign .name').textContent()).toBe(
        'SaleU+202Efdp.exe',
      );
      for (const width of [1280, 390]) {
        await own.setViewportSize({ width, height: 900 });
        expect(
          await own.evaluate('document.documentElement.scrollWidth - innerWidth'),
        ).toBeLessThanOrEqual(0);
      }
    } finally {
      await leave();
      await service.close();
      await store.close();
    }
  });

  test('it is readable in light and dark, wide and narrow: axe finds nothing, nothing is beyond the edge', async () => {
    const states: Record<string, (page: Page) => Promise<unknown>> = {
      'as it opens': async () => undefined,
      'a mistake': async (page) => {
        await openText(page);
        await filter(page).fill('talk_minuts:[2 TO *');
        await filter(page).blur();
        await page.locator('#problem pre').waitFor();
        await openDevelopers(page);
      },
      'a picker': (page) => page.getByRole('button', { name: 'Keyword', exact: true }).click(),
      'the time': (page) => page.locator('#period').click(),
      'the columns': (page) => page.getByRole('button', { name: 'Columns' }).click(),
      narrowed: async (page) => {
        await page.locator('#breakdown-referrer .group').first().click();
        await page.locator('.chip').waitFor();
      },
      nothing: async (page) => {
        await page.locator('#nothing').waitFor();
      },
      'a call': async (page) => {
        await page.locator('#calls tbody button').first().click();
        await page.waitForSelector('#record dl');
      },
    };
    const found: unknown[] = [];
    for (const [name, reach] of Object.entries(states)) {
      const empty = `${sandbox.url}/#q=${encodeURIComponent('talk_minutes:[900 TO *]')}`;
      const page = name === 'nothing' ? await open(empty) : await loaded(await open());
      await reach(page);
      for (const colorScheme of ['light', 'dark'] as const) {
        for (const width of [390, 1280, 2560]) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 900 });
          await page.waitForTimeout(200);
          const weak = (await page.evaluate(contrasts)).filter(({ ratio }) => ratio < 4.5);
          const over = (await page.evaluate(
            'document.documentElement.scrollWidth - innerWidth',
          )) as number;
          // Colors are measured above. Of the rest, axe finds the same in dark, and the same at any
          // width of a desktop.
          const isKnown = colorScheme === 'dark' || width === 2560;
          const wrong = isKnown && rounds(0, 1) === 0 ? [] : await axeViolations(page);
          if (weak.length + wrong.length > 0 || over > 0)
            found.push({ name, colorScheme, width, weak, over, wrong });
        }
      }
      await page.emulateMedia({ colorScheme: null });
      await page.setViewportSize({ width: 1280, height: 720 });
    }

    expect(found).toEqual([]);
  }, 240_000);

  test('names, controls, numbers and their changes stand on one line, and nothing is cut without a sign', async () => {
    // The days before are known, too.
    const page = await loaded(await open(`${sandbox.url}/#period=last+3+days`));
    const boxes = async (selector: string) =>
      Promise.all(
        (await page.locator(selector).all()).map(async (each) => {
          const { x = 0, y = 0, width = 0, height = 0 } = (await each.boundingBox()) ?? {};
          return { x, y, right: x + width, bottom: y + height };
        }),
      );
    const lines = (of: readonly { readonly y: number }[]) => new Set(of.map(({ y }) => y)).size;
    for (const [width, rows] of [
      [1280, 1],
      [390, 2],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      expect(lines(await boxes('.tile dt'))).toBe(rows);
      expect(lines(await boxes('.tile .value'))).toBe(rows);
      expect(lines(await boxes('.tile .note'))).toBe(rows);
      const tiles = await boxes('.tile');
      const values = await boxes('.tile .value');
      const changes = await boxes('.tile .change');
      expect(changes).toHaveLength(4);
      for (const [at, change] of changes.entries()) {
        const value = values[at] ?? change;
        expect(change.x).toBeGreaterThan(value.right);
        expect(change.bottom).toBeLessThanOrEqual(value.bottom);
        expect(change.right).toBeLessThanOrEqual(tiles[at]?.right ?? 0);
      }

      // Text that does not fit ends with an ellipsis, or can be scrolled to.
      const cut = await page.evaluate(`[...document.querySelectorAll('#app *')].filter((each) => {
        const { overflowX, textOverflow } = getComputedStyle(each);
        return each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 1 &&
          overflowX === 'hidden' && textOverflow !== 'ellipsis';
      }).map((each) => each.outerHTML.slice(0, 90))`);
      expect(cut).toEqual([]);
    }

    await page.setViewportSize({ width: 1280, height: 720 });
    expect(lines(await boxes('.field > :first-child'))).toBe(1);
    expect(lines(await boxes('.field > :nth-child(2)'))).toBe(1);
  });

  test('on paper it has what was chosen, all columns and dark ink, on A4 and on letter', async () => {
    const page = await loaded(await open(`${sandbox.url}/#period=last+7+days`));
    try {
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });

      // The paper without its margins of 12 mm, at 96 dots an inch.
      for (const width of [703, 725]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        expect(await page.locator('#printed').textContent()).toBe(
          '14 Oct to 20 Oct 2026, talk time any, call extensions not included',
        );
        const last = await page.locator('#calls th').last().boundingBox();
        expect((last?.x ?? width) + (last?.width ?? 0)).toBeLessThan(width);
        expect(await page.getByRole('button', { name: 'Columns' }).isVisible()).toBe(false);
        const ink = await page.evaluate('getComputedStyle(document.body).color');
        expect(ink).toBe('rgb(26, 32, 38)');
      }
    } finally {
      await page.emulateMedia({ media: null, colorScheme: null });
      await page.setViewportSize({ width: 1280, height: 720 });
    }
  });

  test('every control has a name, and the headings form an outline', async () => {
    const page = await loaded(await open());
    for (const role of [
      'button',
      'checkbox',
      'combobox',
      'spinbutton',
      'region',
      'table',
    ] as const) {
      const all = await page.getByRole(role).count();
      expect([role, await page.getByRole(role, { name: /\S/ }).count()]).toEqual([role, all]);
      expect(all).toBeGreaterThan(0);
    }

    expect(await page.getByRole('heading').allTextContents()).toEqual([
      'Calls',
      'Which calls',
      'Numbers',
      'Calls by day',
      'Calls by weekday and hour',
      'Where the calls come from',
      'Campaign',
      'Keyword',
      'Landing page',
      'Source',
      'Channel',
      'Calls',
      'For developers',
    ]);

    // One sentence says what was found, after a pause.
    await expect
      .poll(() => page.getByRole('status').first().textContent())
      .toMatch(/^[\d,]+ calls, 23 Sep to 20 Oct 2026\. \d+ missed\.$/);
  });

  test('it says what went wrong, and tries again', async () => {
    const page = await loaded(await open());
    await page.route('**/page/summary.json*', (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/problem+json',
        body: '{"detail":"The store does not respond at the moment. Try again."}',
      }),
    );
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('The store does not respond at the moment').waitFor();
    await page.unroute('**/page/summary.json*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await until(page, `26 to 50 of ${grouped(tracked.length)}`);
    expect(await page.locator('#problem-banner').isVisible()).toBe(false);
    expect(errors.splice(0).filter((error) => !error.includes('503'))).toEqual([]);
  });

  test('it follows the new calls of a live sandbox when the button is pressed', async () => {
    const live = await startSandbox({
      records: 20,
      days: 2,
      live: { speed: 1_200, tick: 50 },
      service: { page: { assets } },
    });
    try {
      const page = await loaded(await open(`${live.url}/#period=all+time`));
      const total = async () =>
        Number((await page.locator('#numbers .value').first().textContent())?.replace(',', ''));
      const before = await total();
      const follow = page.getByRole('button', { name: 'Follow new calls' });
      await follow.click();
      expect(await follow.getAttribute('aria-pressed')).toBe('true');
      await expect.poll(total, { timeout: 20_000 }).toBeGreaterThan(before + 50);
      expect(await range(page).textContent()).toMatch(/^1 to /);
      // The day of the newest call is not over.
      expect(await page.locator('#days .column').last().getAttribute('data-name')).toMatch(
        / \(until \d\d:\d\d\)$/,
      );
    } finally {
      // The page is closed before its server, because it requests new calls as long as it is open.
      await leave();
      await live.close();
    }
  });

  test('it has input fields for the keys of a mirror, shows none, and repeats what the service says', async () => {
    const store = await openStore('sqlite::memory:');
    const account = {
      id: '7',
      name: 'Own',
      accessKey: 'own-access',
      secretKey: 'own-secret',
      bearerToken: 'own-bearer',
    };
    const service = createService({ store, accounts: [account], clock, page: { assets } });
    const { url } = await service.listen();
    try {
      await store.upsert('7', calls.slice(0, 60));
      const page = await open(url);
      expect(await page.content()).not.toContain('own-');
      expect(await page.locator('#app').isVisible()).toBe(false);
      await page.getByLabel('Access key').fill('own-access');
      await page.getByLabel('Secret key').fill('wrong');
      await page.getByLabel('Secret key').press('Enter');
      await page.getByText('These credentials do not belong to an account').waitFor();
      expect(errors.splice(0).filter((error) => !error.includes('401'))).toEqual([]);
      await page.getByLabel('Secret key').fill('own-secret');
      await page.getByRole('button', { name: 'Show calls' }).click();
      const own = calls.slice(0, 60).filter((call) => call.channel === 'Tracker').length;
      await until(page, `1 to 25 of ${own}`);
      await openDevelopers(page);
      expect(await page.locator('#shell').textContent()).not.toContain('own-');
      expect(page.url()).not.toContain('own-');
    } finally {
      await leave();
      await service.close();
      await store.close();
    }
  });
});
