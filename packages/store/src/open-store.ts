import type { Driver } from './database/driver.ts';
import { needs, StoreError } from './database/errors.ts';
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
    return createSqlStore(driver, name, settings.clock);
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
  if (/^postgres(?:ql)?:\/\//.test(url)) {
    const { openPostgres } = await import('./database/postgres.ts').catch(
      needs('pg', 'A store in PostgreSQL needs the package pg.'),
    );
    return openPostgres(url, settings);
  }

  const file = fileOf(url);
  const { openSqlite } = await import('./database/sqlite.ts');
  return openSqlite(file, settings);
}

/** The file in the URL of a store in SQLite. */
export function fileOf(url: string): string {
  // Plain JavaScript may pass anything.
  const [, file = ''] = /^sqlite:(.*)$/s.exec(String(url)) ?? [];

  // Programs differ in what sqlite:///calls.db is: a file of the root, or of the current folder.
  if (file.startsWith('//'))
    throw new StoreError(
      'store_url',
      'The URL of a store in SQLite has the path of its file right after sqlite:, as in sqlite:calls.db or sqlite:/var/lib/calls.db, and no two slashes there.',
    );
  if (file !== '') return file;
  throw new StoreError(
    'store_url',
    `The URL of a store is sqlite:<file>, sqlite::memory: or postgres://user@host/database, not ${scheme(url)}.`,
  );
}

/** Describes a wrong store URL without repeating what may be a password in it. */
function scheme(url: string): string {
  const found = /^([a-z][a-z0-9+.-]*):/i.exec(String(url));
  return found === null ? 'a string without a scheme' : `one that begins with "${found[1]}:"`;
}

/**
 * The URL of a store as messages may show it: of a server its address and the database, without
 * user, password and options.
 *
 * @example
 * storeName('postgres://calls:secret@db/calls'); // postgres://db/calls
 */
export function storeName(url: string): string {
  if (!/^postgres(?:ql)?:/i.test(url)) return url;

  // In a password that is not encoded, a slash or a question mark ends the address too early: what
  // follows may be part of it.
  const afterAddress = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
  if (!URL.canParse(url) || afterAddress.includes('@')) return 'postgres://';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
