import {
  checkOption,
  checkOptions,
  kinds,
  type OptionKind,
  type OptionShape,
  oneOf,
  whole,
} from '@call-attribution/core/errors';
import type { Driver } from './database/driver.ts';
import { StoreError } from './database/errors.ts';
import { migrate, tables } from './database/migrations.ts';
import type { PostgresOptions } from './database/postgres.ts';
import type { SqliteOptions } from './database/sqlite.ts';
import { openLayouts } from './rows/layouts.ts';
import type { PageTuning } from './rows/pages.ts';
import { createSqlStore } from './sql-store.ts';
import type { Store } from './store.ts';

/** How a store is opened. Options of the other database have no effect. */
export interface StoreOptions extends SqliteOptions, PostgresOptions, PageTuning {
  /** The clock for the times of syncs, in milliseconds since 1970. Default `Date.now`. */
  now?: (() => number) | undefined;
}

const shape = {
  synchronous: oneOf('normal', 'full'),
  busyTimeoutMs: whole(0),
  poolSize: whole(1),
  connectTimeoutMs: whole(0),
  statementTimeoutMs: whole(0),
  slowStatementTimeoutMs: whole(0),
  idleTransactionTimeoutMs: whole(0),
  reconnectMs: whole(0),
  sliceRows: whole(1),
  walkBelow: whole(0),
  now: kinds.callback,
} satisfies OptionShape & Record<keyof StoreOptions, OptionKind>;

const urlKind: OptionKind = {
  expected: 'a string such as sqlite:calls.db or postgres://user@host/database',
  accepts: kinds.string.accepts,
};

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
  checkOption('url', urlKind, url);
  checkOptions(options, shape);
  const driver = await openDriver(url, options);
  try {
    await migrate(driver, steps);
    return createSqlStore(driver, await openLayouts(driver), withoutPassword(url), options);
  } catch (error) {
    await driver.close();
    throw error;
  }
}

/** The databases are loaded when they are needed: their packages are large, and who uses one does not need the other. */
async function openDriver(url: string, options: StoreOptions): Promise<Driver> {
  if (/^postgres(?:ql)?:\/\//.test(url)) {
    const { openPostgres } = await import('./database/postgres.ts').catch(needs('pg', 'PostgreSQL'));
    return openPostgres(url, options);
  }
  const file = fileOf(url);
  const { openSqlite } = await import('./database/sqlite.ts').catch(needs('libsql', 'SQLite'));
  return openSqlite(file, options);
}

/** Says how to install a package that is missing; passes other errors on. */
const needs = (name: string, database: string) => (cause: unknown) => {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes(`'${name}'`)) throw cause;
  throw new StoreError(
    'missing_package',
    {
      message: `A store in ${database} needs the package ${name}.`,
      hint: `Install it with: npm install ${name}`,
    },
    { cause },
  );
};

/**
 * The steps of the schema, forward only; a released step never changes. Every key begins with the account, except in
 * `credentials`, which are looked up before the account is known. There are no sequences and triggers. A distributed PostgreSQL
 * can therefore shard by account.
 */
const steps = [tables];

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
