// Takes the pictures of docs/screens from the built program over made-up calls: the web page and the report, in light and dark
// and on a phone, and the app that hosts of assistants show. A picture is at most 100 kB. It needs a Chromium, as the drills of the page do.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launchChromium } from './chromium.mjs';
import { startSandboxProcess } from './sandbox.mjs';
import { root } from './workspace.mjs';

const bin = join(root, 'packages/cli/dist/bin.js');
const folder = join(root, 'docs/screens');
const work = mkdtempSync(join(tmpdir(), 'pictures-'));
const plain = { PATH: process.env.PATH ?? '', HOME: work, NO_COLOR: '1' };
const mostBytes = 100_000;

// The made-up calls are the same on every day.
const until = '2026-11-01 00:00:00';

const looks = {
  light: { viewport: { width: 1180, height: 820 }, colorScheme: 'light' },
  dark: { viewport: { width: 1180, height: 820 }, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
};

/** The page of the app and an answer of the MCP server over the calls. @param {Record<string, string>} env */
async function answerOfApp(env) {
  /** @param {string} name */
  const built = (name) => import(pathToFileURL(join(root, `packages/${name}/dist/index.js`)).href);
  const [{ apiKeys, createClient }, { callTool, createServer }] = [
    await built('core'),
    await built('mcp-server'),
  ];
  const auth = apiKeys(env.CALLS_ACCESS_KEY, env.CALLS_SECRET_KEY);
  const client = createClient({ baseUrl: env.CALLS_BASE_URL, auth });
  const server = createServer(client);
  const context = { signal: new AbortController().signal, notify: () => undefined, clientCapabilities: {} };
  const resource = { uri: 'ui://calls/answer' };
  const { contents } = await server.definition.handlers['resources/read'](resource, context);
  const question = {
    group_by: ['ppc_campaign'],
    measures: ['calls', 'missed_rate', 'talk_mean'],
    calls: 'all',
  };
  const result = await callTool(server, 'analyze_calls', question);
  await client.close();
  return { html: contents[0].text, result };
}

/** Shows the app as a host does; a script for the browser. @param {{ html: string, result: object, theme: string }} shown */
const hostApp = (shown) => `{
  const { html, result, theme } = ${JSON.stringify(shown)};
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.style.cssText = 'position: fixed; inset: 0; width: 100%; height: 100%; border: 0';
  const send = (message) => frame.contentWindow.postMessage({ jsonrpc: '2.0', ...message }, '*');
  addEventListener('message', ({ data: { id, method } }) => {
    if (method === 'ui/initialize') send({ id, result: { hostContext: { theme } } });
    if (method === 'ui/notifications/initialized') send({ method: 'ui/notifications/tool-result', params: result });
  });
  document.body.append(frame);
  frame.srcdoc = html;
}`;

const browser = await launchChromium();
if (browser === null) throw new Error('There is no Chromium; name one in CALLS_TEST_CHROMIUM.');
const { env, ready, stop } = await startSandboxProcess(['--records', '5000', '--until', until]);
try {
  const report = join(work, 'report.html');
  const args = [
    'report',
    '--by',
    'campaign,week',
    '--html',
    '--output',
    report,
    '--title',
    'Calls by campaign',
  ];
  execFileSync(process.execPath, [bin, ...args], { env: { ...plain, ...env }, stdio: 'ignore' });
  const places = {
    page: { url: ready.url, ready: '#days svg' },
    report: { url: pathToFileURL(report).href, ready: 'svg' },
  };
  mkdirSync(folder, { recursive: true });
  /** @param {string} file @param {{ screenshot(): Promise<Buffer>, close(): Promise<void> }} page */
  const take = async (file, page) => {
    const picture = await page.screenshot();
    await page.close();
    if (picture.length > mostBytes)
      throw new Error(`${file} has ${picture.length} bytes; at most ${mostBytes}`);
    writeFileSync(join(folder, file), picture);
    console.log(`docs/screens/${file}: ${Math.round(picture.length / 1000)} kB`);
  };
  for (const [name, place] of Object.entries(places)) {
    for (const [look, options] of Object.entries(looks)) {
      const page = await browser.newPage(options);
      await page.goto(place.url);
      await page.waitForSelector(place.ready, { state: 'attached' });
      // A line that says that something is loading fades.
      await page.waitForTimeout(600);
      await take(`${name}-${look}.png`, page);
    }
  }
  const answer = await answerOfApp(env);
  for (const [look, options] of Object.entries(looks)) {
    const { width } = options.viewport;
    const page = await browser.newPage({
      ...options,
      viewport: { width: Math.min(width, 760), height: 420 },
    });
    await page.evaluate(hostApp({ ...answer, theme: options.colorScheme }));
    await page.frameLocator('iframe').locator('td').first().waitFor();
    await take(`app-${look}.png`, page);
  }
} finally {
  await browser.close();
  await stop();
  rmSync(work, { recursive: true, force: true });
}
