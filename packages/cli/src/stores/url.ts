import { resolve } from 'node:path';
import { nearest } from '@call-attribution/query-dsl/nearest';
import type { Store, StoreOptions } from '@call-attribution/store';
import type { ServiceSection } from '../config/service-section.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { ChosenStore } from './choose.ts';

/** Refuses the URL of a store with a password: every user of the machine can see the options of a process. */
export function refusePassword(url: string, option = '--store'): void {
  const inUser = /^postgres(?:ql)?:\/\/[^@?#]*:[^@?#]*@/i.test(url);
  if (!inUser && !/^postgres.*[?&](?:ssl)?password=/i.test(url)) return;
  throw new UsageError(`${option} must not have a password in it: other users of the machine could read it`, {
    hints: ['set PGPASSWORD, or use a password file (~/.pgpass)'],
  });
}

/**
 * The URL as the store takes it: the path of a SQLite file from the folder of the command, and the password of PGPASSWORD,
 * which is no longer in the environment of the process, where the driver looks for it.
 */
export function storeUrl(url: string, { cwd, env }: Pick<Io, 'cwd' | 'env'>): string {
  const file = /^sqlite:(?!:memory:)(.+)$/.exec(url)?.[1];
  if (file !== undefined) return cwd === process.cwd() ? url : `sqlite:${resolve(cwd, file)}`;
  const password = env.PGPASSWORD;
  const hasOwn = /^[a-z]+:\/\/[^/?#]*:[^@]*@|[?&]password=/i.test(url);
  if (!password || hasOwn || !/^postgres(?:ql)?:\/\//.test(url)) return url;
  return `${url}${url.includes('?') ? '&' : '?'}password=${encodeURIComponent(password)}`;
}

/** The same for what can only be a row store; refuses any other URL. */
export function rowStoreUrl(url: string, io: Pick<Io, 'cwd' | 'env'>, from = '--store'): string {
  if (/^duckdb:/i.test(url)) {
    throw new UsageError(`${from}: a warehouse (duckdb:) answers questions, and this needs a row store`, {
      hints: [
        'calls sync --store sqlite:calls.db, or postgres://user@host/name, fills one',
        'calls report, list, count, get, export and sql read the warehouse',
      ],
    });
  }
  if (!/^(?:sqlite:.|postgres(?:ql)?:\/\/)/.test(url)) {
    throw new UsageError(`${from}: a store is duckdb:FILE, sqlite:FILE or postgres://user@host/name`, {
      hints: storeMeant(url),
    });
  }
  return storeUrl(url, io);
}

/** Which store was probably meant. What may hold a password is not repeated. */
function storeMeant(url: string): string[] {
  const [, file, extension = ''] = /^([\w./\\-]+\.(duckdb|db|sqlite3?))$/i.exec(url) ?? [];
  if (file !== undefined)
    return [`did you mean ${extension.toLowerCase() === 'duckdb' ? 'duckdb' : 'sqlite'}:${file}?`];
  const [, typed = '', rest = ''] = /^([a-z]{2,}):?([\w./\\-]*)$/i.exec(url) ?? [];
  const kind = nearest(typed, ['duckdb', 'sqlite']);
  return kind === undefined ? [] : [`did you mean ${kind}:${rest || 'FILE'}?`];
}

/** The store that was named, or an error that says how to name one. */
export function needStore(chosen: ChosenStore | null): ChosenStore {
  if (chosen !== null) return chosen;
  throw new UsageError('--store is missing: --store sqlite:calls.db', {
    hints: ['or --store postgres://user@host/name, with the password in PGPASSWORD'],
  });
}

/** Opens a store that `chooseStore` found, with what the configuration file says about it. */
export async function openStoreOf(
  chosen: ChosenStore | null,
  section: ServiceSection,
  io: Io,
  { create = false, ...options }: Pick<StoreOptions, 'readOnly'> & { readonly create?: boolean } = {},
): Promise<Store> {
  const { url: typed, from, folder, isTyped } = needStore(chosen);
  if (isTyped) refusePassword(typed);
  const { openStore } = await import('@call-attribution/store');
  const url = rowStoreUrl(typed, { cwd: folder, env: io.env }, from);
  if (!create) await needThere(url);
  return openStore(url, {
    ...storeOptions(section),
    ...options,
  });
}

/** Refuses a row store that is not there: a typo in its name would make an empty one. */
export async function needThere(url: string): Promise<void> {
  const { openStore } = await import('@call-attribution/store');
  if (url !== 'sqlite::memory:') await (await openStore(url, { readOnly: true })).close();
}

/** How a row store works, as the configuration file says. */
export function storeOptions({ synchronous, poolSize, statementTimeout }: ServiceSection): StoreOptions {
  return { synchronous, poolSize, statementTimeout };
}
