// Runs before the two README commands: one clear line when this machine or this install cannot
// work.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

/** @param {string} line */
const stop = (line) => {
  console.error(line);
  process.exit(1);
};

if (major < 20 || (major === 20 && minor < 19)) {
  stop(
    `Node ${process.versions.node} is too old: this project needs Node 20.19 or newer. Install it, then run the command again.`,
  );
}
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const missing = Object.keys(devDependencies).filter(
  (name) => !existsSync(join(root, 'node_modules', name, 'package.json')),
);
if (missing.length > 0) {
  stop(
    `The install is incomplete (${missing[0]} is missing${missing.length > 1 ? `, and ${missing.length - 1} more` : ''}). ` +
      'Check the network, then run: npx --yes pnpm@12.21.0 install',
  );
}
