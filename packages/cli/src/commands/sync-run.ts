import type { Client } from '@call-attribution/core';
import { parseDuration } from '@call-attribution/core/time';
import { type SyncSummary, syncInto } from '@call-attribution/node-stream';
import type { Filter } from '@call-attribution/query-dsl';
import type { Args } from '../args/command.ts';
import {
  type BadRecords,
  badRecords,
  sayBadRecords,
  toleratingSink,
  withWayOut,
} from '../bad-records/policy.ts';
import { contextOf, openClient } from '../calls/connect.ts';
import { type FilterContext, withExtensions } from '../calls/filter.ts';
import { watch } from '../calls/reading.ts';
import { refusePassword } from '../calls/store-url.ts';
import { pause } from '../calls/until-stopped.ts';
import { readSettings } from '../config/settings.ts';
import { CliError, isStoreError, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { explain } from '../failure.ts';
import { type Io, say } from '../io.ts';
import { count, duration } from '../term/numbers.ts';
import { chooseStore } from '../warehouse/choose.ts';
import { isWarehouseError } from '../warehouse-failure.ts';
import { type Copy, openCopy } from './sync-copy.ts';

/** What a run of a sync did. */
export interface SyncRun {
  readonly summary: SyncSummary;
  readonly bad: BadRecords;
  /** Milliseconds. */
  readonly took: number;
}

/** A copy with everything that brings it up to date. */
export interface SyncJob {
  readonly copy: Copy;
  readonly account: string;
  /** Brings the copy up to date. */
  once(): Promise<SyncRun>;
  close(): Promise<void>;
}

/** Which calls a command syncs. */
interface SyncScope {
  /** The command, for messages. */
  readonly command: string;
  /** The account when --account is not given. Default: that of the calls. */
  readonly account?: string;
  /** The calls that the options describe; without it all calls. */
  readonly filter?: (context: FilterContext) => Filter;
}

/** Opens the store and the API that the options and settings name. */
export async function openSync(args: Args, io: Io, scope: SyncScope): Promise<SyncJob> {
  const lookback = interval(args, 'lookback');
  const settings = readSettings(args, io);
  const chosen = chooseStore(args, settings, io);
  if (chosen === null) {
    throw new UsageError(`${scope.command} needs a store: --store sqlite:calls.db`, {
      hints: [
        'or duckdb:calls.duckdb, to ask it questions',
        'or postgres://user@host/name, with the password in PGPASSWORD',
      ],
    });
  }
  if (chosen.isTyped) refusePassword(chosen.url);
  const filter = scope.filter?.(contextOf(settings, io)) ?? { clauses: [] };
  const client = await openClient(settings, args, io);
  const copy = await openCopy(chosen, io).catch(async (error: unknown) => {
    await client.close();
    throw error;
  });
  const close = async (): Promise<void> => {
    await copy.close();
    await client.close();
  };
  try {
    const account = await accountOf(args.text('account') ?? scope.account ?? null, client, io);
    await copy.prepare(account, settings);
    const version = settings.apiVersion.value;
    // A copy serves v2 as well, which has the calls that v3 leaves out by default.
    const all = version === 'v3' ? withExtensions(filter) : filter;
    const besides = copy.file ?? 'calls';
    return {
      copy,
      account,
      async once() {
        const bad = badRecords(args, io, { version, account, besides });
        const from = performance.now();
        const { line, onProgress } = watch(io, 'sync');
        const sink = toleratingSink(copy.sink(account), { store: copy, bad });
        const summary = await syncInto(client, sink, {
          filter: all,
          onError: bad.onError,
          ...(lookback === null ? {} : { lookback }),
          onProgress,
          signal: io.signal,
        })
          .catch(async (error: unknown) => Promise.reject(await withWayOut(error)))
          .finally(() => line.end());
        return { summary, bad, took: performance.now() - from };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const passing: ReadonlySet<number> = new Set([exitCodes.unreachable, exitCodes.failed]);

/** Repeats a run until the signal aborts. An error that may pass is reported: by `onFailure`, or in a sentence on stderr. */
export async function again(
  once: () => Promise<unknown>,
  every: number,
  io: Io,
  onFailure: (message: string) => void = (message) =>
    say(io, `calls: ${message}; retrying in ${duration(every)}`),
): Promise<void> {
  while (!io.signal.aborted) {
    try {
      await once();
    } catch (error) {
      if (io.signal.aborted) return;
      const { message, exitCode, hints } = await explain(error);
      // A server that is down may come back, and a disk may get space again; a wrong key stays wrong.
      const mayPass =
        exitCode === exitCodes.output
          ? isStoreError(error) || isWarehouseError(error)
          : passing.has(exitCode);
      if (!mayPass) throw error;
      onFailure(message);
      for (const hint of hints) say(io, `  → ${hint}`);
    }
    await pause(every, io.signal);
  }
}

/** Says what a sync did. Returns the exit status. */
export function saySync(
  { summary, bad, took }: SyncRun,
  { account, name }: { readonly account: string; readonly name: string },
  io: Io,
): number {
  const { new: added, changed, same, gone, pending } = summary;
  const figures = [
    `${count(added)} new`,
    `${count(changed)} changed`,
    `${count(same)} the same`,
    ...(gone > 0 ? [`${count(gone)} no longer on the server`] : []),
    ...(pending > 0 ? [`${count(pending)} not final yet`] : []),
  ];
  say(io, `${name}, account ${account}: ${figures.join(', ')} (${duration(took)})`);
  return sayBadRecords(bad, Math.max(summary.skipped, bad.count), io);
}

/** The value of an option that is a duration, in milliseconds. */
export function interval(args: Args, name: string): number | null {
  const text = args.text(name);
  if (text === null) return null;
  const length = parseDuration(text);
  if (length > 0) return length;
  throw new UsageError(
    `--${name} must be a duration such as 90s, 10m, 1h or 7d, not ${JSON.stringify(text)}`,
  );
}

async function accountOf(given: string | null, client: Client, io: Io): Promise<string> {
  if (given !== null) {
    if (!/^[\w.-]{1,64}$/.test(given))
      throw new UsageError('--account must be at most 64 letters, digits, dots, dashes and underscores');
    return given;
  }
  const { records } = await client.listCalls({ rows: 1, signal: io.signal });
  const id = records[0]?.acct_id;
  if (typeof id === 'string' && id !== '') return id;
  throw new CliError('the account has no calls yet, so its ID is unknown', {
    hints: ['set it with --account'],
  });
}
