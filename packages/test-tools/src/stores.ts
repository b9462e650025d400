import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, inject } from 'vitest';
import { newDatabase, runSql } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The PostgreSQL server that test files share; empty when there is none. */
    postgresUrl: string;
  }
}

/** A kind of store that a test runs on, and how to get an empty one. */
export interface TestStore {
  readonly kind: 'sqlite' | 'postgres';
  newUrl(): Promise<string>;
}

/**
 * Every kind of store that this machine has. Each test file has a folder and a database of its own,
 * which are deleted when it is done. A package whose tests call this is named in the global setup
 * of the store's tests.
 */
export function testStores(): TestStore[] {
  const folder = mkdtempSync(join(tmpdir(), 'calls-store-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let files = 0;
  const sqlite: TestStore = {
    kind: 'sqlite',
    async newUrl() {
      files += 1;
      return `sqlite:${join(folder, `${files}.db`)}`;
    },
  };
  const server = inject('postgresUrl');
  return server === '' ? [sqlite] : [sqlite, { kind: 'postgres', newUrl: postgresSchemas(server) }];
}

/**
 * A database for this test file, created when it is first needed, and a schema in it for each
 * store.
 */
function postgresSchemas(server: string): () => Promise<string> {
  let database: Promise<string> | undefined;
  let schemas = 0;
  afterAll(async () => {
    if (database === undefined) return;
    const { pathname } = new URL(await database);
    await runSql(server, `DROP DATABASE IF EXISTS ${pathname.slice(1)} WITH (FORCE)`);
  });
  return async () => {
    database ??= newDatabase(server);
    const url = new URL(await database);
    schemas += 1;
    const schema = `store_${schemas}`;
    await runSql(url.href, `CREATE SCHEMA ${schema}`);
    url.searchParams.set('options', `-c search_path=${schema}`);
    return url.href;
  };
}
