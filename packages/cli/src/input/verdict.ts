import type { Call, Client } from '@call-attribution/core';
import {
  type CallStream,
  type CallStreamOptions,
  createCallStream,
  describeVerdict,
  type Progress,
  type Verdict,
} from '@call-attribution/node-stream';
import { type CopyVerdict, describeScope } from '@call-attribution/node-stream/copies';
import { exitCodes } from '../errors.ts';
import { type Io, say } from '../io.ts';
import { count, plural } from '../terminal/numbers.ts';
import { type ProgressLine, progressLine } from '../terminal/waiting.ts';

/** A progress line, and the callback of a stream that updates it. */
export function watch(
  io: Io,
  label: string,
): { line: ProgressLine; onProgress: (progress: Progress) => void } {
  const line = progressLine(io, label);
  const onProgress = (progress: Progress): void => line.update({ ...progress, note: '' });
  return { line, onProgress };
}

/** All calls of a copy that match were read. */
export interface CopyEnding {
  /** `short`: some were left out. */
  readonly proof: 'whole' | 'short';
  /** How many calls there were. */
  readonly calls: number;
  /** How many were left out, because the format has no form for them. */
  readonly leftOut: number;
  /** How many the copy has of the accounts, whether they match or not. */
  readonly held: number;
  /** What is proved of the copy of each account. */
  readonly copies: readonly Pick<CopyVerdict, 'proof' | 'gaps' | 'only'>[];
}

/** How a reading ended. */
export type Ending = Verdict | CopyEnding;

/** Calls, and how the reading of them ended. */
export interface Reading {
  readonly stream: AsyncIterable<Call>;
  readonly verdict: Promise<Ending>;
}

/** Reads the API. What fails reaches whoever reads the stream, and not the verdict. */
export function readCalls(
  client: Client,
  options: CallStreamOptions,
): { stream: CallStream; verdict: Promise<Verdict> } {
  const stream = createCallStream(client, options);
  const verdict = new Promise<Verdict>((resolve) => {
    stream.once('close', () => void stream.verdict.then(resolve, () => {}));
  });
  return { stream, verdict };
}

/** Whether all calls were read, in one sentence. */
export function verdictText(verdict: Ending): string {
  // Which calls a server has is said by its source, also where a command has no verdict.
  if (!('held' in verdict)) return describeVerdict({ ...verdict, only: [] });
  const { calls, held, leftOut, copies } = verdict;
  const scope = describeScope({ only: copies.flatMap(({ only }) => only) });
  const only = scope === null ? '' : `; it has ${scope}`;
  if (leftOut > 0)
    return `INCOMPLETE: ${plural(calls, 'call')} of ${count(held)} in the store; ${plural(leftOut, 'call')} could not be written and ${leftOut === 1 ? 'was' : 'were'} left out${only}`;
  if (calls === held) return `complete: ${plural(calls, 'call')}, all that the store has${only}`;
  return `complete: ${plural(calls, 'call')} of ${count(held)} in the store, all that match${only}`;
}

/** Reports the verdict and returns the exit status for it. */
export function judge(verdict: Ending, io: Io): number {
  say(io, verdictText(verdict));
  return verdict.proof === 'whole' ? exitCodes.ok : exitCodes.incomplete;
}
