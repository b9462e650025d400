// How much code each entry of each package is: its own sources, minified by esbuild and compressed by gzip, without other
// packages. No build is needed. The record is bench/sizes.md; a size that grew by more than a tenth fails the check until a
// changeset of that package says why in a line that begins with "Size:". `--write` brings the record up to date.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { changesetParts } from './changesets.mjs';
import { packages, root, scope } from './workspace.mjs';

/** Sizes in bytes by what was measured: "core", "core/time", "core, packed". @typedef {Record<string, number>} Sizes */

const file = join(root, 'bench/sizes.md');
const head = `# Sizes

Bytes of each entry (own sources, minified and compressed, without other packages) and of each package as npm gets it (packed).
\`node scripts/size.mjs --write\` and \`node scripts/packages.mjs --write\` update this page; a size that grows by more than a
tenth needs a line "Size: ..." in a changeset of its package.

| what | bytes |
|---|---|
`;

/** The sizes of the record. @param {string} text @returns {Sizes} */
export const readSizes = (text) =>
  Object.fromEntries(
    [...text.matchAll(/^\| ([^|]+) \| (\d+) \|$/gm)].map(([, what, size]) => [what, Number(size)]),
  );

/** The page for these sizes. @param {Sizes} sizes */
export const printSizes = (sizes) =>
  head +
  Object.keys(sizes)
    .sort()
    .map((what) => `| ${what} | ${sizes[what]} |\n`)
    .join('');

/** Short names of the packages whose changesets explain a size. @returns {Set<string>} */
function explained() {
  const dir = join(root, '.changeset');
  return new Set(
    readdirSync(dir)
      .filter((name) => name.endsWith('.md'))
      .map((name) => changesetParts(readFileSync(join(dir, name), 'utf8')))
      .filter((parts) => /^Size:/m.test(parts?.body ?? ''))
      .flatMap((parts) => parts?.names ?? [])
      .map((name) => name.replace(scope, '')),
  );
}

/**
 * One line for each size that grew by more than a tenth without an explanation in a changeset.
 * @param {Sizes} recorded @param {Sizes} measured @param {ReadonlySet<string>} excused
 */
export const grown = (recorded, measured, excused) =>
  Object.entries(measured).flatMap(([what, size]) => {
    const before = recorded[what];
    const most = before === undefined ? Infinity : Math.max(before * 1.1, before + 500);
    if (size <= most || excused.has(what.split(/[/,]/)[0] ?? '')) return [];
    return [
      `${what} grew from ${before} to ${size} bytes: say why in a changeset, in a line that begins with "Size:"`,
    ];
  });

/** Compares with the record, or with --write rewrites these rows. @param {Sizes} measured @returns {string[]} problems */
export function compareWithRecord(measured) {
  const recorded = existsSync(file) ? readSizes(readFileSync(file, 'utf8')) : {};
  const problems = grown(recorded, measured, explained());
  if (problems.length === 0 && process.argv.includes('--write'))
    writeFileSync(file, printSizes({ ...recorded, ...measured }));
  return problems;
}

/** @param {string} dir of the package @param {string} code that is bundled */
async function weigh(dir, code) {
  const result = await build({
    stdin: { contents: code, resolveDir: dir },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
    packages: 'external',
  });
  const [output] = result.outputFiles;
  return gzipSync(output?.contents ?? '', { level: 9 }).length;
}

if (process.argv[1] === import.meta.filename) {
  /** @type {Sizes} */
  const sizes = {};
  for (const { name, dir, entries } of packages)
    for (const { path, source } of entries)
      sizes[name + path.slice(1)] = await weigh(dir, `export * from '${source}';`);
  const queryDsl = join(root, 'packages/query-dsl');
  sizes['query-dsl, parse and print'] = await weigh(
    queryDsl,
    "export { parse, printFilter } from './src/index.ts';",
  );

  for (const [what, size] of Object.entries(sizes)) console.log(`${String(size).padStart(7)} ${what}`);
  const problems = compareWithRecord(sizes);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
