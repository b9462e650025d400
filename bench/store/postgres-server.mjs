// A PostgreSQL server for the benches of the store: the one that tests start, bundled for plain
// Node.
import { bundled } from '../bundled.mjs';

/** Starts a server, or returns null when none is installed. */
export async function postgresServer() {
  const { startPostgres, newDatabase } = await bundled(
    "export * from './src/postgres.ts'",
    new URL('../../packages/test-tools/', import.meta.url),
    { external: ['pg'] },
  );
  const postgres = startPostgres();
  return postgres && { newUrl: () => newDatabase(postgres.url), close: () => postgres.close() };
}
