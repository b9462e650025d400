import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Settings } from '@call-attribution/core/settings';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { openStore } from '@call-attribution/store';
import type { Args, Handler } from '../args/command.ts';
import { rowStoreUrl } from '../calls/store-url.ts';
import { readStoredSettings } from '../config/settings.ts';
import { exitCodes } from '../exit-codes.ts';
import { explain } from '../failure.ts';
import type { Io } from '../io.ts';
import { bytes, duration, plural } from '../term/numbers.ts';
import { version } from '../version.ts';
import { typedAccounts } from '../warehouse/accounts.ts';
import { chooseStore, warehouseFile } from '../warehouse/choose.ts';
import { loadLibrary } from '../warehouse/library.ts';
import { checkAccounts } from './check.ts';
import { type Finding, showFindings } from './findings.ts';

type Found = (item: string, state: Finding['state'], text: string, fix?: string) => void;

/** `calls doctor`: what `calls check` tries, and the machine around it. */
export const doctor: Handler = async (args, io) => {
  const findings: Finding[] = [];
  const found: Found = (item, state, text, fix) =>
    findings.push({ item, state, text, ...(fix === undefined ? {} : { fix }) });
  programs(found);
  variables(io, found);
  let settings: Settings | null = null;
  try {
    settings = readStoredSettings(null, args, io);
  } catch {
    // The part that checks the settings says what is wrong with them.
  }
  if (settings) proxy(settings, io, found);
  const clock = watchClock(io);
  const connection: Finding[] = [];
  const status = await checkAccounts(args, io, connection).finally(() => clock.stop());
  const lag = clock.lag();
  if (lag !== null) sayClock(lag, found);
  const folders = new Set([io.cwd]);
  if (settings) {
    sayAccounts(settings, args, found);
    for (const folder of await stores(settings, args, io, found)) folders.add(folder);
  }
  for (const folder of folders) disk(folder, io, found);
  const all = [...findings, ...connection];
  const isWrong = all.some(({ state }) => state === 'wrong');
  return showFindings(all, status === exitCodes.ok && isWrong ? exitCodes.failed : status, args, io);
};

const oldestNode = [20, 19] as const;

function programs(found: Found): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOld = major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
  const text = `calls ${version}, Node.js ${process.versions.node} on ${process.platform} ${process.arch}`;
  found('versions', isOld ? 'wrong' : 'ok', text, isOld ? 'install Node.js 20.19 or later' : undefined);
}

const known = [
  ...['BASE_URL', 'LEGACY_BASE_URL', 'API_VERSION', 'TIME_ZONE', 'STORE', 'CONFIG'],
  ...['ACCESS_KEY', 'SECRET_KEY', 'BEARER_TOKEN'].flatMap((name) => [name, `${name}_FILE`]),
].map((name) => `CALLS_${name}`);

/** A variable whose name is misspelled is silently ignored everywhere else. */
function variables(io: Io, found: Found): void {
  for (const name of Object.keys(io.env)) {
    if (!name.startsWith('CALLS_') || known.includes(name)) continue;
    const near = nearest(name, known);
    // CALLS_BERLIN_ACCESS_KEY is a variable that an account names.
    const isOther = near !== undefined && Math.abs(near.length - name.length) > 2;
    if (near && !isOther) found('variables', 'note', `${name} is not read by calls`, `did you mean ${near}?`);
  }
}

function proxy({ baseUrl }: Settings, { env }: Io, found: Found): void {
  const scheme = baseUrl?.value.startsWith('http:') ? 'HTTP_PROXY' : 'HTTPS_PROXY';
  const text = (env[scheme.toLowerCase()] ?? env[scheme] ?? '').trim();
  const except = (env.no_proxy ?? env.NO_PROXY ?? '').trim();
  if (text === '') {
    found('proxy', 'ok', `none: ${scheme} is not set`);
    return;
  }
  const address = URL.canParse(text) ? new URL(text) : null;
  if (!address) found('proxy', 'wrong', `${scheme} is not a URL`, 'write it as http://proxy.example:3128');
  else found('proxy', 'ok', `${address.origin} (${scheme})${except ? `, except for ${except}` : ''}`);
}

