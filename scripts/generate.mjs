// Writes every generated file of the repository; with --check, fails when one of them is out of date. A package that generates
// something has a generate.mjs that exports `generate()` -> [{ path, text }], paths from the root.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packages, root } from './workspace.mjs';

const check = process.argv.includes('--check');
const stale = [];
let count = 0;

const generators = [
  ...packages.map(({ dir }) => join(dir, 'generate.mjs')),
  join(import.meta.dirname, 'errors.mjs'),
];
for (const script of generators) {
  if (!existsSync(script)) continue;
  const { generate } = await import(pathToFileURL(script).href);
  for (const { path, text } of await generate()) {
    count += 1;
    const file = join(root, path);
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
    stale.push(path);
    if (check) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

if (check && stale.length > 0) {
  console.error(`Out of date (run \`pnpm generate\` and commit the files):\n  ${stale.join('\n  ')}`);
  process.exitCode = 1;
} else {
  console.log(
    check ? `${count} generated files are up to date` : `${count} generated files, ${stale.length} rewritten`,
  );
}
