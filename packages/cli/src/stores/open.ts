import { dirname, resolve } from 'node:path';
import { nearest } from '@call-attribution/query-dsl/nearest';
import type { Settings } from '@call-attribution/settings';
import type { AccountCredential, Store, StoreOptions } from '@call-attribution/store';
import { storeFile, storeKind } from '@call-attribution/store/url';
import { readServiceSection } from '../config/service-section.ts';
import { UsageError } from '../errors.ts';

/** Where a command runs: the folder that paths start from, and the environment. */
export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A store that was named. */
export interface ChosenStore {
  /** As `openStore` takes it: the path from the folder of the command, with the password. */
  readonly url: string;
  /** As it was named. */
  readonly typed: string;
  /** The file of a database that is one. */
  readonly path: string | null;
}

/**
 * The store that --store names, which is the option, else the configured one. Null when there is
 * none, or `none`.
 */
export function chooseStore(
  option: string | null,
  { store, file }: Settings,
  { cwd, env }: Surroundings,
): ChosenStore | null {
  const named = option ?? store?.value ?? 'none';
  if (named === 'none' || named === '') return null;
  const typed = /^[\w./\\-]+\.(?:db|sqlite3?)$/i.test(named) ? `sqlite:${named}` : named;
  if (option !== null) refusePassword(option);
  const isInFile = option === null && store?.origin === 'file' && file !== null;
  const folder = isInFile ? dirname(file.path) : cwd;
  checkForm(typed, option === null && store ? store.from : '--store');
  return storeNamed(typed, { cwd: folder, env });
}

/** The store of a URL, from a folder. */
export function storeNamed(typed: string, from: Surroundings): ChosenStore {
  const name = storeFile(typed);
  const path = name === null ? null : resolve(from.cwd, name);
  return { url: storeUrl(typed, from), typed, path };
}

/** The store that was named, or an error that says how to name one. */
export function needStore(
  option: string | null,
  settings: Settings,
  from: Surroundings,
  command?: string,
): ChosenStore {
  const chosen = chooseStore(option, settings, from);
  if (chosen !== null) return chosen;
  const needs = command === undefined ? '--store is missing' : `${command} needs a store`;
  throw new UsageError(`${needs}: --store sqlite:calls.db`, [
    'or --store postgres://user@host/name, with the password in PGPASSWORD',
  ]);
}

/**
 * Refuses the URL of a store with a password: every user of the machine can see the options of a
 * process.
 */
export function refusePassword(url: string, option = '--store'): void {
  const hasOne = /^[a-z]+:\/\/[^@?#]*:[^@?#]*@|[?&](?:ssl)?password=/i.test(url);
  if (storeKind(url) !== 'postgres' || !hasOne) return;
  throw new UsageError(
    `${option} must not have a password in it: other users of the machine could read it`,
    ['set PGPASSWORD, or use a password file (~/.pgpass)'],
  );
}

/**
 * The URL as the store takes it: the path of a SQLite file from the folder of the command, and the
 * password of PGPASSWORD, which is no longer in the environment of the process, where the driver
 * looks for it.
 */
export function storeUrl(url: string, { cwd, env }: Surroundings): string {
  const file = storeFile(url);
  if (file?.startsWith('//')) refuseSlashes(file);
  if (file !== null) return cwd === process.cwd() ? url : `sqlite:${resolve(cwd, file)}`;
  const password = env.PGPASSWORD;
  const hasOwn = /^[a-z]+:\/\/[^/?#]*:[^@]*@|[?&]password=/i.test(url);
  if (!password || hasOwn || storeKind(url) !== 'postgres') return url;
  return `${url}${url.includes('?') ? '&' : '?'}password=${encodeURIComponent(password)}`;
}

/**
 * Refuses two slashes after `sqlite:`. Of sqlite:///calls.db programs do not agree whether it is in
 * the current folder.
 */
function refuseSlashes(file: string): never {
  const [, slashes = '', path = ''] = /^(\/*)(.*)$/s.exec(file) ?? [];
  const hints: Readonly<Record<number, string>> = {
    2: `did you mean sqlite:${path}?`,
    3: `sqlite:${path} is a file of the current folder, sqlite:/${path} one at a full path`,
  };
  throw new UsageError(
    `sqlite:${file} has two slashes; the path of the file stands right after sqlite:`,
    [hints[slashes.length] ?? `did you mean sqlite:/${path}?`],
  );
}

/**
 * Opens a store, with what the configuration file says about it. One that is not there is created
 * only when that is asked for.
 */
export async function openChosen(
  { url }: ChosenStore,
  settings: Settings,
  {
    create = false,
    readOnly = false,
  }: { readonly create?: boolean; readonly readOnly?: boolean } = {},
): Promise<Store> {
  const { openStore } = await import('@call-attribution/store');
  const { synchronous, poolSize, statementTimeout } = readServiceSection(settings);
  const options: StoreOptions = { synchronous, poolSize, statementTimeout, readOnly };

  // A typo in the name would make an empty store.
  if (!create && !readOnly && url !== 'sqlite::memory:')
    await (await openStore(url, { ...options, readOnly: true })).close();
  return openStore(url, options);
}

/** The credentials of an account, which open a copy of its calls too. */
export function keysOf({ secret }: Pick<Settings, 'secret'>): AccountCredential[] {
  const access = secret('accessKey');
  const secretKey = secret('secretKey');
  const token = secret('bearerToken');
  return [
    ...(access && secretKey
      ? [{ kind: 'keys', accessKey: access.value, secretKey: secretKey.value } as const]
      : []),
    ...(token ? [{ kind: 'bearer', token: token.value } as const] : []),
  ];
}

/** Refuses what is no URL of a store. What may hold a password is not repeated. */
function checkForm(url: string, from: string): void {
  const kind = storeKind(url);
  if (kind === 'sqlite' && url.length > 'sqlite:'.length) return;
  if (kind === 'postgres' && url.includes('://')) return;
  if (/^duckdb:|\.duckdb$/i.test(url))
    throw new UsageError(`${from}: a store is SQLite or PostgreSQL, and not a DuckDB file`, [
      'calls sync --store sqlite:calls.db fills one',
      "to ask it with DuckDB: ATTACH 'calls.db' (TYPE sqlite), or calls export --partition month writes Parquet",
    ]);

  const [, typed = '', rest = ''] = /^([a-z]{2,}):?([\w./\\-]*)$/i.exec(url) ?? [];
  throw new UsageError(
    `${from}: a store is sqlite:FILE or postgres://user@host/name`,
    nearest(typed, ['sqlite']) === undefined ? [] : [`did you mean sqlite:${rest || 'FILE'}?`],
  );
}
