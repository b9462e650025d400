import type { Client } from '@call-attribution/core';
import {
  type CallStream,
  type CallStreamOptions,
  createCallStream,
  describe,
  type Position,
  type Progress,
  type Verdict,
} from '@call-attribution/node-stream';
import { exitCodes } from '../errors.ts';
import type { Io } from '../io.ts';
import { type ProgressLine, progressLine } from '../terminal/waiting.ts';

/** What people should know of an answer, a sentence each. Commands say it. */
export interface Remarks {
  /** All of it, in the order in which it is said. */
  readonly said: readonly string[];
  /** Of it, what the calls lack that answered: files and pages say that, too. */
  readonly lacks: readonly string[];
}

/** What reading calls came to. */
export interface ReadResult extends Remarks {
  /** These were all the calls that match: of a copy, all that it has. */
  readonly isWhole: boolean;
  /** The same in a sentence. */
  readonly text: string;
  /** What is proved of them, for a receipt: of calls of a copy, no more than of the copy. */
  readonly verdict: Verdict<Position>;
}

/** Begins a progress line with a label. */
export type Watch = (label: string) => ReturnType<typeof watch>;

/** A progress line, and the callback of a stream that updates it. */
export function watch(
  io: Pick<Io, 'stderr' | 'env'>,
  label: string,
): { line: ProgressLine; onProgress: (progress: Progress) => void } {
  const line = progressLine(io, label);
  const onProgress = (progress: Progress): void => line.update({ ...progress, note: '' });
  return { line, onProgress };
}

/** Reads the API. What fails reaches whoever reads the stream, and not the verdict. */
export function readCalls(
  client: Client,
  options: CallStreamOptions,
): { stream: CallStream; verdict: Promise<Verdict> } {
  const stream = createCallStream(client, options);
  const verdict = new Promise<Verdict>((resolve) => {
    stream.once('close', () => {
      if (stream.errored === null) resolve(stream.verdict());
    });
  });
  return { stream, verdict };
}

/** What a read of the API came to. Which calls a server has is said apart from it. */
export const resultOf = (verdict: Verdict<Position>, remarks: Remarks): ReadResult => ({
  isWhole: verdict.proof === 'whole',
  text: describe({ ...verdict, only: [] }).text,
  verdict,
  ...remarks,
});

/** The exit status of a command that has read calls. */
export const statusOf = ({ isWhole }: Pick<ReadResult, 'isWhole'>): number =>
  isWhole ? exitCodes.ok : exitCodes.incomplete;
