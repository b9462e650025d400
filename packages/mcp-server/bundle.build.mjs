// Makes the bin one file, so that hosts that start it for each conversation wait for one read instead of hundreds.
// What only a call to the API needs (the HTTP stack) stays parsed but not run until the first call.
// The library entry has the SDK and zod inside too: installed as packages, they bring a hundred others and 30 MB along.
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const [out = 'dist/bin.js'] = process.argv.slice(2);
const here = import.meta.dirname;

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

/** @type {import('esbuild').BuildOptions} */
const shared = {
  absWorkingDir: here,
  bundle: true,
  legalComments: 'none',
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // CommonJS packages inside the bundle ask for Node's own modules with require.
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  plugins: [startFast],
  logLevel: 'warning',
  metafile: true,
};

const bin = await build({
  ...shared,
  entryPoints: ['src/bin.ts'],
  outfile: out,
  minify: true,
  conditions: ['@call-attribution/source'],
  // Installed by those who want a local copy, and loaded with it.
  external: ['@call-attribution/warehouse'],
});
chmodSync(resolve(here, out), 0o755);

if (out === 'dist/bin.js') {
  const library = await build({
    ...shared,
    entryPoints: ['src/index.ts'],
    outfile: 'dist/index.js',
    minifySyntax: true,
    minifyWhitespace: true,
    external: ['@call-attribution/*'],
  });
  writeFileSync(
    join(here, 'dist/THIRD_PARTY_NOTICES.txt'),
    noticesOf([...Object.keys(bin.metafile.inputs), ...Object.keys(library.metafile.inputs)]),
  );
}

/**
 * The licenses of the packages whose files are in the bundles.
 * @param {readonly string[]} inputs
 */
function noticesOf(inputs) {
  const folders = new Set(
    inputs.flatMap((file) => /^(?:[a-z-]+:)?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []),
  );
  const notices = [...folders].map((folder) => {
    const dir = join(here, folder);
    const { name, version, license } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
    const file = readdirSync(dir).find((each) => /^licen[cs]e/i.test(each));
    const text =
      file === undefined || !existsSync(join(dir, file)) ? '' : readFileSync(join(dir, file), 'utf8').trim();
    return `${name} ${version} (${license})\n\n${text === '' ? `License: ${license}` : text}\n`;
  });
  const line = `\n${'-'.repeat(78)}\n\n`;
  return `The bundles of this package contain code of these packages.\n${line}${notices.sort().join(line)}`;
}
