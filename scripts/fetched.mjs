// What checks and drills need besides the workspace, from the npm registry: too heavy for the
// install of everybody, so it is fetched into `.cache` when it is used for the first time.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.mjs';

/** How npm is run here: it starts no script of a package and asks nobody. */
export const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];

/**
 * The `node_modules` that has these packages.
 * @param {...string} packages with their exact versions: `pg@8.23.1`
 */
export function fetched(...packages) {
  const folder = join(root, '.cache', packages.join('+').replaceAll('/', '-'));
  const modules = join(folder, 'node_modules');
  // npm writes this file last: without it, an earlier run was interrupted.
  if (existsSync(join(modules, '.package-lock.json'))) return modules;

  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  try {
    execFileSync('npm', ['install', ...quiet, ...packages], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  } catch (cause) {
    const what = packages.join(', ');
    throw new Error(`${what} could not be fetched. Check the network, then run this again.`, {
      cause,
    });
  }

  return modules;
}
