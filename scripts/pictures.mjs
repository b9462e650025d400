// The pictures in docs/screens: the page of a service and a report, in light, dark and on a phone.
// Each says in its file of which structure it was taken: elements, words and styles, without what
// depends on fonts. So a check can tell whether it is of today's page.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { crc32 } from 'node:zlib';
import { importSource } from './sources.mjs';
import { root } from './workspace.mjs';

const looks = /** @type {const} */ ({
  light: { colorScheme: 'light', width: 1180, height: 820 },
  dark: { colorScheme: 'dark', width: 1180, height: 820 },
  phone: { colorScheme: 'light', width: 390, height: 844 },
});

/** What the page shows in its picture, beside calls. */
export const setup = {
  timeZone: 'UTC',
  definitions: { lead: 'talk_minutes >= 2', new_lead: "lead AND caller_type = 'first'" },
  reports: { weekly: { title: 'Leads by campaign', by: 'campaign', period: 'last week' } },
  annotations: [{ date: '2026-10-19', text: 'new landing page' }],
};

// Runs in the browser. A chart is as wide as its place, so numbers of its geometry are left out.
const outline = `(() => {
  const drawn = (each) => [each.localName, each.getAttribute('class')];
  const named = (each) => [...each.attributes].map(({ name, value }) => name + '=' + value);
  const lines = [...document.body.querySelectorAll('*')].map((each) =>
    (each.closest('svg') ? drawn(each) : [each.localName, ...named(each).filter((one) => !/^(style|href|title)=/.test(one))]).join(' ') +
    [...each.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data.trim()).join(' '),
  );
  const styles = [...document.querySelectorAll('style')].map(({ textContent }) => textContent);
  // The day on which a report was written, and the port of a server, are others each time.
  const changing = /\\d+ \\w{3} \\d{4} \\d\\d:\\d\\d|127.0.0.1:\\d+/g;
  return [...styles, ...lines].join('\\n').replace(changing, '');
})()`;

const key = 'structure\0';

/** A picture with a note of its structure: a chunk of text before its last chunk. @param {Buffer} png @param {string} digest */
function withNote(png, digest) {
  const data = Buffer.from(`tEXt${key}${digest}`, 'latin1');
  const chunk = Buffer.alloc(data.length + 8);
  chunk.writeUInt32BE(data.length - 4, 0);
  data.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(data), data.length + 4);
  return Buffer.concat([png.subarray(0, -12), chunk, png.subarray(-12)]);
}

/**
 * Takes the pictures that are not of today's page, or only names them.
 * @param {{ page: string, report: string, isCheck: boolean }} of an address, and a file
 * @returns {Promise<string[]>} the files
 */
export async function oldPictures({ page: address, report, isCheck }) {
  const { findChromium, launch } =
    /** @type {typeof import('../packages/test-tools/src/chromium.ts')} */ (
      await importSource(join(root, 'packages/test-tools/src/chromium.ts'))
    );
  const chromium = findChromium();
  if (chromium === null) return [];
  const css = await (await fetch(new URL('page/style.css', address))).text();
  const browser = await launch(chromium);
  const old = [];
  try {
    const page = await browser.newPage();
    for (const [name, url] of [
      ['page', `${address}/#period=2026-10`],
      ['report', pathToFileURL(report).href],
    ])
      for (const [look, { colorScheme, ...viewport }] of Object.entries(looks)) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        await page.goto('about:blank');
        await page.goto(String(url));
        if (name === 'page') {
          await page.waitForSelector('#results[aria-busy="false"] #days svg');
          await page.waitForSelector('#menu a');
        }

        const text = `${name === 'page' ? css : ''}${await page.evaluate(outline)}`;
        const digest = createHash('sha256').update(text).digest('hex').slice(0, 24);
        const file = `docs/screens/${name}-${look}.png`;
        const path = join(root, file);
        if (existsSync(path) && readFileSync(path, 'latin1').includes(key + digest)) continue;
        old.push(file);
        if (!isCheck) writeFileSync(path, withNote(await page.screenshot(), digest));
      }
  } finally {
    await browser.close();
  }

  return old;
}
