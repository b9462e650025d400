import { expect, test } from 'vitest';
import { sentences } from '../literals.mjs';

const hole = (/** @type {string} */ code) => `\${${code}}`;
const source = [
  "import { x } from './some file.ts';",
  "// A comment 'with a quoted sentence in it' and a `template of words`.",
  "const slash = /a 'b c d/.test(name) ? 1 / 2 : 3;",
  "throw new HttpError('bad_request', 'The server refused ' + \"the request.\", {",
  `  hint: \`Check ${hole('JSON.stringify(given.name)')} and ${hole("n > 1 ? 'its rows' : ''")}, it isn\\'t right.\`,`,
  '});',
  `switch (code) { case 'too_late': return \`It is ${hole('hours')} hours too late.\`; }`,
  "const sql = 'SELECT a FROM b WHERE c';",
].join('\n');

test('sentences are found with their code or key, joined, and with holes by name', () => {
  expect(sentences(source).map(({ line, label, text }) => `${line} ${label}: ${text}`)).toEqual([
    '4 bad_request: The server refused the request.',
    "5 hint: Check {name} and {its rows}, it isn't right.",
    '7 too_late: It is {hours} hours too late.',
  ]);
});

test('neither words alone nor style sheets are sentences', () => {
  expect(sentences("a('one'); b('two words'); c('body { margin: 0; } p { top: 1px; }');")).toEqual([]);
});
