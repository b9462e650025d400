import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { afterAll } from 'vitest';

// Native packages cannot be bundled and the others need not be: they are imported from where the sources find them.
const outsidePackagesStay: Plugin = {
  name: 'outside-packages-stay',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData === 'seen' || path.startsWith('node:') || path.startsWith('@call-attribution/'))
        return undefined;
      const found = await resolve(path, { importer, resolveDir, kind, pluginData: 'seen' });
      return found.errors.length > 0 || !found.path.startsWith('/')
        ? undefined
        : { path: found.path, external: true };
    });
  },
};

/**
 * Bundles a source file, given as a `file:` URL, so that plain Node can run it. The bundle is deleted when the test file is
 * done.
 */
export async function builtFile(source: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'calls-built-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'dist', 'src', 'built.mjs');
  await build({
    entryPoints: [fileURLToPath(source)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@call-attribution/source', 'import', 'node'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    plugins: [outsidePackagesStay],
    logLevel: 'silent',
  });
  return outfile;
}
