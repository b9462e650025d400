// The page of the MCP App as a string, which every installation has.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const here = import.meta.dirname;

/** @param {import('esbuild').BuildOptions} options */
async function bundled(options) {
  const { outputFiles } = await build({
    absWorkingDir: here,
    bundle: true,
    write: false,
    conditions: ['@call-attribution/source'],
    logLevel: 'warning',
    ...options,
  });
  return outputFiles?.[0]?.text ?? '';
}

/** What a module exports. @param {import('esbuild').BuildOptions} options */
async function loaded(options) {
  const code = await bundled({ format: 'esm', platform: 'node', ...options });
  return import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`);
}

async function page() {
  const contents = "export { chartStyle } from '@call-attribution/questions/chart';";
  const { chartStyle } = await loaded({ stdin: { contents, resolveDir: here } });
  const [script, style] = await Promise.all([
    bundled({ entryPoints: ['browser/main.ts'], format: 'iife', target: 'es2022', minify: true }),
    bundled({
      stdin: {
        contents: chartStyle + readFileSync(join(here, 'browser/style.css'), 'utf8'),
        loader: 'css',
      },
      minify: true,
    }),
  ]);

  // Inside a script only this would end it.
  const safe = script.trim().replaceAll('</script', '<\\/script');
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Calls</title><style>${style.trim()}</style></head><body><script>${safe}</script></body></html>`;
  return `// Made from browser/ by \`pnpm generate\`.\n// biome-ignore-all lint: generated.\n/** The page that shows answers of analyze_calls. */\nexport const answerPage =\n  ${quoted(html)};\n`;
}

/**
 * As biome writes strings: in single quotes, or in double ones where that needs fewer escapes.
 * @param {string} text
 */
function quoted(text) {
  const inDouble = JSON.stringify(text);
  const single = text.split("'").length;
  const double = text.split('"').length;
  if (double < single) return inDouble;
  return `'${inDouble.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

export async function generate() {
  return [{ path: 'packages/mcp-server/src/app/answer-page.ts', text: await page() }];
}
