import { createReadStream, existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Call } from '@call-attribution/core';
import { type CallStreamOptions, CheckpointError, isMark, type Mark } from '@call-attribution/node-stream';
import { FileLockedError, lockFile, readLines, writeWholeFile } from '@call-attribution/node-stream/files';
import { type FileSink, fileSink } from '@call-attribution/node-stream/sinks';
import { type BadRecords, withWayOut } from '../bad-records/policy.ts';
import type { Ending } from '../calls/reading.ts';
import type { Source } from '../calls/source.ts';
import { CliError, ClosedPipe, Interrupted } from '../errors.ts';
import { explain } from '../failure.ts';
import { fileError, type Io, say } from '../io.ts';
import { whileWaiting } from '../term/waiting.ts';
import { encodingOf, type FormatOptions, picked } from './encode.ts';
import { type ExportRequest, sameRequest } from './request.ts';
import type { Target } from './target.ts';

/** A target that is a file. */
export interface FileTarget extends Target {
  readonly path: string;
}

/** Of the options that advice may name. */
const isOptionOfExport = (name: string): boolean => ['q', 'resume', 'rows'].includes(name);

/** Opens the file of an export. Parquet cannot be written in parts, so its rows are first collected in another file. */
export function openTarget(
  target: FileTarget,
  format: FormatOptions,
  request: ExportRequest,
  resume: boolean,
): FileSink {
  const isParquet = target.format === 'parquet';
  return fileSink(isParquet ? rowsOf(target.path) : target.path, {
    encode: encodingOf(isParquet ? { format: 'ndjson', gzip: false } : target, format),
    metadata: request,
    resume,
  });
}

const rowsOf = (path: string): string => `${path}.rows`;

/** What the incomplete file of an export is called. */
function partialOf(target: Target, name: string): string {
  return `${target.format === 'parquet' ? rowsOf(name) : name}.partial`;
}

/** Streams the calls into the open file and finishes it. What was written before a failure stays for `--resume`. */
export async function exportToFile(
  source: Pick<Source, 'read'>,
  sink: FileSink,
  target: FileTarget,
  set: {
    format: FormatOptions;
    stream: CallStreamOptions;
    request: ExportRequest;
    bad: BadRecords;
    io: Io;
  },
): Promise<Ending> {
  const { io, format, bad } = set;
  // Between its rows and its conversion the sinks hold no lock.
  const unlock = target.format === 'parquet' ? await lockExport(target) : null;
  const { stream, verdict } = source.read({
    ...set.stream,
    checkpoint: sink.checkpoint,
    marks: true,
    signal: io.signal,
  });
  try {
    if (unlock !== null) await forgetRead(rowsOf(target.path));
    await pipeline(stream, (items) => prepared(items, format, target, bad), sink).catch(async (error) => {
      const hint = `to continue, run the same command with --resume; the calls so far are in ${partialOf(target, target.shown)}`;
      if (io.signal.aborted) throw new Interrupted([hint]);
      const fault = await withWayOut(fileError(error, target.shown));
      // Nothing to continue for this run: another one writes the file, or what it left is not what is there.
      const isRefused = fault instanceof FileLockedError || fault instanceof CheckpointError;
      if (isRefused || fault instanceof ClosedPipe || !existsSync(partialOf(target, target.path)))
        throw fault;
      const { message, exitCode, detail, hints } = await explain(fault, isOptionOfExport);
      throw new CliError(message, { exitCode, detail, hints: [...hints, hint], cause: fault });
    });
    if (unlock !== null) {
      await keepRead(rowsOf(target.path), { request: set.request, verdict: await verdict });
      await toParquetFile(target, format, io);
    }
  } finally {
    await unlock?.();
  }
  return verdict;
}

async function lockExport({ path, shown }: FileTarget): Promise<() => Promise<void>> {
  try {
    return await lockFile(`${path}.export.lock`);
  } catch (error) {
    throw fileError(error, shown);
  }
}

