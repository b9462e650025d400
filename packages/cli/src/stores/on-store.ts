import { nearest } from '@call-attribution/query-dsl/nearest';
import type { Account, Store } from '@call-attribution/store';
import type { Args, Handler } from '../args.ts';
import { readFileSettings } from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, write } from '../io.ts';
import { whileWaiting } from '../terminal/waiting.ts';
import { needStore, openChosen } from './open.ts';

/** A command over an open store, which only some of them create. What it resolves with is its exit status, if it is a number. */
export const onStore =
  (run: (store: Store, args: Args, io: Io) => Promise<unknown>, { create = false } = {}): Handler =>
  (args, io) =>
    whileWaiting('waiting for the store', async () => {
      const settings = readFileSettings(args, io);
      const store = await openChosen(needStore(args, settings, io), settings, { create });
      try {
        const status = await run(store, args, io);
        return typeof status === 'number' ? status : exitCodes.ok;
      } finally {
        await store.close();
      }
    });

/** One result as a line of JSON. */
export function print(io: Io, value: object): Promise<void> {
  return write(io.stdout, `${JSON.stringify(value)}\n`);
}

/** The account with this ID, or an error that says which there are. */
export async function accountOf(store: Store, id: string): Promise<Account> {
  const accounts = await store.accounts();
  const account = accounts.find((found) => found.id === id);
  if (account !== undefined) return account;
  const ids = accounts.map(({ id }) => id);
  const near = nearest(id, ids);
  const some = `it has ${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ' and more' : ''}`;
  throw new UsageError(`the store has no account ${id}`, {
    hints: [
      ids.length === 0 ? 'nothing was synced yet: calls sync fills it' : some,
      ...(near ? [`did you mean ${near}?`] : []),
      `calls store accounts add --account ${id} adds it`,
    ],
  });
}
