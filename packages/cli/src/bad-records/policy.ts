import { resolve } from 'node:path';
import { type Call, CallsError, type Version } from '@call-attribution/core';
import { scanField } from '@call-attribution/core/page';
import { fromCall } from '@call-attribution/core/record';
import {
  type DeadRecord,
  StreamError,
  type StreamOptions,
  type SyncBatch,
  type UpsertSink,
} from '@call-attribution/node-stream';
import { withoutRecords } from '@call-attribution/node-stream/copies';
import { nearest } from '@call-attribution/query-dsl/nearest';
import type { Args } from '../args/command.ts';
import { CliError, systemCode, UsageError, unfitValue } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { explain } from '../failures/explain.ts';
import { fileError, type Io, isSpecial, say } from '../io.ts';
import { plural } from '../term/numbers.ts';
import { keyOf, lineFile } from './file.ts';

/** What happens to records that cannot be read or stored, in one run of a command. */
export interface BadRecords {
  /** The option of a stream or a sync. */
  readonly onError: NonNullable<StreamOptions['onError']>;
  /** Leaves out or sets aside a call that the store refused. */
  refuse(call: Call, error: unknown): void;
  /** Writes what was set aside to the file. To be awaited before the position after it is saved. */
  settle(): Promise<void>;
  /** Records that were set aside in the file, each counted once however often it was read. */
  readonly count: number;
  /** Records that are in neither the result nor the file, when a sync counts so many that it could not read. */
  leftOut(unread: number): number;
  /** The file, when there is one in this run. */
  readonly path: string | null;
}

/** The policy of `--on-bad-record`. The file is named after `besides` unless the option names one. */
export function badRecords(
  args: Args,
  io: Io,
  { version, account, besides }: { version: Version; account: string | null; besides: string },
): BadRecords {
  const { policy, file } = readPolicy(args.text('on-bad-record') ?? 'stop');
  const shown = file ?? `${besides}.bad-records.ndjson`;
  const path = resolve(io.cwd, shown);
  if (policy === 'file' && isSpecial(path))
    throw new UsageError(`--on-bad-record file:${shown} is not a regular file`);
  const add = policy === 'file' ? lineFile(path, io.signal) : null;
  const found = new Set<string>();
  const kept = new Set<string>();
  const waiting = new Map<string, string>();
  let unreadable = 0;
  const setAside = (bytes: Uint8Array, error: unknown): void => {
    const line = {
      time: new Date(io.clock.now()).toISOString(),
      account,
      version,
      ...recordOf(bytes, error),
    };
    const key = keyOf(line);
    found.add(key);
    waiting.set(key, JSON.stringify(line));
  };
  const onError = ({ bytes, error }: DeadRecord): void => {
    unreadable += 1;
    setAside(bytes, error);
  };
  return {
    // What is skipped is counted by the stream, which then says that the result is incomplete.
    onError: policy === 'stop' ? 'fail' : policy === 'skip' ? 'skip' : onError,
    refuse: (call, error) => setAside(Buffer.from(jsonOf(fromCall(call, version))), error),
    async settle() {
      if (add === null || waiting.size === 0) return;
      const lines = new Map(waiting);
      waiting.clear();
      await add(lines).catch((error: unknown) => {
        throw fileError(error, shown);
      });
      for (const key of lines.keys()) kept.add(key);
    },
    get count() {
      return kept.size;
    },
    leftOut: (unread) => unread - unreadable + (add === null ? found.size : 0),
    path: add === null ? null : shown,
  };
}

/** `stop`, `skip`, `file` or `file:NAME`. */
function readPolicy(typed: string): {
  readonly policy: 'stop' | 'skip' | 'file';
  readonly file: string | null;
} {
  const file = /^file:(.+)$/s.exec(typed)?.[1] ?? null;
  const policy = (['stop', 'skip', 'file'] as const).find((name) => name === typed);
  if (policy !== undefined || file !== null) return { policy: policy ?? 'file', file };
  const near = nearest(typed, ['stop', 'skip', 'file']);
  throw new UsageError(`--on-bad-record cannot be ${JSON.stringify(typed)}`, {
    hints: [...(near ? [`did you mean ${near}?`] : []), 'use stop, skip, file or file:NAME'],
  });
}

