// Words that nobody outside this repository would use, or not in that sense. They once made messages and comments hard to
// read; this check keeps them out of sources, documentation and test titles. `--count` only prints how many there are.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.mjs';

/** @typedef {{ readonly word: RegExp, readonly instead: string }} Rule */

/** What not to write, and what to write instead. @type {readonly Rule[]} */
export const rules = [
  { word: /\ba text\b(?! (?:editor|file|field|box|input|column|index|mark))/i, instead: 'a string' },
  { word: /\btexts\b/i, instead: 'strings, files, documents' },
  {
    word: /(?<!\b(?:no|much|enough|more|less|disk|the|leaves?) )\brooms?\b(?! (?:for|to|left|in)\b)/i,
    instead: 'package; space',
  },
  { word: /\bmend(?:s|ed|ing)?\b/i, instead: 'fix' },
  { word: /\b(?:anew|afresh)\b/i, instead: 'again' },
  { word: /\btold\b(?! (?:apart|from))/i, instead: 'reported, said' },
  { word: /\bbeside\b/i, instead: 'next to; besides' },
  { word: /\bblanks?\b(?! (?:line|page|screen))/i, instead: 'space; empty' },
  { word: /\bbehind\b(?! (?:a|an|the|our|its|your|one|this|that)\b)/i, instead: 'after' },
  {
    word: /(?<!\bthere )\b(?:is|are|was|were) no (?!(?:longer|more|less|fewer|larger|greater|smaller|later|earlier|higher|lower|better|worse|one)\b)[a-z]+/i,
    instead: 'is not a',
  },
  { word: /(?<!\bthere )\b(?:is|are|was|be) none\b/i, instead: 'is not one; does not exist' },
  { word: /\bhand(?:s|ed|ing)? out\b/i, instead: 'return, send' },
  { word: /\b(?:comes?|came|coming) out as\b/i, instead: 'becomes, is written as' },
  { word: /\bwithout a word\b/i, instead: 'silently' },
  { word: /\bat rest\b/i, instead: 'final; no longer changing' },
  { word: /\b(?:gone|goes|going|go|went) on (?:with|where|from|by)\b/i, instead: 'resume, continue' },
  { word: /\bstands? (?:in|at|on|where|there|beside|before|after|alone|right)\b/i, instead: 'is' },
  { word: /\ba number of numbers\b/i, instead: 'a count' },
  { word: /\/\*\* Options (?:of|for) [^.]*\. \*\//, instead: 'say why, or leave the comment out' },
  { word: /\b(?:const|let|var|function) (?:asked|told|mend\w*|among|listed)\b/, instead: 'a usual name' },
  { word: /\bone's own\b/i, instead: 'your own, its own' },
  { word: /\bas is meant\b|\bwhich is meant\b/i, instead: 'on purpose' },
];

/** Where a word is allowed after all, with the reason. @type {readonly { file: RegExp, word: RegExp, why: string }[]} */
const allowed = [{ file: /^scripts\/(?:words\.mjs|test\/words)/, word: /./, why: 'the list itself' }];

const titles = /\b(?:test|it|describe)(?:\.\w+)*(?:\([^'"`]*?\))?\(\s*(['"`])((?:(?!\1).)*)\1/g;

/**
 * The lines of a file that are to be read: all of them, but in tests only titles and comments, since their data may be odd on
 * purpose.
 * @param {string} file @param {string} text @returns {{ line: number, text: string }[]}
 */
function linesToRead(file, text) {
  const lines = text.split('\n').map((line, index) => ({ line: index + 1, text: line }));
  if (!/\/test\/.*\.[cm]?[jt]s$/.test(file)) return lines;
  const found = lines.filter((line) => /^\s*(?:\/\/|\*|\/\*)/.test(line.text));
  for (const match of text.matchAll(titles))
    found.push({ line: text.slice(0, match.index).split('\n').length, text: match[2] ?? '' });
  return found;
}

/** Each private word in a file as one finding. @param {string} file @param {string} text */
export function privateWords(file, text) {
  return linesToRead(file, text).flatMap(({ line, text }) =>
    rules.flatMap(({ word, instead }) => {
      const found = word.exec(text)?.[0];
      if (found === undefined) return [];
      if (allowed.some((entry) => entry.file.test(file) && entry.word.test(found))) return [];
      return [{ file, line, found, instead }];
    }),
  );
}

/** Every file that people read: sources, tests, scripts and documentation, without what is generated. */
const files = () =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => /\.(?:[cm]?[jt]sx?|md|html|css|ya?ml)$/.test(file) || file.startsWith('.ci/'))
    .filter(
      (file) =>
        !/\/generated\/|\/fixtures\/|\/golden\/|\.api\.md$|^docs\/messages\.md$|^pnpm-lock/.test(file),
    )
    .filter((file) => existsSync(join(root, file)));

if (process.argv[1] === import.meta.filename) {
  const findings = files().flatMap((file) => privateWords(file, readFileSync(join(root, file), 'utf8')));
  if (process.argv.includes('--count')) {
    /** @type {Record<string, number>} */
    const counts = {};
    for (const { file } of findings) {
      const place = file
        .split('/')
        .slice(0, file.startsWith('packages/') ? 3 : 1)
        .join('/');
      counts[place] = (counts[place] ?? 0) + 1;
    }
    for (const [place, count] of Object.entries(counts)) console.log(`${String(count).padStart(5)} ${place}`);
  } else {
    for (const { file, line, found, instead } of findings)
      console.error(`${file}:${line}: "${found}" (write: ${instead})`);
    process.exitCode = findings.length > 0 ? 1 : 0;
  }
  console.log(`${findings.length} private words`);
}
