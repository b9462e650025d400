import type { Settings } from '@call-attribution/core/settings';
import type { UpsertSink } from '@call-attribution/node-stream';
import { type FeedSource, storeFeeds } from '@call-attribution/service';
import { mirrorSink, openStore, type Store } from '@call-attribution/store';
import { type ChosenStore, type WarehouseFile, warehouseFile } from '../calls/choose-store.ts';
import { rowStoreUrl } from '../calls/store-url.ts';
import { warehouseFeeds } from '../feeds/feed-file.ts';
import type { Io } from '../io.ts';
import { whileWaiting } from '../term/waiting.ts';
import { loadLibrary } from '../warehouse/library.ts';

/** What a sync fills: a row store or a warehouse. */
export interface Copy {
  /** As messages call it. */
  readonly name: string;
  /** The URL without what kind of store it is, where it names a file. */
  readonly file: string | null;
  /** Makes the account ready to be filled. */
  prepare(account: string, settings: Settings): Promise<void>;
  sink(account: string): UpsertSink;
  /** The row store; null for a warehouse. */
  readonly store: Store | null;
  /** Where feeds read its calls. */
  readonly feeds: FeedSource;
  close(): Promise<void>;
}

/** Refuses a URL that cannot name a copy. */
export function refuseStrangeCopy(chosen: ChosenStore, io: Io): void {
  if (warehouseFile(chosen) === null) rowStoreUrl(chosen.url, io, chosen.from);
}

/** Opens what the URL names; it is created when it does not exist. */
export async function openCopy(chosen: ChosenStore, io: Io): Promise<Copy> {
  const file = warehouseFile(chosen);
  if (file !== null) return openWarehouseCopy(file);
  const store = await openStore(rowStoreUrl(chosen.url, { ...io, cwd: chosen.folder }, chosen.from));
  return {
    name: store.name,
    file: /^sqlite:(?!:memory:)(.+)$/.exec(chosen.url)?.[1] ?? null,
    prepare: (account, settings) => acceptSameKeys(store, account, settings),
    sink: (account) => mirrorSink(store, account),
    store,
    feeds: storeFeeds(store),
    close: () => store.close(),
  };
}

async function openWarehouseCopy({ path, shown }: WarehouseFile): Promise<Copy> {
  const { openWarehouse } = await loadLibrary();
  const warehouse = await whileWaiting(`waiting for the warehouse ${shown}`, () => openWarehouse(path));
  return {
    name: `warehouse ${shown}`,
    file: shown,
    prepare: async () => {},
    sink: (account) => warehouse.sink(account),
    store: null,
    feeds: warehouseFeeds(warehouse),
    close: () => warehouse.close(),
  };
}

// The copy accepts the keys of the account, so that its readers only change the URL.
async function acceptSameKeys(store: Store, account: string, settings: Settings): Promise<void> {
  if (!(await store.accounts()).some(({ id }) => id === account))
    await store.putAccount({ id: account, name: account });
  const access = settings.secret('accessKey');
  const secret = settings.secret('secretKey');
  const token = settings.secret('bearerToken');
  if (access && secret) {
    await store.putCredential(account, { kind: 'keys', accessKey: access.value, secretKey: secret.value });
  }
  if (token) await store.putCredential(account, { kind: 'bearer', token: token.value });
}
