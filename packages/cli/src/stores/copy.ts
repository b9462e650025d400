import type { Settings } from '@call-attribution/core/settings';
import type { UpsertSink } from '@call-attribution/node-stream';
import { describeCopy } from '@call-attribution/node-stream/copies';
import { printFilter, where } from '@call-attribution/query-dsl';
import { type FeedSource, storeFeeds } from '@call-attribution/service';
import {
  type AccountCredential,
  mirrorSink,
  openStore,
  type Store,
  type StoreOptions,
} from '@call-attribution/store';
import type { Warehouse } from '@call-attribution/warehouse';
import type { Io } from '../io.ts';
import { whileWaiting } from '../term/waiting.ts';
import { type ChosenStore, loadLibrary, type WarehouseFile, warehouseFile } from './choose.ts';
import { needThere, rowStoreUrl } from './url.ts';

/** A copy of the calls, of either kind: what a sync fills and what is served. */
export type Copy = RowCopy | WarehouseCopy;

interface AnyCopy {
  /** As messages call it. */
  readonly name: string;
  /** Where feeds read its calls. */
  readonly feeds: FeedSource;
  /** The accounts that it has. */
  accounts(): Promise<readonly { readonly id: string; readonly name?: string }[]>;
  /** Makes an account ready to be filled. Its readers may use the same keys. */
  prepare(account: string, settings: Settings): Promise<void>;
  /** Takes note of whether the API accepts the keys: those that it does not accept any longer no longer open the copy. */
  noteKeys(account: string | null, settings: Settings, isAccepted: boolean): Promise<void>;
  sink(account: string): UpsertSink;
  close(): Promise<void>;
}

/** Calls in SQLite or PostgreSQL. */
export interface RowCopy extends AnyCopy {
  readonly store: Store;
  readonly warehouse: null;
}

/** Calls in DuckDB. */
export interface WarehouseCopy extends AnyCopy {
  readonly store: null;
  readonly warehouse: Warehouse;
}

/** Refuses a URL that cannot name a copy. */
export function refuseStrangeCopy(chosen: ChosenStore, io: Io): void {
  if (warehouseFile(chosen) === null) rowStoreUrl(chosen.url, io, chosen.from);
}

/** How a copy is opened. */
export interface CopyOptions {
  /** Is a copy that does not exist created? Default true. */
  readonly create?: boolean;
  /** How a row store works. */
  readonly store?: StoreOptions;
}

/** Opens what the URL names. */
export async function openCopy(chosen: ChosenStore, io: Io, options: CopyOptions = {}): Promise<Copy> {
  const file = warehouseFile(chosen);
  if (file !== null) return openWarehouseCopy(file, options.create ?? true);
  const url = rowStoreUrl(chosen.url, { ...io, cwd: chosen.folder }, chosen.from);
  if (options.create === false) await needThere(url);
  const store = await openStore(url, options.store);
  return {
    name: store.name,
    store,
    warehouse: null,
    feeds: storeFeeds(store),
    accounts: async () => (await store.accounts()).map(({ id, name }) => ({ id, name })),
    prepare: (account, settings) => prepareAccount(store, account, settings),
    noteKeys: (account, settings, isAccepted) =>
      store.noteSyncKeys(account, keysOf(settings), isAccepted ? 'accepted' : 'refused'),
    sink: (account) => mirrorSink(store, account),
    close: () => store.close(),
  };
}

async function openWarehouseCopy({ path, shown }: WarehouseFile, create: boolean): Promise<WarehouseCopy> {
  const { openWarehouse } = await loadLibrary();
  const warehouse = await whileWaiting(`waiting for the warehouse ${shown}`, () =>
    openWarehouse(path, { create }),
  );
  return {
    name: `warehouse ${shown}`,
    store: null,
    warehouse,
    feeds: warehouseFeeds(warehouse),
    accounts: async () => (await warehouse.lastSync()).map(({ account }) => ({ id: account })),
    prepare: async () => {},
    noteKeys: async () => {},
    sink: (account) => warehouse.sink(account),
    close: () => warehouse.close(),
  };
}

function warehouseFeeds(warehouse: Warehouse): FeedSource {
  return {
    calls: (account, from, extensions) =>
      warehouse.calls({
        accounts: [account],
        q: printFilter(where('date_added').from(from)),
        ...(extensions ? { calls: 'all' } : {}),
      }),
    async lacks(account, from) {
      const verdict = await warehouse.verdict(account, { from, to: null });
      return verdict === null ? null : describeCopy(verdict);
    },
  };
}

// The copy accepts the keys of the account, so that its readers only change the URL.
async function prepareAccount(store: Store, account: string, settings: Settings): Promise<void> {
  if (!(await store.accounts()).some(({ id }) => id === account))
    await store.putAccount({ id: account, name: account });
  await store.noteSyncKeys(account, keysOf(settings), 'unknown');
}

function keysOf(settings: Settings): AccountCredential[] {
  const access = settings.secret('accessKey');
  const secret = settings.secret('secretKey');
  const token = settings.secret('bearerToken');
  return [
    ...(access && secret
      ? [{ kind: 'keys', accessKey: access.value, secretKey: secret.value } as const]
      : []),
    ...(token ? [{ kind: 'bearer', token: token.value } as const] : []),
  ];
}
