import { dirname, resolve } from 'node:path';
import { isInProject, type Settings } from '@call-attribution/core/settings';
import type { Args } from '../args/command.ts';
import { systemCode, UsageError } from '../errors.ts';
import type { Io } from '../io.ts';

/** The file of a warehouse. */
export interface WarehouseFile {
  readonly path: string;
  /** As typed, for messages. */
  readonly shown: string;
}

/** A store that was named, and by what. */
export interface ChosenStore {
  readonly url: string;
  /** The option, variable or file that names it. */
  readonly from: string;
  /** The folder that a relative path starts from. */
  readonly folder: string;
  /** It was typed as an option. */
  readonly isTyped: boolean;
}

/** The store of --store, else the configured one. Null when there is none, or `none`. */
export function chooseStore(args: Args, { store, file }: Settings, { cwd }: Io): ChosenStore | null {
  const typed = args.text('store');
  const url = typed ?? store?.value ?? 'none';
  if (url === 'none' || url === '') return null;
  if (typed !== null || store === null) return { url, from: '--store', folder: cwd, isTyped: true };
  const folder = store.origin === 'file' && file ? dirname(file.path) : cwd;
  return { url, from: store.from, folder, isTyped: false };
}

/** The file in a URL such as `duckdb:calls.duckdb`; null for a URL of another kind. */
export function warehouseFile({
  url,
  folder,
  from = '--store',
}: Pick<ChosenStore, 'url' | 'folder'> & Partial<ChosenStore>): WarehouseFile | null {
  const shown = /^duckdb:(?:\/\/)?(.*)$/i.exec(url)?.[1];
  if (shown === undefined) return null;
  // To DuckDB, the second is a database that ends with the process.
  if (shown === '' || shown === ':memory:')
    throw new UsageError(`${from}: a warehouse is a file: duckdb:FILE, such as duckdb:calls.duckdb`);
  return { path: folder === process.cwd() ? shown : resolve(folder, shown), shown };
}

const library = '@call-attribution/warehouse';

/** Loads the package with the database. It is large, so it is installed by those who use a warehouse. */
export async function loadLibrary(): Promise<typeof import('@call-attribution/warehouse')> {
  try {
    return await import('@call-attribution/warehouse');
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    const command = `npm install ${isInProject(import.meta.url) ? '' : '--global '}${library}`;
    throw new UsageError(`duckdb: needs the package ${library}; install it with: ${command}`, {
      cause: error,
    });
  }
}
