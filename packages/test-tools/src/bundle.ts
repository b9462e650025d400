import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';

// Native packages cannot be bundled and the others need not be: they are imported from where the
// sources find them.
const outsidePackagesStay: Plugin = {
  name: 'outside-packages-stay',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (
        pluginData === 'seen' ||
        path.startsWith('node:') ||
        path.startsWith('@call-attribution/')
      )
        return undefined;

      const found = await resolve(path, { importer, resolveDir, kind, pluginData: 'seen' });
      return found.errors.length > 0 || !found.path.startsWith('/')
        ? undefined
        : { path: found.path, external: true };
    });
  },
};

// A bundle lies elsewhere, and finds the native file where the sources of the package find it.
const sqliteStaysWhereItIs: Plugin = {
  name: 'sqlite-stays-where-it-is',
  setup({ onLoad }) {
    onLoad({ filter: /packages\/sqlite\/src\/index\.ts$/ }, ({ path }) => ({
      loader: 'ts',
      contents: readFileSync(path, 'utf8').replace(
        'import.meta.url',
        JSON.stringify(pathToFileURL(path)),
      ),
    }));
  },
};

/** Bundles sources of this workspace, so that plain Node can run them without a build. */
export async function bundle({ plugins = [], ...options }: BuildOptions): Promise<void> {
  await build({
    bundle: true,
    platform: 'node',
    format: 'esm',
    // The oldest release of Node.js that the packages run on: it does not know `await using`.
    target: 'node20.19',
    conditions: ['@call-attribution/source', 'import', 'node'],
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    plugins: [...plugins, sqliteStaysWhereItIs, outsidePackagesStay],
    logLevel: 'error',
    ...options,
  });
}

/**
 * Bundles a source file, given as a `file:` URL, and deletes the bundle after the test file.
 * Plugins may change sources.
 */
export async function builtFile(
  source: string,
  plugins: BuildOptions['plugins'] = [],
): Promise<string> {
  // Loaded here, because a global setup, which bundles too, may not load it.
  const { afterAll } = await import('vitest');
  const folder = mkdtempSync(join(tmpdir(), 'calls-built-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'dist', 'src', 'built.mjs');

  // Packages read their version from the file next to `src`.
  mkdirSync(join(folder, 'dist', 'src'), { recursive: true });
  writeFileSync(join(folder, 'dist', 'package.json'), '{ "type": "module", "version": "0.0.0" }');
  await bundle({ entryPoints: [fileURLToPath(source)], outfile, plugins });
  return outfile;
}
