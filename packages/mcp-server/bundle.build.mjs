// Makes the bin one file, so that hosts that start it for each conversation wait for one read instead of hundreds.
// What only a call to the API needs (the HTTP stack) stays parsed but not run until the first call.
import { chmodSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { build } from 'esbuild';

const out = process.argv[2] ?? 'dist/bin.js';

/** What runs with its first use: the HTTP stacks of both sides, and what only a call needs. */
const lazy = [
  'undici',
  'fast-xml-parser',
  '@hono/node-server',
  'node:crypto',
  'node:http',
  'node:http2',
  'node:zlib',
];

/** The SDK compiles JSON Schemas only to check elicitation answers; this server elicits nothing. */
const unused = ['ajv', 'ajv-formats'];

/** @type {import('esbuild').Plugin} */
const startFast = {
  name: 'start-fast',
  setup({ onResolve, onLoad }) {
    const names = new RegExp(`^(?:${[...lazy, ...unused].join('|')})$`);
    onResolve({ filter: names }, ({ path, namespace, resolveDir }) => {
      if (namespace === 'lazy') return undefined;
      return { path, namespace: unused.includes(path) ? 'unused' : 'lazy', pluginData: resolveDir };
    });
    onResolve({ filter: /^real:/ }, async ({ path, resolveDir }) => {
      const file = createRequire(`${resolveDir}/x.js`).resolve(path.slice('real:'.length));
      return { path: file };
    });
    onLoad({ filter: /.*/, namespace: 'unused' }, () => ({
      contents:
        'export class Ajv { constructor() { throw new Error("not part of this bundle"); } } export default Ajv;',
      loader: 'js',
    }));
    onLoad({ filter: /.*/, namespace: 'lazy' }, ({ path, pluginData }) => {
      // An object with a getter per export: reading one runs the package.
      const names = Object.keys(createRequire(`${pluginData}/x.js`)(path));
      const getters = names.map(
        (name) => `get ${JSON.stringify(name)}() { return load()[${JSON.stringify(name)}]; }`,
      );
      const real = path.startsWith('node:') ? path : `real:${path}`;
      return {
        contents: `const load = () => require("${real}");\nmodule.exports = { ${getters.join(',\n')} };`,
        loader: 'js',
        resolveDir: pluginData,
      };
    });
  },
};

await build({
  entryPoints: ['src/bin.ts'],
  outfile: out,
  absWorkingDir: import.meta.dirname,
  bundle: true,
  minify: true,
  legalComments: 'none',
  platform: 'node',
  target: 'node20',
  format: 'esm',
  conditions: ['@call-attribution/source'],
  // CommonJS packages inside the bundle ask for Node's own modules with require.
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  plugins: [startFast],
  logLevel: 'warning',
});
rmSync(new URL(`${out}.map`, `file://${import.meta.dirname}/`), { force: true });
chmodSync(new URL(out, `file://${import.meta.dirname}/`), 0o755);
