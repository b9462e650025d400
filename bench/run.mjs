// Runs the benches of one room, or of all: `pnpm bench [room...]`. Peers are installed on demand beside the scripts
// (bench/<room>/package.json, exact versions), so that nobody pays for them who only wants to use or test the project.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;
const rooms = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
  .map((entry) => entry.name);
const asked = process.argv.slice(2);
const unknown = asked.filter((room) => !rooms.includes(room));
if (unknown.length > 0) {
  console.error(
    `There is no bench for ${unknown.join(', ')}. Rooms with benches: ${rooms.join(', ') || 'none'}.`,
  );
  process.exit(2);
}

execFileSync('pnpm', ['build'], { cwd: join(here, '..'), stdio: 'inherit' });
let failed = false;
for (const room of asked.length > 0 ? asked : rooms) {
  const dir = join(here, room);
  if (existsSync(join(dir, 'package.json')) && !existsSync(join(dir, 'node_modules'))) {
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'], {
      cwd: dir,
      stdio: 'inherit',
    });
  }
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.bench.mjs'))) {
    console.log(`\n# ${room}/${file}`);
    const { status } = spawnSync(process.execPath, ['--expose-gc', join(dir, file)], { stdio: 'inherit' });
    failed ||= status !== 0;
  }
}
process.exitCode = failed ? 1 : 0;
