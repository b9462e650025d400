// Runs the benchmarks of some packages, or of all: `pnpm bench [package...]`. Peers are installed
// on demand next to the scripts (bench/<package>/package.json, exact versions), so that nobody pays
// for them who only wants to use or test the project.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;
const available = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
  .map((entry) => entry.name);
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !available.includes(name));
if (unknown.length > 0) {
  console.error(
    `There is no benchmark for ${unknown.join(', ')}. Packages with benchmarks: ${available.join(', ') || 'none'}.`,
  );
  process.exit(2);
}

execFileSync('pnpm', ['build'], { cwd: join(here, '..'), stdio: 'inherit' });
let failed = false;
for (const name of wanted.length > 0 ? wanted : available) {
  const dir = join(here, name);
  if (existsSync(join(dir, 'package.json')) && !existsSync(join(dir, 'node_modules'))) {
    execFileSync(
      'npm',
      ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'],
      {
        cwd: dir,
        stdio: 'inherit',
      },
    );
  }
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.bench.mjs'))) {
    console.log(`\n# ${name}/${file}`);
    const { status } = spawnSync(process.execPath, ['--expose-gc', join(dir, file)], {
      stdio: 'inherit',
    });
    failed ||= status !== 0;
  }
}
process.exitCode = failed ? 1 : 0;
