import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll } from 'vitest';

const room = fileURLToPath(new URL('..', import.meta.url));

/** Bundles a source file of this package so that plain node can run it; gone when the test file is done. */
export async function builtFile(source: string): Promise<string> {
  // Within the package, so that its outside dependencies are found from there.
  const folder = join(
    room,
    'node_modules',
    `.built-${process.pid}-${Math.random().toString(36).slice(2, 8)}`,
  );
  mkdirSync(folder, { recursive: true });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'built.mjs');
  await build({
    entryPoints: [join(room, source)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@call-attribution/source'],
    external: ['libsql', 'pg'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'silent',
  });
  return outfile;
}
