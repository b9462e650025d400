// The URLs of stores: which kind of database each names, and where it is. Nothing else decides it.
import { StoreError } from './errors.ts';

/** The databases that a store can be in. */
export type StoreKind = 'sqlite' | 'postgres';

const kinds: ReadonlyMap<string, StoreKind> = new Map([
  ['sqlite', 'sqlite'],
  ['postgres', 'postgres'],
  ['postgresql', 'postgres'],
]);

/**
 * The database that a URL names; null when it names none, as the path of a file does.
 *
 * @example
 * storeKind('sqlite:calls.db'); // sqlite
 * storeKind('postgresql://user@host/calls'); // postgres
 * storeKind('calls.ndjson'); // null
 */
export function storeKind(url: string): StoreKind | null {
  // Plain JavaScript may pass anything.
  const [, scheme = ''] = /^([a-z]+):/i.exec(String(url)) ?? [];
  return kinds.get(scheme.toLowerCase()) ?? null;
}

/** What stands for a database in memory where the path of a file would. */
export const inMemory = ':memory:';

/**
 * The path of the file of a store in SQLite; null for one in memory or in another database.
 *
 * @example
 * storeFile('sqlite:calls.db'); // calls.db
 */
export function storeFile(url: string): string | null {
  if (storeKind(url) !== 'sqlite') return null;
  const path = url.slice('sqlite:'.length);
  return path === inMemory || path === '' ? null : path;
}

/** What a store is opened with. */
export type StorePlace =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** Where a store is. Refuses what is no URL of one. */
export function storePlace(url: string): StorePlace {
  const kind = storeKind(url);
  if (kind === 'postgres' && url.includes('://')) return { kind, url };
  const file = kind === 'sqlite' ? url.slice('sqlite:'.length) : '';

  // Programs differ in what sqlite:///calls.db is: a file of the root, or of the current folder.
  if (file.startsWith('//'))
    throw new StoreError(
      'store_url',
      'The URL of a store in SQLite has the path of its file right after sqlite:, as in sqlite:calls.db or sqlite:/var/lib/calls.db, and no two slashes there.',
    );
  if (kind === 'sqlite' && file !== '') return { kind, file };
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
  if (storeKind(url) !== 'postgres') return url;

  // In a password that is not encoded, a slash or a question mark ends the address too early: what
  // follows may be part of it.
  const afterAddress = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
  if (!URL.canParse(url) || afterAddress.includes('@')) return 'postgres://';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