async function* prepared(
  items: AsyncIterable<Call | Mark>,
  format: FormatOptions,
  target: Target,
  bad: BadRecords,
): AsyncGenerator<Call | Mark> {
  for await (const item of items) {
    // A resumed export does not read again what is before a mark.
    if (isMark(item)) await bad.settle();
    yield isMark(item) ? item : picked(item, format, target.format);
  }
  await bad.settle();
}

/** Kept next to the rows of an export once all of them were read. */
export interface CompleteRead {
  readonly request: ExportRequest;
  readonly verdict: Ending;
}

const readFileOf = (rows: string): string => `${rows}.read`;

/** Notes that all rows were read, so that an export that fails later need not read them again. */
export function keepRead(rows: string, read: CompleteRead): Promise<void> {
  return writeWholeFile(readFileOf(rows), JSON.stringify(read));
}

/** What was read completely by an earlier run that could not write its output; null when there is nothing of that kind. */
export async function readBefore(rows: string): Promise<CompleteRead | null> {
  if (!existsSync(rows) || !existsSync(readFileOf(rows))) return null;
  return JSON.parse(await readFile(readFileOf(rows), 'utf8')) as CompleteRead;
}

/** Forgets that rows were read, before they are read again. */
export const forgetRead = (rows: string): Promise<void> => rm(readFileOf(rows), { force: true });

/** Writes an output from rows that were read completely. They stay for `--resume` when it fails. */
export async function fromRows(rows: string, shown: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const hint = `all calls were read and are in ${shown}.rows; to write ${shown}, run the same command with --resume`;
    if (error instanceof Interrupted) throw new Interrupted([hint]);
    const { message, exitCode, detail, hints } = await explain(error);
    throw new CliError(message, { exitCode, detail, hints: [...hints, hint], cause: error });
  }
  for (const path of [rows, readFileOf(rows)]) await rm(path, { force: true });
}

/** Writes the Parquet file of an export whose rows an earlier run has read; null when there are none. */
export async function finishParquet(
  target: FileTarget,
  format: FormatOptions,
  request: ExportRequest,
  io: Io,
): Promise<Ending | null> {
  const read = target.format === 'parquet' ? await readBefore(rowsOf(target.path)) : null;
  if (read === null) return null;
  sameRequest(read.request, request, target.shown);
  say(io, `all calls were read before; writing ${target.shown}`);
  const unlock = await lockExport(target);
  try {
    await toParquetFile(target, format, io);
  } finally {
    await unlock();
  }
  return read.verdict;
}

async function toParquetFile({ path, shown }: FileTarget, format: FormatOptions, io: Io): Promise<void> {
  await fromRows(rowsOf(path), shown, async () => {
    const sink = fileSink(path, { encode: encodingOf({ format: 'parquet', gzip: false }, format) });
    try {
      await whileWaiting(`writing ${shown}`, () =>
        pipeline(Readable.from(callsIn(rowsOf(path))), sink, { signal: io.signal }),
      );
    } catch (error) {
      throw io.signal.aborted ? new Interrupted([]) : fileError(error, shown);
    }
  });
}

/** The calls in a file of NDJSON. */
export async function* callsIn(path: string): AsyncGenerator<Call> {
  for await (const line of readLines(createReadStream(path))) yield JSON.parse(line);
}

async function* pickedOf(
  calls: AsyncIterable<Call>,
  format: FormatOptions,
  target: Target,
): AsyncGenerator<Call> {
  for await (const call of calls) yield picked(call, format, target.format);
}

/** Writes calls that are read in one go to a file, which appears when it is complete. */
export async function saveCalls(
  source: Pick<Source, 'read'>,
  target: FileTarget,
  { format, stream: options, io }: { format: FormatOptions; stream: CallStreamOptions; io: Io },
): Promise<Ending> {
  const { stream, verdict } = source.read({ ...options, signal: io.signal });
  const sink = fileSink(target.path, { encode: encodingOf(target, format) });
  try {
    await pipeline(stream, (calls: AsyncIterable<Call>) => pickedOf(calls, format, target), sink);
  } catch (error) {
    if (io.signal.aborted) throw new Interrupted(['nothing was written; run the command again']);
    throw fileError(error, target.shown);
  }
  return verdict;
}
