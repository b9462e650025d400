import { existsSync } from 'node:fs';
import type { Call } from '@call-attribution/core';
import { type CallStreamOptions, CheckpointError } from '@call-attribution/node-stream';
import { FileLockedError } from '@call-attribution/node-stream/files';
import { defineOperator, mapCalls, type Operator, through } from '@call-attribution/node-stream/operators';
import { type FileSink, fileSink } from '@call-attribution/node-stream/sinks';
import { CliError, ClosedPipe, Interrupted } from '../errors.ts';
import { explain } from '../failures/explain.ts';
import { fileError, type Io, say } from '../io.ts';
import { withWayOut } from '../reading/bad-records.ts';
import type { Source } from '../reading/source.ts';
import type { Ending } from '../reading/verdict.ts';
import { encodingOf, type FormatOptions, picked } from './encode.ts';
import { type ReceiptAbout, receiptMaker } from './receipt.ts';
import { type ExportRequest, keptRequest } from './request.ts';
import type { Target } from './target.ts';

/** A target that is a file. */
export interface FileTarget extends Target {
  readonly path: string;
}

/** How calls of the API are written to a file. */
export interface FileExport {
  readonly format: FormatOptions;
  readonly stream: CallStreamOptions;
  readonly request: ExportRequest;
  /** Continue what an earlier run has begun. */
  readonly resume: boolean;
  /** What the receipt of the file says; null when it gets none. */
  readonly receipt: ReceiptAbout | null;
  readonly io: Io;
}

/** Calls that were read to the end. */
export interface CompleteRead {
  readonly request: ExportRequest;
  readonly verdict: Ending;
  /** When the reading ended, in milliseconds since 1970. */
  readonly at: number;
}

/**
 * Writes the calls of the API to a file, which appears when it is complete. What was written before a failure stays for
 * `--resume`, which repeats the query of the first run.
 */
export async function exportToFile(
  source: Pick<Source, 'read'>,
  target: FileTarget,
  set: FileExport,
): Promise<CompleteRead> {
  const { format, request, resume, receipt, io } = set;
  const ended = whenEnded();
  if (!resume && existsSync(`${target.path}.checkpoint`))
    say(
      io,
      `starting over: what an earlier run left in ${target.shown}.partial is replaced; --resume continues it`,
    );
  const sink = fileSink(target.path, {
    encode: encodingOf(target, format),
    metadata: request,
    resume,
    receipt: receiptMaker(receipt, ended.read),
  });
  const kept = keptRequest(sink, request, target.shown);
  if (resume && !kept)
    say(
      io,
      existsSync(target.path)
        ? `${target.shown} is complete: there is nothing to resume; reading all calls again`
        : 'there is nothing to resume; starting from the beginning',
    );
  // Relative times have moved since, and the file must hold the calls of one query.
  if (kept && kept.filter !== request.filter) say(io, `resuming the export of ${kept.filter}`);
  const stream = kept === null ? set.stream : { ...set.stream, filter: kept.filter };
  const onEnd = (verdict: Ending): void =>
    ended.resolve({ request: kept ?? request, verdict, at: io.clock.now() });
  await streamInto(sink, source, target, { ...set, stream }, onEnd);
  return await ended.read;
}

/** The end of a reading, which the receipt of its file waits for. */
function whenEnded() {
  let resolve: (read: CompleteRead) => void = () => {};
  const read = new Promise<CompleteRead>((done) => {
    resolve = done;
  });
  return { read, resolve: (value: CompleteRead) => resolve(value) };
}

async function streamInto(
  sink: FileSink<Call>,
  source: Pick<Source, 'read'>,
  target: FileTarget,
  { format, stream: options, io }: FileExport,
  onEnd: (verdict: Ending) => void,
): Promise<void> {
  const { checkpoint } = sink;
  const { stream, verdict } = source.read({ ...options, checkpoint, signal: io.signal });
  const prepare: Operator<Call, Call> = defineOperator({
    name: 'prepare',
    begin: () => ({
      page: (calls) => calls.map((call) => picked(call, format, target.format)),
      async end() {
        onEnd(await verdict);
        return [];
      },
    }),
  });
  try {
    await through(stream, prepare).into(sink);
  } catch (error) {
    throw await withNextStep(error, target, io);
  }
}

/** The error with how to continue, where there is something to continue. */
async function withNextStep(error: unknown, { path, shown }: FileTarget, { signal }: Io): Promise<unknown> {
  const hint = `to continue, run the same command with --resume; the calls so far are in ${shown}.partial`;
  if (signal.aborted) return new Interrupted([hint]);
  const fault = await withWayOut(fileError(error, shown));
  // Another run writes the file, or what an earlier one left is not what is there.
  const isRefused = fault instanceof FileLockedError || fault instanceof CheckpointError;
  if (isRefused || fault instanceof ClosedPipe || !existsSync(`${path}.partial`)) return fault;
  const { message, exitCode, detail, hints } = await explain(fault, isOptionOfExport);
  return new CliError(message, { exitCode, detail, hints: [...hints, hint], cause: fault });
}

/** Of the options that advice may name. */
const isOptionOfExport = (name: string): boolean => ['q', 'resume', 'rows'].includes(name);

/** Writes calls that are read in one go to a file, which appears when it is complete. */
export async function saveCalls(
  source: Pick<Source, 'read'>,
  target: FileTarget,
  set: Pick<FileExport, 'format' | 'stream' | 'receipt' | 'io'> & { readonly filter: string },
): Promise<Ending> {
  const { format, stream: options, receipt, filter, io } = set;
  const { stream, verdict } = source.read({ ...options, signal: io.signal });
  const read = verdict.then((verdict) => ({ request: { filter }, verdict, at: io.clock.now() }));
  const pick = mapCalls((call: Call) => picked(call, format, target.format));
  const encode = encodingOf(target, format);
  try {
    await through(stream, pick).into(fileSink(target.path, { encode, receipt: receiptMaker(receipt, read) }));
  } catch (error) {
    if (io.signal.aborted) throw new Interrupted(['nothing was written; run the command again']);
    throw fileError(error, target.shown);
  }
  return verdict;
}
