// Folders inside a package point one way. `scripts/layers.mjs` proves it between packages; this finds the folders of a
// package that reach each other through imports, types included. A file directly in `src` counts as a folder of its own;
// a folder named `generated` counts as part of the one around it, since a script writes it for its neighbours.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { packages } from './workspace.mjs';

const specifier = /\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g;

/** @typedef {{ readonly from: string, readonly to: string }} Import */

/** The imports between the files of one source folder. @param {string} folder @returns {Import[]} */
export function importsBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.[cm]?[jt]sx?$/.test(file))
    .flatMap((from) =>
      [...readFileSync(join(folder, from), 'utf8').matchAll(specifier)].map(([, to = '']) => ({
        from,
        to: normalize(join(dirname(from), to)),
      })),
    );
}

/** @param {string} file */
const folderOf = (file) => {
  const folder = dirname(file).replace(/\/generated$/, '');
  return folder === '.' ? file : folder;
};

/**
 * Each ring of folders, as lines: the folders, then one import for each way round.
 * @param {string} name @param {readonly Import[]} imports
 */
export function folderRings(name, imports) {
  /** @type {Map<string, Map<string, Import>>} */
  const edges = new Map();
  for (const entry of imports) {
    const [from, to] = [folderOf(entry.from), folderOf(entry.to)];
    if (from === to) continue;
    const targets = edges.get(from) ?? new Map();
    if (!targets.has(to)) targets.set(to, entry);
    edges.set(from, targets);
  }
  /** @param {string} start */
  const reachable = (start) => {
    const seen = /** @type {Set<string>} */ (new Set());
    const open = [start];
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const to of edges.get(at)?.keys() ?? [])
        if (!seen.has(to)) {
          seen.add(to);
          open.push(to);
        }
    return seen;
  };
  const reach = new Map([...edges.keys()].map((folder) => [folder, reachable(folder)]));
  const rings = new Set(
    [...edges.keys()]
      .filter((folder) => reach.get(folder)?.has(folder))
      .map((folder) =>
        [...edges.keys()].filter((other) => reach.get(folder)?.has(other) && reach.get(other)?.has(folder)),
      )
      .map((members) => members.sort().join(', ')),
  );
  return [...rings].map((ring) => {
    const members = ring.split(', ');
    const ways = members.flatMap((from) =>
      members.flatMap((to) => {
        const entry = edges.get(from)?.get(to);
        return entry ? [`  ${from} -> ${to}: ${entry.from} imports ${entry.to}`] : [];
      }),
    );
    return [`${name}: the folders ${ring} import each other in a ring`, ...ways].join('\n');
  });
}

if (process.argv[1] === import.meta.filename) {
  const wrong = packages.flatMap(({ name, dir }) => folderRings(name, importsBelow(join(dir, 'src'))));
  for (const line of wrong) console.error(line);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
