// Builds the page at `/` into a folder: one script with the filter language in it, one style sheet,
// no outside requests.
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const from = join(import.meta.dirname, 'browser');

const shared = /** @type {const} */ ({
  bundle: true,
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  conditions: ['@call-attribution/source'],
  logLevel: 'warning',
});

/** The style that the page shares with reports and the app of the MCP server. */
async function chartStyle() {
  const contents = "export { chartStyle } from '@call-attribution/questions/chart';";
  const { outputFiles } = await build({
    ...shared,
    stdin: { contents, resolveDir: from },
    write: false,
  });
  const [{ text } = { text: '' }] = outputFiles;
  const module = await import(
    `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`
  );
  return module.chartStyle;
}

/** @param {string} outDir */
async function buildPage(outDir) {
  mkdirSync(outDir, { recursive: true });
  for (const file of ['index.html', 'icon.svg']) copyFileSync(join(from, file), join(outDir, file));
  await build({
    ...shared,
    entryPoints: {
      app: join(from, 'main.ts'),
      'sign-in': join(from, 'sign-in.ts'),
      style: join(from, 'style.css'),
    },
    outdir: outDir,
    minify: true,
    banner: { css: (await chartStyle()).trim() },
  });
}

await buildPage(process.argv[2] ?? join(import.meta.dirname, 'dist/page/assets'));