function sayAccounts({ accounts }: Settings, args: Args, found: Found): void {
  if (accounts.length === 0) return;
  const names = accounts.map(({ name }) => name).join(', ');
  const isChosen = typedAccounts(args) !== null;
  found('accounts', 'ok', names, isChosen ? undefined : 'add --all-accounts to check each of them');
}

/** Compares the clock of this machine with the Date header of what the server responds. */
function watchClock(io: Io): { lag(): number | null; stop(): void } {
  let lag: number | null = null;
  const listener = (message: unknown): void => {
    const { headers = [] } = (message as { response?: { headers?: readonly Buffer[] } }).response ?? {};
    const at = headers.findIndex((name, at) => at % 2 === 0 && name.toString().toLowerCase() === 'date');
    const sent = at < 0 ? Number.NaN : Date.parse(String(headers[at + 1]));
    if (!Number.isNaN(sent)) lag = io.now().getTime() - sent;
  };
  subscribe('undici:request:headers', listener);
  return { lag: () => lag, stop: () => void unsubscribe('undici:request:headers', listener) };
}

const clockTolerance = 60_000;

function sayClock(lag: number, found: Found): void {
  const side = lag > 0 ? 'fast' : 'slow';
  if (Math.abs(lag) <= clockTolerance) found('clock', 'ok', 'agrees with that of the server');
  else
    found(
      'clock',
      'note',
      `${duration(Math.abs(lag))} ${side}, compared with that of the server: times such as 7d or now are off by that`,
      'set the clock of this machine, for example with NTP',
    );
}

/** The stores that are configured. Returns the folders they are in. */
async function stores(settings: Settings, args: Args, io: Io, found: Found): Promise<string[]> {
  const folders: string[] = [];
  const chosen = chooseStore(args, settings, io);
  const urls = chosen ? [{ url: chosen.url, folder: chosen.folder }] : [];
  if (urls.length === 0) found('store', 'ok', 'none: CALLS_STORE is not set, so questions go to the API');
  for (const { url, folder } of urls) {
    const file = /^(?:sqlite|duckdb):(?:\/\/)?(?!:memory:)(.+)$/i.exec(url)?.[1];
    const path = file === undefined ? null : resolve(folder, file);
    const shown = file ?? url.replace(/\/\/[^@/]*@/, '//').replace(/\?.*$/s, '');
    const item = /^duckdb:/i.test(url) ? 'warehouse' : 'store';
    const size = path === null ? null : (statSync(path, { throwIfNoEntry: false })?.size ?? -1);
    if (path !== null) folders.push(dirname(path));
    if (size === -1) {
      found(item, 'note', `${shown} does not exist yet`, `calls sync --store ${url} creates it`);
      continue;
    }
    try {
      const health = await (item === 'warehouse'
        ? warehouseHealth(url, folder)
        : storeHealth(url, folder, io));
      const text = `${shown}: ${health.text}${size === null ? '' : `, ${bytes(size)}`}`;
      found(item, health.fix ? 'note' : 'ok', text, health.fix);
    } catch (error) {
      const { message, hints } = await explain(error);
      found(item, 'wrong', `${shown}: ${message}`, hints.join('; ') || undefined);
    }
  }
  return folders;
}

interface Health {
  readonly text: string;
  readonly fix?: string;
}

async function warehouseHealth(url: string, folder: string): Promise<Health> {
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

async function storeHealth(url: string, folder: string, io: Io): Promise<Health> {
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

const littleSpace = { wrong: 100e6, note: 1e9 };

function disk(folder: string, io: Io, found: Found): void {
  let free: number;
  try {
    const { bavail, bsize } = statfsSync(folder);
    free = bavail * bsize;
  } catch {
    found('disk', 'note', `${folder} does not exist`, 'create it before calls writes there');
    return;
  }
  const shown = folder === io.cwd ? 'the current folder' : folder;
  const state = free < littleSpace.wrong ? 'wrong' : free < littleSpace.note ? 'note' : 'ok';
  const fix = state === 'ok' ? undefined : 'make space: an export and a sync need as much as they write';
  found('disk', state, `${bytes(free)} free in ${shown}`, fix);
}