/** The record as it came, and why it was set aside: a sentence without values of the record. */
function recordOf(bytes: Uint8Array, error: unknown) {
  // The words of a stream begin with the place, which the next read of the same record may not share.
  const cause = error instanceof StreamError && error.cause instanceof Error ? error.cause : error;
  const buffer = Buffer.from(bytes);
  const text = buffer.toString();
  return {
    sid: scanField(bytes, { start: 0, end: bytes.length }, 'sid') ?? null,
    code: systemCode(cause) ?? 'unreadable',
    reason: CallsError.is(cause) ? cause.summary : 'It cannot be read.',
    ...(buffer.equals(Buffer.from(text)) ? { record: text } : { recordBase64: buffer.toString('base64') }),
  };
}

/** A sink that goes on when the store refuses a call: that call is set aside, the others are stored. */
export function toleratingSink(sink: UpsertSink, bad: BadRecords): UpsertSink {
  // What is not stored must not be remembered as seen: the next run would call it the same.
  const away = new Set<string>();
  const known = ({ state, ...batch }: SyncBatch): SyncBatch => ({
    ...batch,
    state: away.size === 0 ? state : withoutRecords(state, away),
  });
  return {
    ...(sink.compares ? { compares: true } : {}),
    load: () => sink.load(),
    leavesOut: (call) => sink.leavesOut?.(call) ?? false,
    async commit(batch) {
      await bad.settle();
      try {
        return (await sink.commit(known(batch))) ?? undefined;
      } catch (error) {
        const refused = new Set(refusedBy(error));
        if (bad.onError === 'fail' || refused.size === 0) throw error;
        for (const [at, call] of batch.calls.entries()) {
          if (!refused.has(at)) continue;
          bad.refuse(call, error);
          away.add(call.sid);
        }
        await bad.settle();
        const calls = batch.calls.filter((_, at) => !refused.has(at));
        const outcome = await sink.commit(known({ ...batch, calls }));
        return outcome ? { ...outcome, refused: refused.size } : undefined;
      }
    },
  };
}

/** Which calls of a batch a store cannot take, as its error says. */
function refusedBy(error: unknown): readonly number[] {
  const given = isBadRecord(error) && error instanceof Error && 'refused' in error ? error.refused : [];
  return Array.isArray(given) ? given.filter((at) => typeof at === 'number') : [];
}

/** JSON of a value of any depth: a call may have been refused because `JSON.stringify` cannot write it. */
function jsonOf(value: unknown): string {
  const parts: string[] = [];
  // What is still to be written, the next last: text as it is, or a value.
  const left: ({ readonly text: string } | { readonly value: unknown })[] = [{ value }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if ('text' in next) {
      parts.push(next.text);
      continue;
    }
    const { value: one } = next;
    if (typeof one !== 'object' || one === null) {
      parts.push(JSON.stringify(one) ?? 'null');
      continue;
    }
    const isList = Array.isArray(one);
    const entries = Object.entries(one).filter(([, value]) => isList || value !== undefined);
    left.push({ text: isList ? ']' : '}' });
    for (const [at, [name, inner]] of [...entries.entries()].reverse()) {
      left.push(
        { value: inner },
        { text: `${at === 0 ? '' : ','}${isList ? '' : `${JSON.stringify(name)}:`}` },
      );
    }
    parts.push(isList ? '[' : '{');
  }
  return parts.join('');
}

/** Is the error about one record, so that the others could be read without it? */
function isBadRecord(error: unknown): boolean {
  const code = systemCode(error);
  if (code === 'unfit_record' || code === 'invalid_record') return true;
  // A page that is not JSON may come whole the next time; a record in a page that was proved complete will not.
  return code === 'invalid_json' && CallsError.is(error) && !error.isRetryable;
}

/** An error about one record names the way out; any other error stays what it is. */
export async function withWayOut(error: unknown): Promise<unknown> {
  if (error instanceof Error && systemCode(error) === 'unfit_value')
    // What comes after the semicolon is for programs.
    return unfitValue(error.message.split(';')[0] ?? '', error);
  if (!isBadRecord(error)) return error;
  const { message } = await explain(error);
  return new CliError(message, {
    cause: error,
    hints: [
      '--on-bad-record file keeps such records in a file and continues',
      '--on-bad-record skip leaves them out',
    ],
  });
}

/** Says how many records are not in the result of a sync that could not read so many; returns the exit status for it. */
export function sayBadRecords(bad: BadRecords, unread: number, io: Io): number {
  const left = bad.leftOut(unread);
  const what = (many: number): string => `${plural(many, 'record')} that could not be read or stored`;
  if (bad.count > 0) say(io, `set aside in ${bad.path}: ${what(bad.count)}`);
  if (left > 0) say(io, `INCOMPLETE: left out ${what(left)}`);
  return left > 0 ? exitCodes.incomplete : exitCodes.ok;
}
