import { rmSync } from 'node:fs';
import { build } from 'esbuild';

/**
 * What TypeScript exports, for plain Node: for what a bench needs of a package and the package does
 * not export. `folder` is the package; what is `external` is found from `beside`, which is another
 * package where that one does not depend on it.
 * @param {string} source @param {URL} folder @param {{ external?: string[], beside?: URL }} options
 */
export async function bundled(source, folder, { external = [], beside = folder } = {}) {
  const outfile = new URL(`node_modules/.bench-${process.pid}.mjs`, beside).pathname;
  await build({
    stdin: { contents: source, resolveDir: folder.pathname, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@call-attribution/source'],
    external,
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'silent',
  });

  try {
    return await import(outfile);
  } finally {
    rmSync(outfile);
  }
}
