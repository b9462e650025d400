import {
  createService,
  type Feed,
  type Listening,
  type PageOptions,
  type ServiceOptions,
} from '@call-attribution/service';
import type { Args } from '../args/command.ts';
import { interval } from '../args/interval.ts';
import type { ServiceSection } from '../config/service-section.ts';
import { readFileSettings, readSettings } from '../config/settings.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import type { ChosenStore } from '../stores/choose.ts';
import { type Copy, openCopy } from '../stores/copy.ts';
import { needStore, storeOptions } from '../stores/url.ts';
import type { Sync } from '../syncing/sync.ts';
import { duration, plural } from '../term/numbers.ts';
import { stopped } from '../term/waiting.ts';
import { refuseStrangeAccounts, sayFeeds } from './feeds.ts';
import { explainListening, hostOf, listenOptions, pagePassword, serviceOptions } from './options.ts';
import { sayReady, type Voice, voiceOf } from './voice.ts';

/** What `calls serve` was told. */
export interface Serving {
  readonly args: Args;
  readonly io: Io;
  readonly section: ServiceSection;
  readonly feeds: readonly Feed[];
}

/** A copy that is served, and what keeps it up to date, if anything. */
interface Served {
  readonly copy: Copy;
  readonly sync: Sync | null;
  close(): Promise<void>;
}

/** Serves a copy of the calls: a row store as the API, a warehouse as the page, and feeds of both. `--every` keeps it up to date. */
export async function serveStore(serving: Serving, chosen: ChosenStore | null): Promise<number> {
  const { args, io, section } = serving;
  const at = listenOptions(args, io);
  const password = pagePassword(at, io);
  const everyMs = interval(args, 'every');
  const voice = voiceOf(section, 'json', io);
  const served = await openServed(serving, chosen, everyMs, voice);
  try {
    const { options, token } = await pageOf(served.copy, args, io);
    const service = createService({
      ...serviceOptions(section, io, 'json'),
      page: { ...options.page, password },
      ...dataOf(served, serving),
    });
    try {
      const listening = await service.listen(at).catch(explainListening);
      await announce(listening, served.copy, token, serving, voice);
      if (served.sync === null || everyMs === null) await stopped(io.signal);
      else {
        const { keepUpToDate } = await import('./keep-up-to-date.ts');
        voice.notify(`synced every ${duration(everyMs)}; health and metrics on ${listening.adminUrl}`);
        await keepUpToDate(served.sync, everyMs, voice, io);
      }
      return exitCodes.ok;
    } finally {
      await service.close();
    }
  } finally {
    await served.close();
  }
}

async function openServed(
  { args, io, section, feeds }: Serving,
  chosen: ChosenStore | null,
  everyMs: number | null,
  voice: Voice,
): Promise<Served> {
  const store = storeOptions(section);
  if (everyMs !== null) {
    // What reads the API is loaded only where it is needed.
    const { openServedSync } = await import('./keep-up-to-date.ts');
    const accounts = [...new Set(feeds.map(({ account }) => account))];
    const sync = await openServedSync(args, io, { everyMs, accounts, store, voice });
    return { copy: sync.copy, sync, close: () => sync.close() };
  }
  const copy = await openCopy(needStore(chosen), io, { create: false, store });
  try {
    refuseStrangeAccounts(feeds, await copy.accounts());
  } catch (error) {
    await copy.close();
    throw error;
  }
  return { copy, sync: null, close: () => copy.close() };
}

/** What the service serves, and what it says about its health. */
function dataOf(
  { copy, sync }: Served,
  { feeds, io }: Serving,
): Partial<ServiceOptions> & Pick<ServiceOptions, 'store'> {
  const data = { store: copy.store, feeds, feedSource: copy.feeds };
  if (sync === null) return data;
  const { ready, metrics } = sync.status;
  return { ...data, ready, metrics, clock: io.clock };
}

/** A row store has a page over the API that it serves; that of a warehouse has keys of its own. */
async function pageOf(
  copy: Copy,
  args: Args,
  io: Io,
): Promise<{ readonly options: { page: PageOptions }; readonly token: string | null }> {
  const { timeZone } = readFileSettings(args, io);
  const zone = timeZone === null ? {} : { timeZone: timeZone.value };
  if (copy.warehouse === null) return { options: { page: zone }, token: null };
  const { pageAccess, warehousePage } = await import('./page-source.ts');
  const { findAccount, token } = pageAccess(readSettings(args, io));
  return { options: { page: { ...zone, source: warehousePage(copy.warehouse, findAccount) } }, token };
}

/** Says where it listens, which keys it accepts, and which feeds there are. */
async function announce(
  { url, legacyUrl }: Listening,
  copy: Copy,
  token: string | null,
  { args, io, feeds }: Serving,
  { notify }: Voice,
): Promise<void> {
  const accounts = await copy.accounts();
  await sayReady(args, io, { url, legacyUrl, accounts, ...(token === null ? {} : { token }) });
  if (copy.store === null) {
    const what = feeds.length === 0 ? 'the page' : 'the page and feeds';
    notify(`${copy.name}: ${what} on ${url}, without the API; Ctrl-C stops it`);
    if (token === null) notify('it accepts the keys that are set for the API');
    else notify(`no keys are set, so it accepts a token for this run: ${url}/#token=${token}`);
  } else {
    notify(`${copy.name}: ${plural(accounts.length, 'account')} on ${url}; Ctrl-C stops it`);
    if (accounts.length > 0 || args.flag('every'))
      notify('it accepts the keys that calls sync was run with, and those made by calls store accounts key');
    else notify('the store is empty; calls sync --store fills it');
  }
  sayFeeds(feeds, { url, host: hostOf(args) }, notify);
}
