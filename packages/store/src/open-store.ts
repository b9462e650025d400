import { StoreError } from './database/errors.ts';
import { claims, firstTables, journals, migrate } from './database/migrations.ts';
import { openPostgres, type PostgresOptions } from './database/postgres.ts';
import { openSqlite, type SqliteOptions } from './database/sqlite.ts';
import { openLayouts } from './rows/layouts.ts';
import { packRows } from './rows/migrate-rows.ts';
import type { PageTuning } from './rows/pages.ts';
import { createSqlStore } from './sql-store.ts';
import type { Store } from './store.ts';

/** How a store is opened. Options of the other database have no effect. */
export interface StoreOptions extends SqliteOptions, PostgresOptions, PageTuning {
  /** The clock for the times of syncs, in milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
}

/**
 * Opens a store and brings its schema up to date. The URL is `sqlite:<file>`, `sqlite::memory:` or
 * `postgres://user@host/database`. A store that a later release wrote is refused.
 *
 * @example
 * const store = await openStore('sqlite:calls.db');
 * console.log(await store.count('101', everything));
 * await store.close();
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  const driver = /^postgres(?:ql)?:\/\//.test(url)
    ? openPostgres(url, options)
    : await openSqlite(fileOf(url), options);
  try {
    await migrate(driver, steps);
    return createSqlStore(driver, await openLayouts(driver), withoutPassword(url), options);
  } catch (error) {
    await driver.close();
    throw error;
  }
}

/**
 * The steps of the schema, forward only; a released step never changes. Every key begins with the account, except in
 * `credentials`, which are looked up before the account is known. There are no sequences and triggers. A distributed PostgreSQL
 * can therefore shard by account.
 */
const steps = [firstTables, claims, packRows, journals];

function fileOf(url: string): string {
  const file = url.startsWith('sqlite:') ? url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '') : '';
  if (file !== '') return file;
  throw new StoreError(
    'store_url',
    `The URL of a store is sqlite:<file>, sqlite::memory: or postgres://user@host/database, not ${scheme(url)}.`,
  );
}

/** Describes a wrong store URL without repeating what may be a password in it. */
function scheme(url: string): string {
  const found = /^([a-z][a-z0-9+.-]*):/i.exec(url);
  return found === null ? 'a string without a scheme' : `one that begins with "${found[1]}:"`;
}

function withoutPassword(url: string): string {
  if (url.startsWith('sqlite:')) return url;
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return 'postgres://';
  }
}
