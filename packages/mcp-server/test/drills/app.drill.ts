import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findChromium, launch } from '@call-attribution/test-tools';
import { axeViolations } from '@call-attribution/test-tools/axe';
import { builtFile } from '@call-attribution/test-tools/bundle';
import { openDrill } from '@call-attribution/test-tools/drill';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeClient } from '../support/fake-client.ts';
import { request } from '../support/handlers.ts';
import { craftedCalls, leaksOf, people } from '../support/red-team.ts';

const app = openDrill({
  name: 'app',
  kind: 'hostile clients',
  what: 'A host of MCP Apps shows answers in a browser, light and dark; nothing is loaded, no personal data is seen',
});

const host = join(import.meta.dirname, '../host');
const chromium = findChromium();

type Browser = Awaited<ReturnType<typeof launch>>;
type Page = Awaited<ReturnType<Browser['newPage']>>;
type Frame = ReturnType<Page['mainFrame']>;

let browser: Browser;
let page: Page;
const requested: string[] = [];

const calls = craftedCalls.map((call, i) => ({
  ...call,
  date_added: `2026-11-${String(1 + (i % 20)).padStart(2, '0')} 10:00:00`,
  ppc_campaign: ['Brand', 'Generic', '<img src=x onerror=alert(1)>'][i % 3] ?? null,
}));

// As it is installed: the built page lies next to the program.
const program = await builtFile(new URL('../../src/index.ts', import.meta.url).href);
execFileSync(process.execPath, [
  join(import.meta.dirname, '../../page.build.mjs'),
  dirname(program),
]);
const { callTool, createServer }: typeof import('../../src/index.ts') = await import(program);
const server = createServer(fakeClient(calls), { budget: 50_000 });

/** Shows the answer of a tool in a host, as hosts do: from the page that the tool names. */
async function show(args: Record<string, unknown>, theme: 'light' | 'dark'): Promise<Frame> {
  const { tools } = (await request(server, 'tools/list')) as {
    tools: { name: string; _meta?: { ui: { resourceUri: string } } }[];
  };
  const uri = tools.find(({ name }) => name === 'analyze_calls')?._meta?.ui.resourceUri;
  const { contents } = (await request(server, 'resources/read', { uri })) as {
    contents: { text: string; mimeType: string }[];
  };
  expect(contents[0]?.mimeType).toBe('text/html;profile=mcp-app');
  const result = await callTool(server, 'analyze_calls', args);
  const shown = { html: contents[0]?.text ?? '', theme, args, result };
  await page.evaluate(
    (each) => (globalThis as unknown as { show(shown: object): Promise<void> }).show(each),
    shown,
  );
  const frame = page.frames().at(-1) as Frame;
  await frame.waitForSelector(result.isError ? '.summary' : 'td');
  return frame;
}

describe.skipIf(chromium === null)('the app in a host of MCP Apps', () => {
  beforeAll(async () => {
    if (!existsSync(join(host, 'node_modules'))) {
      const flags = [
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
        '--no-package-lock',
        '--legacy-peer-deps',
        '--silent',
      ];
      execFileSync('npm', ['install', ...flags], {
        cwd: host,
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    }

    const { outputFiles } = await build({
      entryPoints: [join(host, 'host.mjs')],
      bundle: true,
      write: false,
      format: 'iife',
      logLevel: 'error',
    });
    browser = await launch(chromium as string);
    page = await browser.newPage();
    page.on('request', (each) => requested.push(each.url()));
    await page.goto('about:blank');
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '' });
  }, 240_000);

  afterAll(() => browser?.close());

  it('draws a bar for each day, marks what is not whole, and reports its height', () =>
    app.run(async () => {
      const part = await show(
        { group_by: ['day'], from: '2026-11-01 06:00:00', to: '2026-11-20' },
        'light',
      );
      expect(await part.locator('.part .bar').count()).toBeGreaterThan(0);
      expect(await part.locator('tbody td').first().textContent()).toBe(
        '2026-11-01 (18 of 24 hours)',
      );
      const frame = await show({ group_by: ['day'] }, 'light');
      expect(await frame.locator('rect.bar').count()).toBe(20);
      expect(await frame.locator('polyline').count()).toBe(0);
      expect(await frame.locator('tbody tr').count()).toBe(20);
      await expect
        .poll(() =>
          page.evaluate(() => (globalThis as unknown as { heights: number[] }).heights.length),
        )
        .toBeGreaterThan(0);
    }));

  it('draws bars otherwise, and shows text as text', () =>
    app.run(async () => {
      const frame = await show({ group_by: ['ppc_campaign'] }, 'light');
      expect(await frame.locator('rect.bar').count()).toBe(3);
      expect(await frame.locator('tbody').textContent()).toContain('<img src=x onerror=alert(1)>');
      expect(await frame.locator('img').count()).toBe(0);
    }));

  it('is light and dark as its host is', () =>
    app.run(async () => {
      const ground = (frame: Frame) =>
        frame.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(await ground(await show({ group_by: ['ppc_campaign'] }, 'light'))).toBe(
        'rgb(255, 255, 255)',
      );
      const dark = await show({ group_by: ['ppc_campaign'] }, 'dark');
      expect(await ground(dark)).toBe('rgb(28, 28, 30)');
      await page.evaluate(() =>
        (
          globalThis as unknown as { bridge: { setHostContext(context: object): void } }
        ).bridge.setHostContext({ theme: 'light' }),
      );
      await expect.poll(() => ground(dark)).toBe('rgb(255, 255, 255)');
    }));

  it('draws lines where values do not add up, for the chosen measure, and axe finds nothing in light and dark', () =>
    app.run(async () => {
      const args = {
        group_by: ['day', 'ppc_campaign'],
        measures: ['calls', 'missed_rate'],
        limit: 200,
      };
      for (const theme of ['light', 'dark'] as const) {
        const frame = await show(args, theme);
        expect(await frame.locator('polyline').count()).toBe(0);
        expect(await axeViolations(frame)).toEqual([]);
        await frame.getByLabel('Chart of').selectOption('Missed rate');
        expect(await frame.locator('polyline').count()).toBe(3);
      }
    }));

  it('says what failed, loads nothing, and shows nobody', () =>
    app.run(async () => {
      const failed = await show({ group_by: ['no_such_field'] }, 'dark');
      expect(await failed.locator('.summary').textContent()).toContain('There is no');
      for (const field of ['search_term', 'ani', 'last_name', 'first_touch']) {
        const frame = await show({ group_by: [field], limit: 200 }, 'light');
        const text = ((await frame.locator('body').textContent()) ?? '').replaceAll(
          '8005550100',
          '',
        );
        expect(
          people.flatMap((who) => leaksOf(text, { ...who, zip: 'no zip code' })),
          field,
        ).toEqual([]);
      }

      expect(requested.filter((url) => !/^(?:about|data|blob):/.test(url))).toEqual([]);
    }));
});
