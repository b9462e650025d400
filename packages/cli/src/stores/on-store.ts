import type { Store } from '@call-attribution/store';
import type { Args, Handler } from '../args/command.ts';
import { readServiceSection } from '../config/service-section.ts';
import { readFileSettings } from '../config/settings.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, write } from '../io.ts';
import { whileWaiting } from '../term/waiting.ts';
import { chooseStore } from './choose.ts';
import { type Copy, openCopy } from './copy.ts';
import { needStore, openStoreOf, refusePassword, storeOptions } from './url.ts';

/** A command over an open store, which only some of them create. What it resolves with is its exit status, if it is a number. */
export const onStore =
  (run: (store: Store, args: Args, io: Io) => Promise<unknown>, { create = false } = {}): Handler =>
  (args, io) =>
    whileWaiting('waiting for the store', async () => {
      const settings = readFileSettings(args, io);
      const section = readServiceSection(settings);
      const chosen = chooseStore(args, settings, io);
      const store = await openStoreOf(chosen, section, io, { create });
      try {
        const status = await run(store, args, io);
        return typeof status === 'number' ? status : exitCodes.ok;
      } finally {
        await store.close();
      }
    });

/** A command over an open copy of either kind. */
export const onCopy =
  (run: (copy: Copy, args: Args, io: Io) => Promise<unknown>): Handler =>
  (args, io) =>
    whileWaiting('waiting for the store', async () => {
      const settings = readFileSettings(args, io);
      const chosen = needStore(chooseStore(args, settings, io));
      if (chosen.isTyped) refusePassword(chosen.url);
      const copy = await openCopy(chosen, io, {
        create: false,
        store: storeOptions(readServiceSection(settings)),
      });
      try {
        await run(copy, args, io);
        return exitCodes.ok;
      } finally {
        await copy.close();
      }
    });

/** One result as a line of JSON. */
export function print(io: Io, value: object): Promise<void> {
  return write(io.stdout, `${JSON.stringify(value)}\n`);
}
