// A PostgreSQL server for the benches of the store: the one that tests start, bundled for plain Node.
import { rmSync } from 'node:fs';
import { build } from 'esbuild';

/** Starts a server, or returns null when none is installed. */
export async function postgresServer() {
  const outfile = new URL(
    `../../packages/test-tools/node_modules/.bench-cluster-${process.pid}.mjs`,
    import.meta.url,
  ).pathname;
  const entry = new URL('../../packages/test-tools/src/postgres.ts', import.meta.url).pathname;
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['pg'],
    logLevel: 'silent',
  });
  try {
    const { startPostgres, newDatabase } = await import(outfile);
    const postgres = startPostgres();
    return postgres && { newUrl: () => newDatabase(postgres.url), close: () => postgres.close() };
  } finally {
    rmSync(outfile);
  }
}
