// Builds the page at `/` into a folder: one script with the filter language in it, one style sheet, no outside requests.
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const from = join(import.meta.dirname, 'browser');

/** @param {string} outDir */
async function buildPage(outDir) {
  mkdirSync(outDir, { recursive: true });
  for (const file of ['index.html', 'icon.svg']) copyFileSync(join(from, file), join(outDir, file));
  await build({
    entryPoints: { app: join(from, 'main.ts'), style: join(from, 'style.css') },
    outdir: outDir,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    conditions: ['@call-attribution/source'],
    logLevel: 'warning',
  });
}

await buildPage(process.argv[2] ?? join(import.meta.dirname, 'dist/page/assets'));
