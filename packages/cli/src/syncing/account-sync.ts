import type { Client } from '@call-attribution/core';
import { accountNameWords, isAccountName, type Settings } from '@call-attribution/core/settings';
import { type SyncSummary, syncInto, type UpsertSink } from '@call-attribution/node-stream';
import type { Args } from '../args/command.ts';
import { interval } from '../args/interval.ts';
import { CliError, codeOf, UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { type BadRecords, badRecords, toleratingSink, withWayOut } from '../reading/bad-records.ts';
import { contextOf } from '../reading/connect.ts';
import { withExtensions } from '../reading/filter.ts';
import { watch } from '../reading/verdict.ts';
import type { Copy } from '../stores/copy.ts';
import type { ReadyAccount, SyncScope } from './plan.ts';

/** What a run of a sync did. */
export interface SyncRun {
  readonly summary: SyncSummary;
  readonly bad: BadRecords;
  readonly tookMs: number;
}

/** An account of a copy with everything that brings it up to date. */
export interface AccountSync {
  /** The ID of the account in the copy. */
  readonly account: string;
  /** Brings the copy up to date. */
  once(): Promise<SyncRun>;
}

/** Makes an account of the copy ready to be synced. */
export async function openAccountSync(
  { name, id, settings, plan }: ReadyAccount,
  client: Client,
  copy: Copy,
  scope: SyncScope,
  args: Args,
  io: Io,
): Promise<AccountSync> {
  const known = keyNotes(copy, settings);
  const account = await known.reading(id, () => accountOf(id, client, io));
  await copy.prepare(account, settings);
  const version = settings.apiVersion.value;
  // A copy serves v2 as well, which has the calls that v3 leaves out by default.
  const filter = version === 'v3' ? withExtensions(plan) : plan;
  const lookback = interval(args, 'lookback');
  let restarts = scope.restart === true;
  return {
    account,
    async once() {
      const bad = badRecords(args, io);
      const sink = toleratingSink(copy.sink(account), bad);
      const period = scope.period?.(contextOf(settings, io)) ?? null;
      const { line, onProgress } = watch(io, name === null ? 'sync' : `sync ${name}`);
      const from = performance.now();
      try {
        const read = () =>
          syncInto(client, restarts ? startingOver(sink) : sink, {
            filter,
            ...(period === null ? {} : { period }),
            ...(lookback === null ? {} : { lookback }),
            onError: bad.onError,
            onProgress,
            signal: io.signal,
          });
        const summary = await known.reading(account, read);
        await known.accepted(account);
        restarts = false;
        return { summary, bad, tookMs: performance.now() - from };
      } catch (error) {
        throw await withWayOut(error);
      } finally {
        line.close();
        bad.sayNames();
      }
    },
  };
}

/** Tells a copy whether the API accepts the keys of a sync. */
function keyNotes(copy: Copy, settings: Settings) {
  let isNoted = false;
  return {
    /** Reads something of the API. */
    async reading<T>(account: string | null, read: () => Promise<T>): Promise<T> {
      try {
        return await read();
      } catch (error) {
        if (codeOf(error) === 'unauthorized') {
          isNoted = false;
          await copy.noteKeys(account, settings, false);
        }
        throw error;
      }
    },
    async accepted(account: string): Promise<void> {
      if (isNoted) return;
      await copy.noteKeys(account, settings, true);
      isNoted = true;
    },
  };
}

/** A sink that forgets where the sync was. */
const startingOver = (sink: UpsertSink): UpsertSink => ({
  ...sink,
  load: async () => {
    // It also takes the account for this process.
    await sink.load();
    return null;
  },
});

/** The ID of an account: the given one, or that of its calls. */
async function accountOf(given: string | null, client: Client, io: Io): Promise<string> {
  if (given !== null && !isAccountName(given)) throw new UsageError(`--account must be ${accountNameWords}`);
  if (given !== null) return given;
  const { records } = await client.listCalls({ rows: 1, signal: io.signal });
  const id = records[0]?.acct_id;
  if (isAccountName(id)) return id;
  if (typeof id === 'string' && id !== '')
    throw new CliError(
      `the ID that the server gives the account cannot be used: it is not ${accountNameWords}`,
      {
        hints: ['set another one with --account'],
      },
    );
  throw new CliError('the account has no calls yet, so its ID is unknown', {
    hints: ['set it with --account'],
  });
}
