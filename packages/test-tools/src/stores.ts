import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { startPostgres } from './postgres-cluster.ts';

/** A kind of store that a test runs on, and how to get an empty one. */
export interface TestStore {
  readonly kind: 'sqlite' | 'postgres';
  newUrl(): Promise<string>;
}

/** Every kind of store this machine has; databases and folders vanish when the test file is done. */
export async function testStores(): Promise<TestStore[]> {
  const postgres = await startPostgres();
  const folder = mkdtempSync(join(tmpdir(), 'calls-store-'));
  let made = 0;
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await postgres?.stop();
  });
  const stores: TestStore[] = [
    {
      kind: 'sqlite',
      async newUrl() {
        made += 1;
        return `sqlite:${join(folder, `${made}.db`)}`;
      },
    },
  ];
  if (postgres !== null) stores.push({ kind: 'postgres', newUrl: () => postgres.newDatabase() });
  return stores;
}
