// Builds the page of the MCP App from `browser` into a folder: one file, with script and style in
// it, that loads nothing. Without a folder it goes to where the built package reads it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const from = join(import.meta.dirname, 'browser');

/** @param {import('esbuild').BuildOptions} options */
async function bundled(options) {
  const { outputFiles } = await build({
    absWorkingDir: from,
    bundle: true,
    write: false,
    minify: true,
    target: 'es2022',
    conditions: ['@call-attribution/source'],
    logLevel: 'warning',
    ...options,
  });
  return outputFiles?.[0]?.text.trim() ?? '';
}

/** The style that the page shares with reports and the page of the service. */
async function chartStyle() {
  const contents = "export { chartStyle } from '@call-attribution/questions/chart';";
  const code = await bundled({ format: 'esm', stdin: { contents, resolveDir: from } });
  const module = await import(
    `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`
  );
  return module.chartStyle;
}

async function answerPage() {
  const script = await bundled({ entryPoints: ['main.ts'], format: 'iife' });
  const style = await bundled({
    stdin: {
      contents: (await chartStyle()) + readFileSync(join(from, 'style.css'), 'utf8'),
      loader: 'css',
    },
  });

  // Inside a script only this would end it.
  const safe = script.replaceAll('</script', '<\\/script');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Calls</title><style>${style}</style></head><body><script>${safe}</script></body></html>\n`;
}

const folder = process.argv[2] ?? join(import.meta.dirname, 'dist/app');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'answer.html'), await answerPage());
