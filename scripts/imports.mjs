// The directions of imports, checked here and nowhere else. Packages point down one order, in their
// manifests and in their sources; inside a package neither folders nor files import each other in a
// ring, types included. A file directly in `src` counts as a folder of its own; a folder named
// `generated` counts as part of the one around it, since a script writes it for its neighbors.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { packages, scope } from './workspace.mjs';

/** Each package may use those on the lines above its own, and none on its own line. */
const order = [
  ['query-dsl', 'sqlite'],
  ['core'],
  ['node-stream', 'questions'],
  ['conversions', 'store', 'settings'],
  ['service', 'fleet', 'mcp-server'],
  ['sandbox'],
  ['cli'],
];
/** Tests of these packages may also use what is named here. */
const inTests = /** @type {Record<string, readonly string[]>} */ ({
  'mcp-server': ['sandbox'],
  fleet: ['sandbox'],
});
/** Tests of every package above core may use it: it is private and depends on core only. */
const everyTest = 'test-tools';

/** @typedef {{ readonly from: string, readonly to: string }} Import */
/** @typedef {{ name: string, manifest: Record<string, Record<string, string> | undefined> }} Pkg */

/**
 * The imports of the files of a folder: between its files as paths, and of packages by their names.
 * @param {string} folder @returns {Import[]}
 */
export function importsBelow(folder) {
  if (!existsSync(folder)) return [];
  return (
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      // A drill installs its host on demand; what others wrote is not ours to check.
      .filter((file) => /\.[cm]?[jt]sx?$/.test(file) && !file.includes('node_modules'))
      .flatMap((from) => {
        const code = readFileSync(join(folder, from), 'utf8').replace(
          /^\s*(?:\/?\*|\/\/).*$/gm,
          '',
        );
        return [...code.matchAll(/\b(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)].map(
          ([, to = '']) => ({
            from,
            to: to.startsWith('.') ? normalize(join(dirname(from), to)) : to,
          }),
        );
      })
  );
}

/** @param {Record<string, string> | undefined} deps */
const siblings = (deps) =>
  Object.keys(deps ?? {})
    .filter((name) => name.startsWith(scope))
    .map((name) => name.slice(scope.length));

/**
 * Each dependency of a package, declared or imported, that points up or sideways.
 * @param {Pkg} pkg @param {readonly Import[]} imports of its sources
 */
export function wrongDependencies({ name, manifest }, imports) {
  const line = order.findIndex((names) => names.includes(name));
  if (line < 0) return [`new: add it to the order in scripts/imports.mjs`];
  const allowed = order.slice(0, line).flat();
  const forTests = [...allowed, everyTest, ...(inTests[name] ?? [])];
  const { dependencies, peerDependencies, optionalDependencies, devDependencies } = manifest;
  return [
    ...[dependencies, peerDependencies, optionalDependencies]
      .flatMap(siblings)
      .filter((dep) => !allowed.includes(dep)),
    ...siblings(devDependencies).filter((dep) => !forTests.includes(dep)),
  ]
    .map((dep) => `must not depend on ${dep}`)
    .concat(
      imports.flatMap(({ from, to }) => {
        const dep = to.startsWith(scope) ? (to.slice(scope.length).split('/')[0] ?? '') : '';
        const isFine = dep === '' || dep === name || allowed.includes(dep);
        return isFine ? [] : [`must not import ${dep}, as in ${from}`];
      }),
    );
}

/** @param {string} file */
export const folderOf = (file) => {
  const folder = dirname(file).replace(/\/generated$/, '');
  return folder === '.' ? file : folder;
};

/**
 * Each ring of places, as lines: the places, then one import for each way round.
 * @param {readonly Import[]} imports @param {(file: string) => string} placeOf
 */
export function rings(imports, placeOf) {
  /** @type {Map<string, Map<string, Import>>} */
  const edges = new Map();
  for (const entry of imports) {
    const from = placeOf(entry.from);
    const to = placeOf(entry.to);
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

  const reach = new Map([...edges.keys()].map((place) => [place, reachable(place)]));
  const inRing = [...edges.keys()].filter((place) => reach.get(place)?.has(place));
  const found = new Set(
    inRing.map((place) =>
      inRing
        .filter((other) => reach.get(place)?.has(other) && reach.get(other)?.has(place))
        .sort()
        .join(', '),
    ),
  );
  return [...found].map((ring) => {
    const members = ring.split(', ');
    const ways = members.flatMap((from) =>
      members.flatMap((to) => {
        const entry = edges.get(from)?.get(to);
        return entry ? [`  ${from} -> ${to}: ${entry.from} imports ${entry.to}`] : [];
      }),
    );
    return [`${ring} import each other in a ring`, ...ways].join('\n');
  });
}

if (process.argv[1] === import.meta.filename) {
  const file = (/** @type {string} */ path) => path;
  const wrong = packages.flatMap((pkg) => {
    const [src = [], ...others] = ['src', 'browser', 'test'].map((folder) =>
      importsBelow(join(pkg.dir, folder)),
    );
    const found = [...wrongDependencies(pkg, src), ...rings(src, folderOf)];
    return [...found, ...[src, ...others].flatMap((imports) => rings(imports, file))].map(
      (line) => `${pkg.name}: ${line}`,
    );
  });
  for (const line of wrong) console.error(line);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
