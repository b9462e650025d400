// What the package itself weighs: bundled and minified without its dependencies, then gzip.
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

for (const [name, entry] of [
  ['core', '../../packages/core/dist/index.js'],
  ['core/schemas', '../../packages/core/dist/record/generated/schemas.js'],
]) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  });
  const [{ contents }] = outputFiles;
  console.log(
    `${name.padEnd(14)} ${contents.length} bytes minified, ${gzipSync(contents, { level: 9 }).length} gzip`,
  );
}
