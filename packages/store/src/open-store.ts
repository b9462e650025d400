import type { Driver } from './database/driver.ts';
import { needs } from './database/errors.ts';
import { storeName, storePlace } from './database/store-url.ts';
import { prepareTables } from './layout.ts';
import {
  readStoreOptions,
  type StoreOptions,
  type StoreSettings,
  type storeLimits,
} from './options.ts';
import { createSqlStore } from './sql-store.ts';
import type { Store } from './store.ts';

/**
 * Opens a store, makes the tables of a new one, and adds columns to one that an earlier release
 * made. The URL is `sqlite:<file>`,
 * `sqlite::memory:` or `postgres://user@host/database`. A store whose tables differ in another way is refused.
 *
 * @example
 * const store = await openStore('sqlite:calls.db');
 * console.log(await store.count('101'));
 * await store.close();
 */
export function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  return openLimitedStore(url, options, {});
}

/** The same with other limits, for tests. */
export async function openLimitedStore(
  url: string,
  options: StoreOptions,
  limits: Partial<typeof storeLimits>,
): Promise<Store> {
  const settings = { ...readStoreOptions(options), ...limits };
  const driver = await openDriver(url, settings);
  try {
    const name = storeName(url);
    await prepareTables(driver, name, settings.readOnly);
    return createSqlStore(driver, name);
  } catch (error) {
    await driver.close();
    throw error;
  }
}

/**
 * The databases are loaded when they are needed: their packages are large, and who uses one does
 * not need the other.
 */
async function openDriver(url: string, settings: StoreSettings): Promise<Driver> {
  const place = storePlace(url);
  if (place.kind === 'postgres') {
    const { openPostgres } = await import('./database/postgres.ts').catch(
      needs('pg', 'A store in PostgreSQL needs the package pg.'),
    );
    return openPostgres(place.url, settings);
  }

  const { openSqlite } = await import('./database/sqlite.ts');
  return openSqlite(place.file, settings);
}
