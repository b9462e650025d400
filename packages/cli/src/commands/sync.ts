import type { Client } from '@call-attribution/core';
import { parseDuration } from '@call-attribution/core/time';
import { type SyncSummary, syncInto } from '@call-attribution/node-stream';
import type { Args, Handler } from '../args/command.ts';
import {
  type BadRecords,
  badRecords,
  sayBadRecords,
  toleratingSink,
  withWayOut,
} from '../bad-records/policy.ts';
import { contextOf, openClient } from '../calls/connect.ts';
import { filterOf, withExtensions } from '../calls/filter.ts';
import { watch } from '../calls/reading.ts';
import { refusePassword } from '../calls/store-url.ts';
import { pause } from '../calls/until-stopped.ts';
import { readSettings } from '../config/settings.ts';
import { CliError, Interrupted, isStoreError, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { explain } from '../failure.ts';
import { type Io, say, write } from '../io.ts';
import { count, duration } from '../term/numbers.ts';
import { chooseStore } from '../warehouse/choose.ts';
import { isWarehouseError } from '../warehouse-failure.ts';
import { openCopy } from './sync-copy.ts';

/** `calls sync`: brings a store up to date, once or repeatedly. */
export const sync: Handler = async (args, io) => {
  const every = interval(args, 'every');
  const lookback = interval(args, 'lookback');
  const settings = readSettings(args, io);
  const chosen = chooseStore(args, settings, io);
  if (chosen === null) {
    throw new UsageError('calls sync needs a store: --store sqlite:calls.db', {
      hints: [
        'or duckdb:calls.duckdb, to ask it questions',
        'or postgres://user@host/name, with the password in PGPASSWORD',
      ],
    });
  }
  if (chosen.isTyped) refusePassword(chosen.url);
  const filter = filterOf(args, contextOf(settings, io));
  const client = await openClient(settings, args, io);
  const copy = await openCopy(chosen, io).catch(async (error: unknown) => {
    await client.close();
    throw error;
  });
  try {
    const account = await accountOf(args, client, io);
    await copy.prepare(account, settings);
    // A copy serves v2 as well, which has the calls that v3 leaves out by default.
    const all = settings.apiVersion.value === 'v3' ? withExtensions(filter) : filter;
    const version = settings.apiVersion.value;
    const besides = copy.file ?? 'calls';
    const once = async (): Promise<number> => {
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
      return report(summary, { account, name: copy.name, took: performance.now() - from, bad }, args, io);
    };
    if (every === null) return await once();
    await again(once, every, io);
    return exitCodes.ok;
  } catch (error) {
    if (!io.signal.aborted) throw error;
    throw new Interrupted(['what was read so far is in the store; the next calls sync continues from there']);
  } finally {
    await copy.close();
    await client.close();
  }
};

const passing: ReadonlySet<number> = new Set([exitCodes.unreachable, exitCodes.failed]);

async function again(once: () => Promise<unknown>, every: number, io: Io): Promise<void> {
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
      say(io, `calls: ${message}; retrying in ${duration(every)}`);
      for (const hint of hints) say(io, `  → ${hint}`);
    }
    await pause(every, io.signal);
  }
}

function interval(args: Args, name: string): number | null {
  const text = args.text(name);
  if (text === null) return null;
  const length = parseDuration(text);
  if (length > 0) return length;
  throw new UsageError(
    `--${name} must be a duration such as 90s, 10m, 1h or 7d, not ${JSON.stringify(text)}`,
  );
}

async function accountOf(args: Args, client: Client, io: Io): Promise<string> {
  const given = args.text('account');
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

async function report(
  summary: SyncSummary,
  run: { account: string; name: string; took: number; bad: BadRecords },
  args: Args,
  io: Io,
): Promise<number> {
  const { account, name, took, bad } = run;
  const { new: added, changed, same, gone, pending } = summary;
  const skipped = Math.max(summary.skipped, bad.count);
  if (args.flag('json')) {
    const line = { account, ...summary, skipped, deadLetters: bad.count > 0 ? bad.path : null };
    await write(io.stdout, `${JSON.stringify(line)}\n`);
  }
  const figures = [
    `${count(added)} new`,
    `${count(changed)} changed`,
    `${count(same)} the same`,
    ...(gone > 0 ? [`${count(gone)} no longer on the server`] : []),
    ...(pending > 0 ? [`${count(pending)} not final yet`] : []),
  ];
  say(io, `${name}, account ${account}: ${figures.join(', ')} (${duration(took)})`);
  return sayBadRecords(bad, skipped, io);
}
