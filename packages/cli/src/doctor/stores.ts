import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Settings } from '@call-attribution/core/settings';
import { type CopyVerdict, describeCopy } from '@call-attribution/node-stream/copies';
import { openStore, storeName } from '@call-attribution/store';
import type { Args } from '../args/command.ts';
import { explain } from '../failures/explain.ts';
import type { Io } from '../io.ts';
import { chooseStore, loadLibrary, warehouseFile } from '../stores/choose.ts';
import { rowStoreUrl } from '../stores/url.ts';
import { bytes, plural, span } from '../term/numbers.ts';
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
  return chosen === null ? null : storeAt(chosen.url, chosen.folder);
}

/** The store at this URL. */
export function storeAt(url: string, folder: string): ConfiguredStore {
  const file = /^(?:sqlite|duckdb):(?:\/\/)?(?!:memory:)(.+)$/i.exec(url)?.[1];
  const shown = file ?? storeName(url);
  return { url, folder, path: file === undefined ? null : resolve(folder, file), shown };
}

/** What a store says of one account. */
interface Held {
  readonly account: string;
  readonly calls: number;
  readonly newest: string | null;
  /** When the last sync was committed, in milliseconds since 1970. */
  readonly syncedAt: number | null;
  /** What the syncs have proved; null: none has begun. */
  readonly verdict: CopyVerdict | null;
}

/** What is in a store: which accounts, how fresh and how whole each is. Nothing is created, and the API is not asked. */
export async function storeFound(
  store: ConfiguredStore,
  { accounts }: Settings,
  io: Io,
): Promise<{ readonly findings: readonly Finding[]; readonly isWhole: boolean }> {
  const { url, path, shown } = store;
  const item = /^duckdb:/i.test(url) ? 'warehouse' : 'store';
  const sync = `calls sync --store ${path === null ? shown : url}`;
  const file = path === null ? null : statSync(path, { throwIfNoEntry: false });
  if (file === undefined)
    return { findings: [note(item, `${shown} does not exist yet`, `${sync} creates it`)], isWhole: true };
  try {
    const held = await (item === 'warehouse' ? inWarehouse(store) : inRows(store, io));
    const calls = held.reduce((sum, each) => sum + each.calls, 0);
    const text = `${shown}: ${plural(calls, 'call')} of ${plural(held.length, 'account')}${file === null ? '' : `, ${bytes(file.size)}`}`;
    const nameOf = (id: string) => accounts.find((account) => account.id === id)?.name ?? id;
    const each = held.map((one) => accountFound(nameOf(one.account), one, sync, io));
    return {
      findings: [held.length > 0 ? ok(item, text) : note(item, text, `${sync} fills it`), ...each],
      isWhole: held.every(({ verdict }) => verdict?.proof === 'whole'),
    };
  } catch (error) {
    const { message, hints } = await explain(error);
    return { findings: [wrong(item, `${shown}: ${message}`, hints.join('; '))], isWhole: false };
  }
}

function accountFound(name: string, held: Held, sync: string, { clock }: Io): Finding {
  const { calls, newest, syncedAt, verdict } = held;
  const age = syncedAt === null ? 'never synced' : `synced ${span(clock.now() - syncedAt)} ago`;
  const facts = `${plural(calls, 'call')}${newest === null ? '' : ` up to ${newest}`}, ${age}`;
  const lacks = verdict === null ? 'no sync has begun' : describeCopy(verdict);
  return lacks === null ? ok(name, `${facts}, whole`) : note(name, `${facts}; ${lacks}`, `${sync} goes on`);
}

async function inWarehouse({ url, folder }: ConfiguredStore): Promise<Held[]> {
  const { openWarehouse } = await loadLibrary();
  const warehouse = await openWarehouse(warehouseFile({ url, folder })?.path ?? '', {
    create: false,
    wait: 5_000,
  });
  try {
    const held: Held[] = [];
    for (const { account, calls, last, syncedAt } of await warehouse.lastSync()) {
      const verdict = await warehouse.verdict(account);
      held.push({
        account,
        calls,
        newest: last,
        syncedAt: syncedAt === null ? null : Date.parse(syncedAt),
        verdict,
      });
    }
    return held;
  } finally {
    await warehouse.close();
  }
}

async function inRows({ url, folder }: ConfiguredStore, io: Io): Promise<Held[]> {
  const store = await openStore(rowStoreUrl(url, { ...io, cwd: folder }));
  try {
    const held: Held[] = [];
    for (const size of (await store.sizes()).accounts)
      held.push({ ...size, verdict: await store.verdict(size.account) });
    return held;
  } finally {
    await store.close();
  }
}
