// How long the documentation is: the words of all Markdown pages that people write, without code blocks and the bars of tables.
// Generated pages say so in a comment at their top and do not count; neither do the reports in api, the changesets, and the
// skills of the MCP server, which are part of a program. A test keeps the sum below the limit.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdownFiles, withoutBlocks } from './markdown.mjs';
import { root } from './workspace.mjs';

/** What the written pages may have together. */
export const mostWords = 45_000;

/** @param {string} text the text of a page */
export const isGenerated = (text) => /<!-- (Made|Written) by /.test(text.slice(0, 300));

/** What has a letter or a digit, outside of code blocks. @param {string} text */
export const wordsIn = (text) =>
  withoutBlocks(text)
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** Every written page with its words, the longest first. @returns {[string, number][]} */
export const writtenPages = () =>
  markdownFiles()
    .filter((file) => !file.includes('/skills/'))
    .map((file) => /** @type {const} */ ([file, readFileSync(join(root, file), 'utf8')]))
    .filter(([, text]) => !isGenerated(text))
    .map(([file, text]) => /** @type {[string, number]} */ ([file, wordsIn(text)]))
    .sort(([, a], [, b]) => b - a);

if (process.argv[1] === import.meta.filename) {
  const pages = writtenPages();
  for (const [file, words] of pages) console.log(`${String(words).padStart(6)}  ${file}`);
  const total = pages.reduce((sum, [, words]) => sum + words, 0);
  console.log(`${total} words in ${pages.length} pages; at most ${mostWords}`);
  process.exitCode = total > mostWords ? 1 : 0;
}
