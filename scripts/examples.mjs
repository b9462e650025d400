// Runs every example as its own process; one that exits non-zero fails the check.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.mjs';

const files = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.mjs'));
let failed = 0;
for (const file of files) {
  const { status, signal, stderr } = spawnSync(process.execPath, [join(root, 'examples', file)], {
    encoding: 'utf8',
    timeout: 180_000,
  });
  if (status !== 0) {
    failed++;
    console.error(`examples/${file} ended with ${status ?? signal}\n${stderr}`);
  }
}
console.log(`${files.length} examples run, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
