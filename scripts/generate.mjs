// Writes every generated file of the repository; with --check, fails when one of them is out of
// date. A package that generates something has a generate.mjs that exports `generate()` -> [{ path,
// text }], paths from the root.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packages, root } from './workspace.mjs';

/** All generated files as they should be. @returns {Promise<{ path: string, text: string }[]>} */
export async function generatedFiles() {
  const files = [];
  for (const script of [
    ...packages.map(({ dir }) => join(dir, 'generate.mjs')),
    join(import.meta.dirname, 'errors.mjs'),
    join(import.meta.dirname, 'versions.mjs'),
  ]) {
    if (!existsSync(script)) continue;
    const { generate } = await import(pathToFileURL(script).href);
    files.push(...(await generate()));
  }

  return files;
}

if (process.argv[1] === import.meta.filename) {
  const check = process.argv.includes('--check');
  const stale = [];
  const files = await generatedFiles();
  for (const { path, text } of files) {
    const file = join(root, path);
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
    stale.push(path);
    if (check) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  if (check && stale.length > 0) {
    console.error(
      `Out of date (run \`pnpm generate\` and commit the files):\n  ${stale.join('\n  ')}`,
    );
    process.exitCode = 1;
  } else if (check) console.log(`${files.length} generated files are up to date`);
  else console.log(`${files.length} generated files, ${stale.length} rewritten`);
}
