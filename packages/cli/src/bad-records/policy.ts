import { resolve } from 'node:path';
import { type Call, fromCall, type Version } from '@call-attribution/core';
import type { StreamOptions, UpsertSink } from '@call-attribution/node-stream';
import type { Store } from '@call-attribution/store';
import type { Args } from '../args/command.ts';
import { CliError, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { explain } from '../failure.ts';
import { type Io, say } from '../io.ts';
import { plural } from '../term/numbers.ts';
import { type DeadLetter, fingerprint, isBadRecord, letterOf } from './letter.ts';
import { letterFile } from './letter-file.ts';

/** Where calls are stored: only what it has now is asked. */
type Stored = Pick<Store, 'get'>;

/** What happens to records that cannot be read or stored, in one run of a command. */
export interface BadRecords {
  /** The option of a stream or a sync. */
  readonly onError: NonNullable<StreamOptions['onError']>;
  /** Sets a call aside that the store refused. */
  refuse(call: Call, error: unknown): void;
  /** Writes what was set aside to the file. To be awaited before the position after it is saved. */
  settle(store?: Stored): Promise<void>;
  /** These calls have been stored: what was set aside of them earlier is out of date. */
  stored(sids: readonly string[]): Promise<void>;
  /** Records that were left out or set aside. */
  readonly count: number;
  /** The file, when there is one in this run. */
  readonly path: string | null;
}

/** How the options say it, and where the file is unless `--dead-letters` names one. */
export interface BadRecordSettings {
  readonly version: Version;
  readonly account: string | null;
  /** What the file is named after. */
  readonly besides: string;
}

/** The policy of `--on-bad-record` and `--dead-letters`. */
export function badRecords(args: Args, io: Io, { version, account, besides }: BadRecordSettings): BadRecords {
  const named = args.text('dead-letters');
  const policy = args.text('on-bad-record') ?? (named === null ? 'stop' : 'file');
  if (named !== null && policy !== 'file')
    throw new UsageError(`--dead-letters goes with --on-bad-record file, not with ${policy}`);
  const shown = named ?? `${besides}.dead-letters.ndjson`;
  const file = policy === 'file' ? letterFile(resolve(io.cwd, shown), io.signal) : null;
  const waiting: DeadLetter[] = [];
  let count = 0;
  const setAside = (bytes: Uint8Array, error: unknown): void => {
    count += 1;
    if (file !== null) waiting.push(letterOf(bytes, error, { account, version, now: io.now() }));
  };
  return {
    onError:
      policy === 'stop'
        ? 'fail'
        : policy === 'skip'
          ? // Counted by the stream, which then says that the result is incomplete.
            'skip'
          : ({ bytes, error }) => setAside(bytes, error),
    refuse(call, error) {
      setAside(Buffer.from(JSON.stringify(fromCall(call, version))), error);
    },
    async settle(store) {
      if (file === null || waiting.length === 0) return;
      const letters = waiting.splice(0);
      await file.add(
        store === undefined || account === null ? letters : await withBefore(letters, store, account),
      );
    },
    async stored(sids) {
      if (file !== null && account !== null && sids.length > 0) await file.resolve(account, sids);
    },
    get count() {
      return count;
    },
    path: file === null ? null : shown,
  };
}

/** Notes what the store has now, so that a later retry does not replace something newer. */
function withBefore(letters: readonly DeadLetter[], store: Stored, account: string): Promise<DeadLetter[]> {
  return Promise.all(
    letters.map(async (letter) =>
      letter.sid === null ? letter : { ...letter, before: fingerprint(await store.get(account, letter.sid)) },
    ),
  );
}

/** A sink that goes on when the store refuses a call: that call is set aside, the others are stored. */
export function toleratingSink(
  sink: UpsertSink,
  { store, bad }: { store: Stored; bad: BadRecords },
): UpsertSink {
  return {
    ...(sink.compares ? { compares: true } : {}),
    load: () => sink.load(),
    async commit(batch) {
      await bad.settle(store);
      let { calls } = batch;
      const outcome = await sink.commit(batch).catch(async (error: unknown) => {
        // A store takes every call that it can find again.
        calls = batch.calls.filter(({ sid }) => typeof sid === 'string' && sid !== '');
        if (bad.onError === 'fail' || !isBadRecord(error) || calls.length === batch.calls.length) throw error;
        for (const call of batch.calls) if (!calls.includes(call)) bad.refuse(call, error);
        await bad.settle(store);
        return sink.commit({ ...batch, calls });
      });
      await bad.stored(calls.map(({ sid }) => sid));
      return outcome ?? undefined;
    },
  };
}

/** An error about one record names the way out; any other error stays what it is. */
export async function withWayOut(error: unknown): Promise<unknown> {
  if (!isBadRecord(error)) return error;
  const { message } = await explain(error);
  return new CliError(message, {
    cause: error,
    hints: [
      '--on-bad-record file keeps such records in a file and continues; calls retry-dead-letters tries them again',
      '--on-bad-record skip leaves them out',
    ],
  });
}

/** Says how many records are not in the result, and returns the exit status for it. */
export function sayBadRecords(bad: BadRecords, skipped: number, io: Io): number {
  if (bad.path !== null && bad.count > 0) {
    say(
      io,
      `set aside in ${bad.path}: ${plural(bad.count, 'record')} that could not be read or stored; calls retry-dead-letters tries again`,
    );
    return exitCodes.ok;
  }
  const left = Math.max(skipped, bad.count);
  if (left === 0) return exitCodes.ok;
  say(io, `INCOMPLETE: left out ${plural(left, 'record')} that could not be read or stored`);
  return exitCodes.incomplete;
}
