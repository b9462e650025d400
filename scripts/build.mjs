// Builds all packages with turbo: one line when it works, all that it says when it does not.
// Nothing is reported to anyone.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { packages, root } from './workspace.mjs';

const turbo = join(root, 'node_modules/.bin/turbo');
const started = Date.now();
const { error, status, stdout, stderr } = spawnSync(
  turbo,
  ['run', 'build', '--output-logs=errors-only'],
  {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    shell: process.platform === 'win32',
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' },
  },
);
if (error) throw error;
if (status !== 0) {
  process.stdout.write(`${stdout}${stderr}`);
  console.error('The build failed; what turbo said is above.');
  process.exit(status ?? 1);
}
console.log(`built ${packages.length} packages in ${((Date.now() - started) / 1000).toFixed(1)} s`);
