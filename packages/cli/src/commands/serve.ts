import { createService, type Feed, hashPassword, type Listening } from '@call-attribution/service';
import type { Args, Handler } from '../args/command.ts';
import { endOfSandbox, startShown } from '../calls/own-sandbox.ts';
import { openStoreOf, rowStoreUrl } from '../calls/store-url.ts';
import { stopped } from '../calls/until-stopped.ts';
import { readSettings } from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import {
  readFeedFile,
  readPassword,
  refuseStrangeAccounts,
  sayFeeds,
  warehouseFeeds,
} from '../feeds/feed-file.ts';
import { type Io, say, write } from '../io.ts';
import { count, plural } from '../term/numbers.ts';
import { warehouseFile } from '../warehouse/choose.ts';
import { loadLibrary } from '../warehouse/library.ts';
import { pageAccess, warehousePage } from '../warehouse/page-source.ts';
import { explainListening, listenOptions, logsTo, serviceOptions, whole } from './serve-options.ts';
import { dumpSettings, serveSettings } from './serve-settings.ts';

/** `calls serve`: the API on this machine, over made-up calls or your own store. */
export const serve: Handler = async (args, io, commands) => {
  const settings = serveSettings(args, io, commands);
  if (args.flag('dump-config')) {
    await write(io.stdout, dumpSettings(settings, commands));
    return exitCodes.ok;
  }
  if (args.flag('hash-password')) {
    await write(io.stdout, `${await hashPassword(await readPassword(io))}\n`);
    return exitCodes.ok;
  }
  const feeds = await readFeedFile(settings.text('feeds'), io);
  if (settings.text('store') === null || settings.flag('sandbox')) return serveSandbox(settings, feeds, io);
  for (const name of ['records', 'seed', 'accounts', 'until', 'live']) {
    if (args.flag(name)) throw new UsageError(`--${name} is for the sandbox; remove it, or remove --store`);
  }
  const file = warehouseFile({ url: settings.text('store') ?? '', folder: io.cwd });
  if (file !== null) return serveWarehouse(settings, file.path, feeds, io);
  return serveStore(settings, feeds, io);
};

async function serveSandbox(settings: Args, feeds: readonly Feed[], io: Io): Promise<number> {
  const records = whole(settings, 'records', 0);
  const store = settings.text('store');
  const options = {
    records,
    seed: whole(settings, 'seed', 0, 0xffffffff),
    accounts: whole(settings, 'accounts', 1, 1000),
    live: settings.flag('live'),
    ...endOfSandbox(settings, io),
    ...(store === null ? {} : { store: rowStoreUrl(store, io) }),
    ...listenOptions(settings, io),
    service: { ...serviceOptions(settings, io, 'off'), feeds },
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
    const notify = await announce(settings, io, { url, legacyUrl, accounts: shown });
    notify(`sandbox with ${count(records)} made-up calls on ${url}; Ctrl-C stops it`);
    for (const account of accounts) {
      notify('');
      notify(`${account.name} (account ${account.id}). Paste into another terminal:`);
      notify(`  export CALLS_BASE_URL=${url} CALLS_LEGACY_BASE_URL=${legacyUrl} CALLS_TIME_ZONE=UTC`);
      notify(`  export CALLS_ACCESS_KEY=${account.accessKey} CALLS_SECRET_KEY=${account.secretKey}`);
      notify(`  calls list            # v2: export CALLS_BEARER_TOKEN=${account.bearerToken}`);
    }
    sayFeeds(feeds, { url, host: settings.text('host') ?? '' }, notify);
    await stopped(io.signal);
    return exitCodes.ok;
  } finally {
    await sandbox.close();
  }
}

async function serveStore(settings: Args, feeds: readonly Feed[], io: Io): Promise<number> {
  const at = listenOptions(settings, io);
  const options = serviceOptions(settings, io, 'json');
  const store = await openStoreOf(settings, io);
  try {
    refuseStrangeAccounts(feeds, await store.accounts());
    const service = createService({ ...options, store, feeds });
    try {
      const { url, legacyUrl } = await service.listen(at).catch(explainListening);
      const accounts = (await store.accounts()).map(({ id, name }) => ({ id, name }));
      const notify = await announce(settings, io, { url, legacyUrl, accounts });
      notify(`${store.name}: ${plural(accounts.length, 'account')} on ${url}; Ctrl-C stops it`);
      if (accounts.length === 0) notify('the store is empty; calls sync --store fills it');
      else
        notify(
          'it accepts the keys that calls sync was run with, and those made by calls store accounts key',
        );
      sayFeeds(feeds, { url, host: settings.text('host') ?? '' }, notify);
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
async function serveWarehouse(settings: Args, path: string, feeds: readonly Feed[], io: Io): Promise<number> {
  const at = listenOptions(settings, io);
  const options = serviceOptions(settings, io, 'json');
  const { openWarehouse } = await loadLibrary();
  const warehouse = await openWarehouse(path, { create: false });
  try {
    const accounts = (await warehouse.lastSync()).map(({ account }) => ({ id: account }));
    refuseStrangeAccounts(feeds, accounts);
    const feedSource = warehouseFeeds(warehouse);
    const { findAccount, token } = pageAccess(readSettings(settings, io, []));
    const page = { source: warehousePage(warehouse, findAccount) };
    const service = createService({ ...options, store: null, feeds, feedSource, page });
    try {
      const { url, legacyUrl } = await service.listen(at).catch(explainListening);
      const ready = { url, legacyUrl, accounts, ...(token === null ? {} : { token }) };
      const notify = await announce(settings, io, ready);
      const what = feeds.length === 0 ? 'the page' : 'the page and feeds';
      notify(`${settings.text('store')}: ${what} on ${url}, without the API; Ctrl-C stops it`);
      if (token === null) notify('it accepts the keys that are set for the API');
      else notify(`no keys are set, so it accepts a token for this run: ${url}/#token=${token}`);
      sayFeeds(feeds, { url, host: settings.text('host') ?? '' }, notify);
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
  settings: Args,
  io: Io,
  ready: Pick<Listening, 'url' | 'legacyUrl'> & { readonly accounts: readonly object[] },
): Promise<(line: string) => void> {
  if (settings.flag('ready-json')) await write(io.stdout, `${JSON.stringify(ready)}\n`);
  const logs = logsTo(settings, settings.text('store') === null || settings.flag('sandbox') ? 'off' : 'json');
  return logs && io.stderr.isTTY !== true ? () => undefined : (line) => say(io, line);
}
