import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createService } from '@call-attribution/service';
import { openStore } from '@call-attribution/store';
import { findChromium, launch } from '@call-attribution/test-tools';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { generate, type Sandbox, startSandbox } from '../../src/index.ts';
import { contrasts } from '../contrasts.ts';

const chromium = findChromium();
const data = { records: 1_500, seed: 3, days: 10, until: '2026-10-21 00:00:00' };
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
    const builder = new URL('page.build.mjs', import.meta.resolve('@call-attribution/service/package.json'));
    execFileSync(process.execPath, [fileURLToPath(builder), assets]);
    sandbox = await startSandbox({ ...data, service: { page: { assets } } });
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
    await page.waitForSelector('#days svg');
    return page;
  };
  const range = (page: Page) => page.locator('#calls-range');
  const filter = (page: Page) => page.getByRole('combobox', { name: 'Filter' });
  const until = (page: Page, text: string) =>
    page.locator('#calls-range', { hasText: new RegExp(`^${text}$`) }).waitFor();

  test('it shows accounts with their keys, the first calls and the exact total', async () => {
    const page = await loaded(await open());
    expect(await page.getByRole('radio', { name: /Harbor Dental/ }).isChecked()).toBe(true);
    expect(await page.getByText('test_access_101', { exact: true }).isVisible()).toBe(true);
    expect(await range(page).textContent()).toBe(`1 to 25 of ${grouped(tracked.length)}`);
    expect(await page.locator('#calls tbody tr').count()).toBe(25);
    expect(await page.locator('#calls tbody tr button').first().textContent()).toBe(tracked[0]?.date_added);
  });

  test('it goes to the last page and back', async () => {
    const page = await loaded(await open());
    const total = grouped(tracked.length);
    await page.getByRole('button', { name: 'Last' }).click();
    const first = Math.floor((tracked.length - 1) / 25) * 25 + 1;
    await until(page, `${grouped(first)} to ${total} of ${total}`);
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Previous' }).click();
    await until(page, `${grouped(first - 25)} to ${grouped(first - 1)} of ${total}`);
  });

  test('it points at a mistake in a filter while it is typed, and fixes it', async () => {
    const page = await loaded(await open());
    let requests = 0;
    const count = () => requests++;
    page.on('request', count);
    await filter(page).fill('talk_minutes:[2 to *]');
    const problem = page.locator('#problem');
    expect(await problem.locator('pre').textContent()).toBe('talk_minutes:[2 to *]\n                ^^');
    expect(await filter(page).getAttribute('aria-invalid')).toBe('true');
    expect(await problem.getAttribute('aria-live')).toBe('polite');
    await filter(page).press('Escape');
    await filter(page).press('Enter');
    expect(requests).toBe(0);
    page.off('request', count);
    await page.getByRole('button', { name: /Fix it/ }).click();
    expect(await filter(page).inputValue()).toBe('talk_minutes:[2 TO *]');
    expect(await filter(page).getAttribute('aria-invalid')).toBe('false');
    await filter(page).press('Enter');
    const long = tracked.filter((call) => Number(call.talk_minutes) >= 2).length;
    await until(page, `1 to 25 of ${grouped(long)}`);
  });

  test('it completes field, bracket and date, and selects the date format to be typed over', async () => {
    const page = await loaded(await open());
    await filter(page).focus();
    await page.keyboard.type('da');
    for (const shown of ['date_added:', 'date_added:[', 'date_added:[YYYY-MM-DD HH:MM:SS']) {
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      expect(await filter(page).inputValue()).toBe(shown);
    }
    await page.keyboard.type('2026-10-20 00:00:00');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await filter(page).inputValue()).toBe('date_added:[2026-10-20 00:00:00 TO ');
  });

  test('it can be used with the keyboard only: skip link, completion, results, record and back', async () => {
    const page = await loaded(await open());
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to the filter');
    await page.keyboard.press('Enter');
    for (let i = 0; i < 3 && (await page.evaluate('document.activeElement?.id')) !== 'q'; i++) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.type('inc');
    await page.keyboard.press('ArrowDown');
    expect(await filter(page).getAttribute('aria-activedescendant')).toBe('completion-0');
    expect(await page.getByRole('option', { selected: true }).count()).toBe(1);
    await page.keyboard.press('Enter');
    expect(await filter(page).inputValue()).toContain('inc_gce:1');
    await filter(page).fill('inc_gce:1');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await until(page, `1 to 25 of ${grouped(calls.length)}`);
    await page.locator('#calls tbody button').first().focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('#record dl');
    expect(await page.getByRole('dialog', { name: /^Call / }).isVisible()).toBe(true);
    expect(await page.locator('#record dt').count()).toBe(73);
    await page.keyboard.press('Escape');
    expect(await page.evaluate("document.activeElement?.closest('#calls') !== null")).toBe(true);
  });

  test('it searches v2 with the bearer token, and keeps the search in the address without keys', async () => {
    const page = await loaded(await open());
    await page.getByRole('radio', { name: 'v2' }).check({ force: true });
    await until(page, `1 to 25 of ${grouped(calls.length)}`);
    await filter(page).fill('talk_minutes:[10 TO *]');
    await filter(page).press('Escape');
    await filter(page).press('Enter');
    const long = calls.filter((call) => Number(call.talk_minutes) >= 10).length;
    await until(page, `1 to 25 of ${grouped(long)}`);
    const address = page.url();
    expect(address).toContain('#q=talk_minutes');
    expect(address).not.toContain('test_');
    const again = await loaded(await open(address));
    expect(await range(again).textContent()).toBe(`1 to 25 of ${grouped(long)}`);
  });

  test('it draws the calls of each day, also in words and as a table', async () => {
    const page = await loaded(
      await open(
        `${sandbox.url}/#q=${encodeURIComponent('date_added:[2026-10-12 00:00:00 TO 2026-10-19 00:00:00}')}`,
      ),
    );
    await expect.poll(() => page.locator('#days rect').count()).toBe(7);
    await page.getByText('As a table').click();
    const shown = await page
      .locator('#days tbody tr')
      .evaluateAll((rows) => rows.map((row) => row.textContent));
    const expected = Array.from({ length: 7 }, (_, i) => {
      const day = `2026-10-${12 + i}`;
      return { day, count: tracked.filter((call) => call.date_added.startsWith(day)).length };
    });
    expect(shown).toEqual(expected.map(({ day, count }) => `${day}${count}`));
    const sum = expected.reduce((all, { count }) => all + count, 0);
    expect(await page.getByRole('img').getAttribute('aria-label')).toContain(
      `${sum} calls from 2026-10-12 to 2026-10-18`,
    );
  });

  test('it shows what visitors wrote as text, never as markup', async () => {
    const odd = tracked.find((call) => `${call.search_term}${call.custom_value}`.includes('<img'));
    if (!odd) throw new Error('the seed has no call with markup in it');
    const day = odd.date_added;
    const page = await loaded(
      await open(`${sandbox.url}/#q=${encodeURIComponent(`date_added:[${day} TO ${day}]`)}`),
    );
    await page.locator('#calls tbody button').first().click();
    await page.waitForSelector('#record dl');
    expect(
      await page.locator('#record dd', { hasText: '<img src=x onerror=alert(1)>' }).count(),
    ).toBeGreaterThan(0);
    expect(await page.locator('#record img').count()).toBe(0);
  });

  test('it is readable in light and dark, wide and narrow: enough contrast, nothing beyond the edge', async () => {
    const page = await loaded(await open());
    await page.getByRole('button', { name: 'With a typo' }).click();
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1280, 360]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        const weak = (await page.evaluate(contrasts)).filter(({ ratio }) => ratio < 4.5);
        expect([colorScheme, width, weak]).toEqual([colorScheme, width, []]);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(
          0,
        );
      }
    }
    await page.emulateMedia({ colorScheme: null });
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  test('every control has a name, and the headings form an outline', async () => {
    const page = await loaded(await open());
    for (const role of ['button', 'radio', 'combobox', 'link', 'region', 'img', 'table'] as const) {
      const all = await page.getByRole(role).count();
      expect([role, await page.getByRole(role, { name: /\S/ }).count()]).toEqual([
        role,
        role === 'table' ? 0 : all,
      ]);
      expect(all).toBeGreaterThan(0);
    }
    expect(await page.getByRole('heading').allTextContents()).toEqual([
      'Call Attribution Service',
      'Account',
      'Search',
      'Calls per day',
      'Calls',
    ]);
  });

  test('it follows the new calls of a live sandbox when the button is pressed', async () => {
    const live = await startSandbox({
      records: 20,
      days: 2,
      live: { speed: 1_200, tick: 50 },
      service: { page: { assets } },
    });
    try {
      const page = await loaded(await open(live.url));
      const total = async () =>
        Number(/of ([\d,]+)/.exec((await range(page).textContent()) ?? '')?.[1]?.replace(',', ''));
      const before = await total();
      const follow = page.getByRole('button', { name: 'Follow new calls' });
      await follow.click();
      expect(await follow.getAttribute('aria-pressed')).toBe('true');
      await expect.poll(total, { timeout: 20_000 }).toBeGreaterThan(before + 50);
      expect(await range(page).textContent()).not.toMatch(/^1 to /);
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
    const service = createService({ store, accounts: [account], page: { assets } });
    const { url } = await service.listen();
    try {
      await store.load('7', calls.slice(0, 60));
      const page = await open(url);
      expect(await page.content()).not.toContain('own-');
      await page.getByLabel('Access key').fill('own-access');
      await page.getByLabel('Secret key').fill('wrong');
      await page.getByLabel('Secret key').press('Tab');
      await page.getByText('These credentials do not belong to an account').waitFor();
      expect(errors.splice(0).filter((error) => !error.includes('401'))).toEqual([]);
      await page.getByLabel('Secret key').fill('own-secret');
      await page.getByLabel('Secret key').press('Tab');
      const own = calls.slice(0, 60).filter((call) => call.channel === 'Tracker').length;
      await until(page, `1 to 25 of ${own}`);
      await page.getByText('The same request from a shell').click();
      expect(await page.locator('#shell').textContent()).not.toContain('own-secret');
    } finally {
      await service.close();
      await store.close();
    }
  });
});
