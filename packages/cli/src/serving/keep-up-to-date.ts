import type { StoreOptions } from '@call-attribution/store';
import type { Args } from '../args/command.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { again, sayRetry } from '../syncing/repeat.ts';
import { openSync, type Sync, saySync } from '../syncing/sync.ts';
import type { Voice } from './voice.ts';

/** How a store that is served is kept up to date. */
interface Upkeep {
  readonly everyMs: number;
  /** The accounts that feeds need; none for those of the settings. */
  readonly accounts: readonly string[];
  readonly store: StoreOptions;
  readonly voice: Voice;
}

/** Opens the store and what syncs it. */
export const openServedSync = (
  args: Args,
  io: Io,
  { everyMs, accounts, store, voice }: Upkeep,
): Promise<Sync> =>
  openSync(args, io, {
    command: 'calls serve --every',
    everyMs,
    ...(accounts.length === 0 ? {} : { accounts }),
    copy: { store },
    onFailure: failureOf(everyMs, voice, io),
  });

/** Syncs now and then until the signal aborts. What fails is said, and tried again with the next sync. */
export async function keepUpToDate(sync: Sync, everyMs: number, voice: Voice, io: Io): Promise<void> {
  const onFailure = failureOf(everyMs, voice, io);
  const { name } = sync.copy;
  const once = (): Promise<number> =>
    sync.each(
      async (one) => {
        const run = await one.once();
        const { new: added, changed, pending, skipped } = run.summary;
        const { account } = one;
        if (voice.isLog) voice.log('info', 'synced', { account, new: added, changed, pending, skipped });
        else saySync(run, { account, name }, io);
        return exitCodes.ok;
      },
      ({ message }) => onFailure(message),
    );
  await again(once, everyMs, io, onFailure);
}

const failureOf =
  (everyMs: number, voice: Voice, io: Io) =>
  (message: string): void => {
    if (voice.isLog) voice.log('error', 'sync failed', { error: message });
    else sayRetry(message, everyMs, io);
  };
