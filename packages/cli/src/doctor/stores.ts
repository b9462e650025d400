import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Settings } from '@call-attribution/core/settings';
import { openStore, storeName } from '@call-attribution/store';
import type { Args } from '../args/command.ts';
import { explain } from '../failures/explain.ts';
import type { Io } from '../io.ts';
import { chooseStore, loadLibrary, warehouseFile } from '../stores/choose.ts';
import { rowStoreUrl } from '../stores/url.ts';
import { bytes, plural } from '../term/numbers.ts';
import { type Finding, note, ok, wrong } from './findings.ts';

/** A store to look at. */
export interface ConfiguredStore {
  readonly url: string;
  /** The folder that a relative path starts from. */
  readonly folder: string;
  /** The file it is in; null for a server. */
  readonly path: string | null;
  /** How messages call it, without a password. */
  readonly shown: string;
}

/** The store that the options and settings name; null when they name none. */
export function configuredStore(settings: Settings, args: Args, io: Io): ConfiguredStore | null {
  const chosen = chooseStore(args, settings, io);
  if (chosen === null) return null;
  const { url, folder } = chosen;
  const file = /^(?:sqlite|duckdb):(?:\/\/)?(?!:memory:)(.+)$/i.exec(url)?.[1];
  const shown = file ?? storeName(url);
  return { url, folder, path: file === undefined ? null : resolve(folder, file), shown };
}

/** Opens a store and says what is in it. */
export async function storeFound(store: ConfiguredStore, io: Io): Promise<Finding> {
  const { url, path, shown } = store;
  const isWarehouse = /^duckdb:/i.test(url);
  const item = isWarehouse ? 'warehouse' : 'store';
  const file = path === null ? null : statSync(path, { throwIfNoEntry: false });
  if (file === undefined)
    return note(item, `${shown} does not exist yet`, `calls sync --store ${url} creates it`);
  try {
    const { text, fix } = await (isWarehouse ? warehouseHealth(store) : storeHealth(store, io));
    const full = `${shown}: ${text}${file === null ? '' : `, ${bytes(file.size)}`}`;
    return fix === undefined ? ok(item, full) : note(item, full, fix);
  } catch (error) {
    const { message, hints } = await explain(error);
    return wrong(item, `${shown}: ${message}`, hints.join('; '));
  }
}

interface Health {
  readonly text: string;
  readonly fix?: string;
}

async function warehouseHealth({ url, folder }: ConfiguredStore): Promise<Health> {
  const file = warehouseFile({ url, folder });
  const { openWarehouse } = await loadLibrary();
  const warehouse = await openWarehouse(file?.path ?? '', { create: false, wait: 5_000 });
  try {
    const accounts = await warehouse.lastSync();
    const calls = accounts.reduce((sum, account) => sum + account.calls, 0);
    const oldest = accounts.map(({ syncedAt }) => syncedAt ?? '').sort()[0] ?? '';
    const synced =
      oldest === '' ? 'no sync has finished yet' : `synced ${oldest.slice(0, 16).replace('T', ' ')} UTC`;
    const text = `${plural(calls, 'call')} of ${plural(accounts.length, 'account')}, ${synced}`;
    return oldest === '' ? { text, fix: `calls sync --store ${url} fills it` } : { text };
  } finally {
    await warehouse.close();
  }
}

async function storeHealth({ url, folder }: ConfiguredStore, io: Io): Promise<Health> {
  const store = await openStore(rowStoreUrl(url, { ...io, cwd: folder }));
  try {
    const { accounts } = await store.sizes();
    const calls = accounts.reduce((sum, account) => sum + account.calls, 0);
    const text = `${plural(calls, 'call')} of ${plural(accounts.length, 'account')}`;
    const faults = await store.check();
    if (faults.length === 0) return { text: `${text}, counts are exact` };
    return {
      text: `${text}, ${plural(faults.length, 'count')} not exact`,
      fix: `calls store rebuild --store ${url}`,
    };
  } finally {
    await store.close();
  }
}
