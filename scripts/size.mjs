// What the code a browser or a bundle would load may weigh: minified by esbuild and compressed by gzip, without
// outside packages. Sources are bundled, so no build is needed. `node scripts/size.mjs` fails when a budget is broken.
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { root, scope } from './workspace.mjs';

/** One bundle: what it holds, and the most bytes it may have. */
const budgets = [
  { name: 'core, own code', code: "export * from '@/core';", most: 24_000, without: ['query-dsl'] },
];

/** @param {{ code: string, without?: string[] }} budget */
async function weigh({ code, without = [] }) {
  const result = await build({
    stdin: { contents: code.replaceAll('@/', scope), resolveDir: join(root, 'examples') },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
    conditions: [`${scope}source`],
    plugins: [
      {
        name: 'own code only',
        setup({ onResolve }) {
          onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
            const own = path.startsWith(scope) && !without.some((name) => path === scope + name);
            return kind === 'entry-point' || own ? undefined : { path, external: true };
          });
        },
      },
    ],
  });
  return gzipSync(/** @type {import('esbuild').OutputFile} */ (result.outputFiles[0]).contents, { level: 9 })
    .length;
}

let broken = 0;
for (const budget of budgets) {
  const bytes = await weigh(budget);
  const held = bytes <= budget.most;
  if (!held) broken++;
  console.log(`${held ? 'ok  ' : 'over'} ${budget.name}: ${bytes} of ${budget.most} bytes`);
}
if (broken > 0) {
  console.error(
    'Make it smaller, or change the budget in scripts/size.mjs and say why in a decision record.',
  );
  process.exit(1);
}
