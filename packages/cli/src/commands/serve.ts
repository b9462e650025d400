import { sandboxDefaults } from '@call-attribution/sandbox/defaults';
import { createService, type Feed, type Listening } from '@call-attribution/service';
import type { Args, Handler } from '../args/command.ts';
import { type ChosenStore, warehouseFile } from '../calls/choose-store.ts';
import { endOfSandbox, startShown } from '../calls/own-sandbox.ts';
import { openStoreOf, refusePassword, rowStoreUrl } from '../calls/store-url.ts';
import { readServiceSection, type ServiceSection } from '../config/service-section.ts';
import { readFileSettings, readSettings } from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { readFeedFile, refuseStrangeAccounts, sayFeeds, warehouseFeeds } from '../feeds/feed-file.ts';
import { type Io, say, write } from '../io.ts';
import { count, plural } from '../term/numbers.ts';
import { stopped } from '../term/until-stopped.ts';
import { loadLibrary } from '../warehouse/library.ts';
import { pageAccess, warehousePage } from '../warehouse/page-source.ts';
import { explainListening, hostOf, listenOptions, logsTo, serviceOptions } from './serve-options.ts';

/** `calls serve`: the API on this machine, over made-up calls or your own store. */
export const serve: Handler = async (args, io) => {
  const store = args.text('store');
  if (store !== null) refusePassword(store);
  const section = readServiceSection(readFileSettings(args, io));
  const feeds = await readFeedFile(args.text('feeds'), io);
  if (store === null || args.flag('sandbox')) return serveSandbox(args, section, feeds, io);
  for (const name of ['records', 'seed', 'sandbox-accounts', 'until', 'live']) {
    if (args.flag(name)) throw new UsageError(`--${name} is for the sandbox; remove it, or remove --store`);
  }
  const file = warehouseFile({ url: store, folder: io.cwd });
  if (file !== null) return serveWarehouse(args, section, file.path, feeds, io);
  return serveStore({ url: store, from: '--store', folder: io.cwd, isTyped: true }, args, section, feeds, io);
};

async function serveSandbox(
  args: Args,
  section: ServiceSection,
  feeds: readonly Feed[],
  io: Io,
): Promise<number> {
  const records = args.integer('records', { max: 1e9 }) ?? sandboxDefaults.records;
  const store = args.text('store');
  const options = {
    records,
    seed: args.integer('seed', { max: 0xffffffff }) ?? sandboxDefaults.seed,
    accounts: args.integer('sandbox-accounts', { min: 1, max: 1000 }) ?? sandboxDefaults.accounts,
    live: args.flag('live'),
    ...endOfSandbox(args, io),
    ...(store === null ? {} : { store: rowStoreUrl(store, io) }),
    ...listenOptions(args, io),
    service: { ...serviceOptions(section, io, 'off'), feeds },
  };
  const sandbox = await startShown(options, io).catch(explainListening);
  try {
    refuseStrangeAccounts(feeds, sandbox.accounts);
    const { url, legacyUrl, accounts } = sandbox;
    const shown = accounts.map(({ id, accessKey, secretKey, bearerToken }) => ({
      id,
      accessKey,
      secretKey,
      bearerToken,
    }));
    const notify = await announce(args, logsTo(section, 'off'), io, { url, legacyUrl, accounts: shown });
    notify(`sandbox with ${count(records)} made-up calls on ${url}; Ctrl-C stops it`);
    for (const account of accounts) {
      notify('');
      notify(`${account.name} (account ${account.id}). Paste into another terminal:`);
      notify(`  export CALLS_BASE_URL=${url} CALLS_LEGACY_BASE_URL=${legacyUrl} CALLS_TIME_ZONE=UTC`);
      notify(`  export CALLS_ACCESS_KEY=${account.accessKey} CALLS_SECRET_KEY=${account.secretKey}`);
      notify(`  calls list            # v2: export CALLS_BEARER_TOKEN=${account.bearerToken}`);
    }
    sayFeeds(feeds, { url, host: hostOf(args) }, notify);
    await stopped(io.signal);
    return exitCodes.ok;
  } finally {
    await sandbox.close();
  }
}

async function serveStore(
  chosen: ChosenStore,
  args: Args,
  section: ServiceSection,
  feeds: readonly Feed[],
  io: Io,
): Promise<number> {
  const at = listenOptions(args, io);
  const options = serviceOptions(section, io, 'json');
  const store = await openStoreOf(chosen, section, io);
  try {
    refuseStrangeAccounts(feeds, await store.accounts());
    const service = createService({ ...options, store, feeds });
    try {
      const { url, legacyUrl } = await service.listen(at).catch(explainListening);
      const accounts = (await store.accounts()).map(({ id, name }) => ({ id, name }));
      const notify = await announce(args, logsTo(section, 'json'), io, { url, legacyUrl, accounts });
      notify(`${store.name}: ${plural(accounts.length, 'account')} on ${url}; Ctrl-C stops it`);
      if (accounts.length === 0) notify('the store is empty; calls sync --store fills it');
      else
        notify(
          'it accepts the keys that calls sync was run with, and those made by calls store accounts key',
        );
      sayFeeds(feeds, { url, host: hostOf(args) }, notify);
      await stopped(io.signal);
      return exitCodes.ok;
    } finally {
      await service.close();
    }
  } finally {
    await store.close();
  }
}

/** The page and feeds: a warehouse does not serve the API. */
async function serveWarehouse(
  args: Args,
  section: ServiceSection,
  path: string,
  feeds: readonly Feed[],
  io: Io,
): Promise<number> {
  const at = listenOptions(args, io);
  const options = serviceOptions(section, io, 'json');
  const { openWarehouse } = await loadLibrary();
  const warehouse = await openWarehouse(path, { create: false });
  try {
    const accounts = (await warehouse.lastSync()).map(({ account }) => ({ id: account }));
    refuseStrangeAccounts(feeds, accounts);
    const feedSource = warehouseFeeds(warehouse);
    const { findAccount, token } = pageAccess(readSettings(args, io, ['config']));
    const page = { source: warehousePage(warehouse, findAccount) };
    const service = createService({ ...options, store: null, feeds, feedSource, page });
    try {
      const { url, legacyUrl } = await service.listen(at).catch(explainListening);
      const ready = { url, legacyUrl, accounts, ...(token === null ? {} : { token }) };
      const notify = await announce(args, logsTo(section, 'json'), io, ready);
      const what = feeds.length === 0 ? 'the page' : 'the page and feeds';
      notify(`${args.text('store')}: ${what} on ${url}, without the API; Ctrl-C stops it`);
      if (token === null) notify('it accepts the keys that are set for the API');
      else notify(`no keys are set, so it accepts a token for this run: ${url}/#token=${token}`);
      sayFeeds(feeds, { url, host: hostOf(args) }, notify);
      await stopped(io.signal);
      return exitCodes.ok;
    } finally {
      await service.close();
    }
  } finally {
    await warehouse.close();
  }
}

/** Prints the line for scripts, and returns the function for messages to people: silent where stderr is a log for programs. */
async function announce(
  args: Args,
  logs: boolean,
  io: Io,
  ready: Pick<Listening, 'url' | 'legacyUrl'> & { readonly accounts: readonly object[] },
): Promise<(line: string) => void> {
  if (args.flag('ready-json')) await write(io.stdout, `${JSON.stringify(ready)}\n`);
  return logs && io.stderr.isTTY !== true ? () => undefined : (line) => say(io, line);
}
