import { existsSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Call } from '@call-attribution/core';
import type { TimeSlice } from '@call-attribution/node-stream';
import type { CopyVerdict } from '@call-attribution/node-stream/copies';
import type { Filter } from '@call-attribution/query-dsl';
import { markUnread, selectionOf } from '@call-attribution/store';
import { readFileSettings } from '../config/settings.ts';
import { CliError, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { withinRange } from '../reading/filter.ts';
import { openChosen, refusePassword, storeUrl } from '../stores/open.ts';
import type { Ask } from './ask.ts';

/** What was removed from an account on purpose. */
export interface Removed {
  readonly erasedCallers: number;
  isErased(caller: unknown): boolean;
  readonly purgedBefore: string | null;
}

/** The rows that a filter chooses. */
export interface RowsOf {
  readonly filter: Filter;
  /** Calls through call extensions, too, whatever the filter says. */
  readonly extensions: boolean;
}

/** A database that holds calls. */
export interface Holdings {
  /** The file, for a database that is one. */
  readonly path: string | null;
  accounts(): Promise<readonly string[]>;
  /** The rows of an account themselves: all, or those of a filter of a job. */
  calls(account: string, range: TimeSlice, of?: RowsOf): AsyncIterable<Call>;
  removed(account: string): Promise<Removed>;
  /** What its syncs have proved of an account; null when none has begun. */
  verdict(account: string): Promise<CopyVerdict | null>;
  /** Notes that calls of these periods are missing, so that the next sync reads them. False when there was no sync. */
  markUnread(account: string, periods: readonly TimeSlice[]): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens a database that exists; `url` as in --store. */
export async function openHoldings(url: string, ask: Ask): Promise<Holdings> {
  const file = /^sqlite:(?:\/\/)?(.+)$/i.exec(url)?.[1] ?? null;
  const path = file === null ? null : resolve(ask.io.cwd, file);
  if (path !== null) await refuseStrangeFile(url, path);
  return openRows(url, path, ask);
}

/** A database that is not there would be created, and so would one in an empty file. */
async function refuseStrangeFile(url: string, path: string): Promise<void> {
  if (!existsSync(path)) throw new UsageError(`there is no store ${url}`);
  if (!(await stat(path)).isFile())
    throw new CliError(`${url} is not a regular file`, { exitCode: exitCodes.incomplete });
  const file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0).finally(() => file.close());
  const start = buffer.subarray(0, bytesRead).toString('latin1');
  if (!start.startsWith('SQLite format 3'))
    throw new CliError(`${url} is not a database of this kind, or is damaged`, {
      exitCode: exitCodes.incomplete,
    });
}

async function openRows(url: string, path: string | null, { args, io }: Ask): Promise<Holdings> {
  refusePassword(url);
  const chosen = { url: storeUrl(url, io), typed: url, path };
  const store = await openChosen(chosen, readFileSettings(args, io), { readOnly: true });
  return {
    path,
    accounts: async () => (await store.accounts()).map(({ id }) => id),
    calls: (account, range, { filter, extensions } = { filter: { clauses: [] }, extensions: true }) =>
      store.calls(account, selectionOf(withinRange(filter, range), { extensions })),
    removed: (account) => store.removals(account),
    verdict: (account) => store.verdict(account),
    async markUnread(account, periods) {
      const writable = await openChosen(chosen, readFileSettings(args, io));
      try {
        let isMarked = false;
        for (const period of periods) isMarked = await markUnread(writable, account, period);
        return isMarked;
      } finally {
        await writable.close();
      }
    },
    close: () => store.close(),
  };
}
