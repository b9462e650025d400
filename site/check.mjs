// Builds the site and looks at it as a reader would: every link and anchor leads somewhere, the
// playground works, and pages are readable on a phone, with enough contrast. The browser is that of the drills; without
// one on a developer's machine only the links are checked.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { root } from '../scripts/workspace.mjs';
import './build.mjs';

const browserPlaces = [
  process.env.CALLS_TEST_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

const tools = createRequire(join(root, 'packages/test-tools/package.json'));
const out = join(import.meta.dirname, 'dist');
/** @type {string[]} */
const problems = [];

// 1. Links and anchors, which are different on a page.
const files = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.html'),
);
const ids = new Map(
  files.map((file) => {
    const html = readFileSync(join(out, file), 'utf8');
    const all = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    const twice = all.filter((id, i) => all.indexOf(id) !== i);
    if (twice.length > 0) problems.push(`${file}: ids that stand twice: ${twice.join(', ')}`);
    return [`/${file}`, new Set(all)];
  }),
);
let links = 0;
for (const file of files) {
  const html = readFileSync(join(out, file), 'utf8');
  for (const [, raw = ''] of html.matchAll(/\s(?:href|src)="([^"]+)"/g)) {
    const { origin, pathname, hash } = new URL(raw.replaceAll('&amp;', '&'), `http://site/${file}`);
    if (origin !== 'http://site') continue;
    links += 1;
    const path = decodeURIComponent(pathname);
    let target = extname(path) === '' ? `${path}.html` : path;
    if (path.endsWith('/')) target = `${path}index.html`;
    if (!existsSync(join(out, target))) problems.push(`${file}: ${raw} leads to no page`);
    else if (hash.length > 1 && !ids.get(target)?.has(decodeURIComponent(hash.slice(1))))
      problems.push(`${file}: ${raw} leads to no heading`);
  }
}
for (const [, path = ''] of readFileSync(join(out, 'llms.txt'), 'utf8').matchAll(
  /\]\((\/[^)]+)\)/g,
))
  if (!existsSync(join(out, path))) problems.push(`llms.txt: ${path} is missing`);

// 2. In a browser.
const browser = await launchChromium();
if (browser !== null) await look(browser);
else if (process.env.CI)
  problems.push(
    'no Chromium (CALLS_TEST_CHROMIUM, /usr/bin/chromium): the site was not seen in a browser',
  );
else console.error('no Chromium: the site is not looked at in a browser');

/**
 * Starts the browser that the drills use, or gives null where there is none.
 * @returns {Promise<any>}
 */
async function launchChromium() {
  const executablePath = browserPlaces.find((path) => path && existsSync(path));
  if (executablePath === undefined) return null;
  const { chromium } = tools('playwright-core');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

/** @param {any} browser */
async function look(browser) {
  const types = {
    '.html': 'text/html',
    '.js': 'text/javascript',
    '.css': 'text/css',
    '.json': 'application/json',
  };
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://site').pathname);
    const file = join(out, path.endsWith('/') ? `${path}index.html` : path);
    if (!existsSync(file)) return response.writeHead(404).end();
    const type =
      types[/** @type {keyof typeof types} */ (extname(file))] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type }).end(readFileSync(file));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  const site = `http://127.0.0.1:${address.port}`;
  try {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    page.on('pageerror', (/** @type {Error} */ error) =>
      problems.push(`an error in the page: ${error.message}`),
    );
    page.on('request', (/** @type {{ url(): string }} */ request) => {
      if (!request.url().startsWith(site))
        problems.push(`a request to elsewhere: ${request.url()}`);
    });
    const guides = files.filter((file) => /^(?:guides|packages|docs)\//.test(file));
    for (const file of ['index.html', 'playground.html', 'reference/core.html', ...guides]) {
      await page.goto(`${site}/${file}`);
      const { scroll, width } = await page.evaluate(() => ({
        scroll: document.documentElement.scrollWidth,
        width: document.documentElement.clientWidth,
      }));
      if (scroll > width) problems.push(`${file} is ${scroll} px wide on a screen of ${width} px`);
    }
    for (const colorScheme of ['light', 'dark'])
      for (const file of ['index.html', 'guides/first-call-to-csv.html', 'packages/core.html']) {
        await page.emulateMedia({ colorScheme });
        await page.goto(`${site}/${file}`);
        await page.addScriptTag({ path: tools.resolve('axe-core') });
        const { violations } = await page.evaluate("axe.run({ runOnly: ['color-contrast'] })");
        for (const { id, nodes } of violations)
          problems.push(`${file}, ${colorScheme}: ${id}: ${nodes[0]?.html.slice(0, 200)}`);
      }
    await page.goto(`${site}/playground.html`);
    const verdict = page.locator('#verdict');
    await page.locator('#filter').fill('talk_minuts:[2 TO *]');
    await verdict.getByText('has a problem').waitFor();
    await page.getByRole('button', { name: 'Use it' }).click();
    await verdict.getByText('is valid').waitFor();
    const corrected = await page.locator('#filter').inputValue();
    if (corrected !== 'talk_minutes:[2 TO *]')
      problems.push(`the playground corrected the filter to ${corrected}`);
    const marks = await page.locator('.playground tbody td:last-child').allTextContents();
    if (marks.join() !== 'yes,no,no,yes')
      problems.push(`the playground says that calls match: ${marks.join()}`);
  } finally {
    await browser.close();
    server.close();
  }
}

for (const problem of problems) console.error(problem);
console.log(`${files.length} pages, ${links} links, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
