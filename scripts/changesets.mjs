// Each changeset names packages that exist, a kind of release, and says something. (changesets' own status needs a base branch
// to compare with, which a fresh clone may not have.)
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packages, root } from './workspace.mjs';

const known = new Set(packages.map(({ manifest }) => manifest.name));

/** @param {string} file @param {string} text @returns {string[]} */
export function changesetProblems(file, text) {
  const match = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text);
  if (!match) return [`${file}: expected a head between two lines of ---`];
  const [, head = '', body = ''] = match;
  const lines = head.split('\n').filter((line) => line.trim() !== '');
  return [
    ...lines.flatMap((line) => {
      const [, name, kind] = /^["']?([^"':]+)["']?:\s*(\w+)$/.exec(line) ?? [];
      if (!name || !known.has(name)) return [`${file}: "${line}" names no package of ours`];
      return ['patch', 'minor', 'major'].includes(kind ?? '')
        ? []
        : [`${file}: "${line}" is no kind of release`];
    }),
    ...(lines.length === 0 ? [`${file}: names no package`] : []),
    ...(body.trim().length < 20 ? [`${file}: says nothing a user can read`] : []),
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
