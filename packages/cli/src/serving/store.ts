import type { Settings } from '@call-attribution/mcp-server/settings';
import { createService, type Feed } from '@call-attribution/service';
import type { Store } from '@call-attribution/store';
import type { Args } from '../args/command.ts';
import { interval } from '../args/interval.ts';
import type { ServiceSection } from '../config/service-section.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { type ChosenStore, openChosen } from '../stores/open.ts';
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
  readonly settings: Settings;
  readonly section: ServiceSection;
  readonly feeds: readonly Feed[];
}

/** Serves a store as the API, with its page and feeds. `--every` keeps it up to date. */
export async function serveStore(serving: Serving, chosen: ChosenStore | null): Promise<number> {
  const { args, io, section, feeds } = serving;
  const { timeZone } = serving.settings;
  const at = listenOptions(args, io);
  const password = pagePassword(at, io);
  const everyMs = interval(args, 'every');
  const voice = voiceOf(section, 'json', io);
  const { store, sync, close } = await openServed(serving, chosen, everyMs, voice);
  try {
    const service = createService({
      ...serviceOptions(section, io, 'json'),
      ...{ store, feeds },
      page: { password, ...(timeZone === null ? {} : { timeZone: timeZone.value }) },
      ...(sync === null ? {} : { ready: sync.status.ready, metrics: sync.status.metrics, clock: io.clock }),
    });
    try {
      const listening = await service.listen(at).catch(explainListening);
      const { url, legacyUrl } = listening;
      const accounts = await store.accounts();
      const named = accounts.map(({ id, name }) => ({ id, name }));
      await sayReady(args, io, { url, legacyUrl, accounts: named });
      if (voice.isLog) voice.log('info', 'listening', { url });
      voice.notify(`${store.name}: ${plural(accounts.length, 'account')} on ${url}; Ctrl-C stops it`);
      if (accounts.length > 0 || everyMs !== null)
        voice.notify(
          'it accepts the keys that calls sync was run with, and those made by calls store accounts key',
        );
      else voice.notify('nothing was synced yet; calls sync --store fills it');
      sayFeeds(feeds, { url, host: hostOf(args) }, voice.notify);
      if (sync === null || everyMs === null) await stopped(io.signal);
      else {
        voice.notify(`synced every ${duration(everyMs)}; health and metrics on ${listening.adminUrl}`);
        await keepUpToDate(sync, everyMs, voice, io);
      }
      return exitCodes.ok;
    } finally {
      await service.close();
    }
  } finally {
    await close();
  }
}

/** A store that is served, and what keeps it up to date, if anything. */
interface Served {
  readonly store: Store;
  readonly sync: Sync | null;
  close(): Promise<void>;
}

async function openServed(
  { args, io, settings, feeds }: Serving,
  chosen: ChosenStore | null,
  everyMs: number | null,
  voice: Voice,
): Promise<Served> {
  if (everyMs !== null) {
    // What reads the API is loaded only where it is needed.
    const { openSync } = await import('../syncing/sync.ts');
    const accounts = [...new Set(feeds.map(({ account }) => account))];
    const sync = await openSync(args, io, {
      command: 'calls serve --every',
      everyMs,
      ...(accounts.length === 0 ? {} : { accounts }),
      onFailure: await failureOf(everyMs, voice, io),
    });
    return { store: sync.store, sync, close: () => sync.close() };
  }
  if (chosen === null) throw new Error('The command line has chosen no store.');
  const store = await openChosen(chosen, settings);
  try {
    refuseStrangeAccounts(feeds, await store.accounts());
  } catch (error) {
    await store.close();
    throw error;
  }
  return { store, sync: null, close: () => store.close() };
}

/** Syncs now and then until the signal aborts. What fails is said, and tried again with the next sync. */
async function keepUpToDate(sync: Sync, everyMs: number, voice: Voice, io: Io): Promise<void> {
  const { again } = await import('../syncing/repeat.ts');
  const { saySync } = await import('../syncing/sync.ts');
  const onFailure = await failureOf(everyMs, voice, io);
  const once = (): Promise<number> =>
    sync.each(
      (run) => {
        const { account, new: added, changed, pending, skipped } = run.summary;
        if (voice.isLog) voice.log('info', 'synced', { account, new: added, changed, pending, skipped });
        else saySync(run, sync.store.name, io);
        return exitCodes.ok;
      },
      ({ message }) => onFailure(message),
    );
  await again(once, everyMs, io, onFailure);
}

async function failureOf(everyMs: number, voice: Voice, io: Io): Promise<(message: string) => void> {
  const { sayRetry } = await import('../syncing/repeat.ts');
  return (message) => {
    if (voice.isLog) voice.log('error', 'sync failed', { error: message });
    else sayRetry(message, everyMs, io);
  };
}
