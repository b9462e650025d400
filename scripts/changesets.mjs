// Each changeset names packages that exist and a kind of release, and says something. (The status command of changesets
// itself needs a base branch to compare with, which a fresh clone may not have.)
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packages, root } from './workspace.mjs';

const known = new Set(packages.map(({ manifest }) => manifest.name));

/** The lines of its head, the packages they name, and the text for users; null without a head. @param {string} text */
export function changesetParts(text) {
  const match = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text);
  if (!match) return null;
  const lines = (match[1] ?? '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', kind = ''] = /^["']?([^"':]+)["']?:\s*(\w+)$/.exec(line) ?? [];
      return { line, name, kind };
    });
  return { lines, names: lines.map(({ name }) => name), body: match[2] ?? '' };
}

/** @param {string} file @param {string} text @returns {string[]} */
export function changesetProblems(file, text) {
  const parts = changesetParts(text);
  if (parts === null) return [`${file}: expected a head between two lines of ---`];
  return [
    ...parts.lines.flatMap(({ line, name, kind }) => {
      if (!known.has(name)) return [`${file}: "${line}" does not name a package of this repository`];
      return ['patch', 'minor', 'major'].includes(kind)
        ? []
        : [`${file}: "${line}" must say patch, minor or major`];
    }),
    ...(parts.lines.length === 0 ? [`${file}: names no package`] : []),
    ...(parts.body.trim().length < 20 ? [`${file}: says nothing that a user can read`] : []),
  ];
}

if (process.argv[1] === import.meta.filename) {
  const dir = join(root, '.changeset');
  const files = readdirSync(dir).filter((name) => name.endsWith('.md') && name !== 'README.md');
  const problems = files.flatMap((file) => changesetProblems(file, readFileSync(join(dir, file), 'utf8')));
  for (const problem of problems) console.error(problem);
  console.log(`${files.length} changesets, ${problems.length} problems`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
