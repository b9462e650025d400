// The imports that no linter knows: the order of the packages, in their manifests, that folders of a
// package do not import each other in a ring, types included, and that commands of the program load
// whole packages only when they run. Biome refuses rings
// of files, and imports of what the manifest does not name. A file directly in `src` counts as a
// folder of its own; a folder named `generated` counts as part of the one around it, since a script
// writes it for its neighbors.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { packages, root, scope } from './workspace.mjs';

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

/** @param {Record<string, string> | undefined} deps */
const siblings = (deps) =>
  Object.keys(deps ?? {})
    .filter((name) => name.startsWith(scope))
    .map((name) => name.slice(scope.length));

/**
 * Each dependency of a package that points up or sideways.
 * @param {{ name: string, manifest: Record<string, Record<string, string> | undefined> }} pkg
 */
export function wrongDependencies({ name, manifest }) {
  const line = order.findIndex((names) => names.includes(name));
  if (line < 0) return ['new: add it to the order in scripts/imports.mjs'];

  const allowed = order.slice(0, line).flat();
  const forTests = [...allowed, everyTest, ...(inTests[name] ?? [])];
  const { dependencies, peerDependencies, optionalDependencies, devDependencies } = manifest;
  const used = [dependencies, peerDependencies, optionalDependencies].flatMap(siblings);
  return [
    ...used.filter((dep) => !allowed.includes(dep)),
    ...siblings(devDependencies).filter((dep) => !forTests.includes(dep)),
  ].map((dep) => `must not depend on ${dep}`);
}

/** @param {string} file */
const folderOf = (file) => {
  const folder = dirname(file).replace(/\/generated$/, '');
  return folder === '.' ? file : folder;
};

/**
 * One import for each way between two folders that is part of a ring.
 * @param {string} src a folder of sources
 */
export function ringsOfFolders(src) {
  /** @type {Map<string, Map<string, string>>} */
  const ways = new Map();
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => /\.[cm]?[jt]s$/.test(name)).sort()) {
    const code = readFileSync(join(src, file), 'utf8').replace(/^\s*(?:\/?\*|\/\/).*$/gm, '');
    for (const [, path = ''] of code.matchAll(/\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g)) {
      const target = normalize(join(dirname(file), path));
      const from = folderOf(file);
      const to = folderOf(target);
      if (from === to) continue;
      const ofFolder = ways.get(from) ?? new Map();
      if (!ofFolder.has(to)) ofFolder.set(to, `${file} imports ${target}`);
      ways.set(from, ofFolder);
    }
  }

  /** @param {string} from @param {string} to @param {Set<string>} seen @returns {boolean} */
  const leads = (from, to, seen = new Set([from])) =>
    from === to ||
    [...(ways.get(from)?.keys() ?? [])].some(
      (next) => !seen.has(next) && leads(next, to, seen.add(next)),
    );

  return [...ways].flatMap(([from, ofFolder]) =>
    [...ofFolder]
      .filter(([to]) => leads(to, from))
      .map(([to, entry]) => `${from} -> ${to} is part of a ring: ${entry}`),
  );
}

/**
 * The packages that a command imports as a whole at its top, where every start of `calls` would load
 * them, its help too. Types are free.
 * @param {string} code
 */
export const loadedAtStart = (code) =>
  [...code.matchAll(/^import (?!type )[^;]*? from '(@call-attribution\/[\w-]+)';/gm)].map(
    ([, name]) => `${name} is loaded at each start: import it in run, or one of its entries`,
  );

if (process.argv[1] === import.meta.filename) {
  const commands = join(root, 'packages/cli/src/commands');
  const late = readdirSync(commands)
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) =>
      loadedAtStart(readFileSync(join(commands, file), 'utf8')).map((line) => `${file}: ${line}`),
    );
  const wrong = packages.flatMap((pkg) =>
    [...wrongDependencies(pkg), ...ringsOfFolders(join(pkg.dir, 'src'))].map(
      (line) => `${pkg.name}: ${line}`,
    ),
  );
  const lines = [...wrong, ...late];
  for (const line of lines) console.error(line);
  process.exitCode = lines.length > 0 ? 1 : 0;
}
