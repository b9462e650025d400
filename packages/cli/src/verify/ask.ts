import type { Client } from '@call-attribution/core';
import type { Settings } from '@call-attribution/mcp-server/settings';
import type { TimeSlice } from '@call-attribution/node-stream';
import type { Args } from '../args/command.ts';
import {
  readAccountSettings,
  readFileSettings,
  readSettings,
  readStoredSettings,
} from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { contextOf, openClient } from '../reading/connect.ts';
import { rangeOf } from '../reading/filter.ts';

/** What a command asks to be verified, and how. */
export interface Ask {
  readonly args: Args;
  readonly io: Io;
  readonly againstApi: boolean;
  /** Write what a store has as its receipt. */
  readonly writeReceipt: boolean;
  /** The range of `date_added` that is compared. */
  readonly range: TimeSlice;
  /** The accounts that were named. */
  readonly accounts: readonly string[];
  /** The API of an account of a store, or, for a file, of the one account that was named. */
  api(account: string | null): Promise<Client>;
  /** Closes the clients. */
  close(): Promise<void>;
}

/** Reads what is asked from the options. */
export function readAsk(args: Args, io: Io): Ask {
  const againstApi = args.flag('against-api');
  const stored = readFileSettings(args, io);
  const { accounts: configured } = readStoredSettings(null, args, io);
  const accounts = [...new Set(args.list('account'))];
  const clients = new Map<string, Promise<Client>>();
  const settingsOf = (account: string | null): Settings => {
    const [only] = accounts;
    const wanted = account ?? only ?? null;
    const known = configured.find(({ name, id }) => name === wanted || id === wanted);
    if (known === undefined) return readSettings(args, io);
    const [found] = readAccountSettings([known.name], args, io);
    if (found?.problem) throw found.problem;
    return found?.settings ?? readSettings(args, io);
  };
  return {
    args,
    io,
    againstApi,
    writeReceipt: args.flag('write-receipt'),
    range: rangeOf(args, contextOf(stored, io)),
    accounts: accounts.map((name) => configured.find((each) => each.name === name)?.id ?? name),
    api(account) {
      const settings = settingsOf(account);
      const key = settings.account?.name ?? '';
      const opened = clients.get(key) ?? openClient(settings, args, io);
      clients.set(key, opened);
      return opened;
    },
    async close() {
      for (const opened of clients.values()) await (await opened).close();
    },
  };
}

/** Refuses to compare several accounts with the API of one. */
export function refuseOneApi(accounts: readonly string[], { args, io }: Ask): void {
  if (accounts.length < 2) return;
  const { accounts: configured } = readStoredSettings(null, args, io);
  const unknown = accounts.find(
    (account) => !configured.some(({ name, id }) => name === account || id === account),
  );
  if (unknown === undefined) return;
  throw new UsageError(`the store has ${accounts.length} accounts, and whose keys are set is not known`, {
    hints: [
      `add --account ${accounts[0]}`,
      'or add "accounts" to calls.config.json, each with its "id" and its keys',
    ],
  });
}
