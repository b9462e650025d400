import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Call, Client } from '@call-attribution/core';
import {
  type CallStreamOptions,
  type Encoding,
  type FileSink,
  fileSink,
  isMark,
  type Mark,
  readLines,
  type Verdict,
} from '@call-attribution/node-stream';
import { readCalls } from '../calls/reading.ts';
import { CliError, ClosedPipe, Interrupted } from '../errors.ts';
import { explain } from '../failure.ts';
import { type Io, write } from '../io.ts';
import { encodingOf, type FormatOptions, projected } from './encode.ts';
import { fileFault } from './save-text.ts';
import type { Target } from './target.ts';

/** What a file of calls was begun with; kept with its checkpoint, so that `--resume` repeats the very same query. */
export interface Order {
  /** The filter as it was understood, relative dates worked out. */
  readonly filter: string;
  /** The options as they were typed. */
  readonly typed: string;
  /** Which server and account it reads, as a mark that names neither. */
  readonly source: string;
}

/** What an unfinished export was begun with, or null when there is none. */
export function keptOrder(sink: FileSink): Order | null {
  if (sink.checkpoint === null) return null;
  return (sink.metadata as Order | null) ?? { filter: '', typed: 'options that were not kept', source: '' };
}

/** Opens the file of an export. Parquet cannot be written in parts, so its rows are first collected in another file. */
export function openTarget(
  target: Target & { path: string },
  format: FormatOptions,
  order: Order,
  resume: boolean,
): FileSink {
  const isParquet = target.format === 'parquet';
  return fileSink(isParquet ? rowsOf(target.path) : target.path, {
    encode: encodingOf(isParquet ? { ...target, format: 'ndjson', gzip: false } : target, format),
    metadata: order,
    resume,
  });
}

const rowsOf = (path: string): string => `${path}.rows`;

/** What is added to the name of the file while it is collected, for people who look for it. */
export function partialOf(target: Target, name: string): string {
  return `${target.format === 'parquet' ? rowsOf(name) : name}.partial`;
}

/** Streams the calls into the open file and finishes it. What was written before a failure stays for `--resume`. */
export async function exportToFile(
  client: Client,
  sink: FileSink,
  target: Target & { path: string },
  set: {
    format: FormatOptions;
    stream: CallStreamOptions;
    io: Io;
    goOn: string;
  },
): Promise<Verdict> {
  const { io } = set;
  const { stream, verdict } = readCalls(client, {
    ...set.stream,
    filter: (sink.metadata as Order).filter,
    checkpoint: sink.checkpoint,
    marks: true,
    signal: io.signal,
  });
  try {
    await pipeline(stream, (items) => prepared(items, set.format, target), sink);
    if (target.format === 'parquet') await toParquetFile(target.path, set.format);
  } catch (error) {
    if (io.signal.aborted) throw new Interrupted([set.goOn]);
    const fault = fileFault(error, target.shown);
    if (fault instanceof ClosedPipe || !existsSync(partialOf(target, target.path))) throw fault;
    const { message, exitCode, detail, hints } = await explain(fault);
    throw new CliError(message, { exitCode, detail, hints: [...hints, set.goOn], cause: fault });
  }
  return verdict;
}

async function* prepared(
  items: AsyncIterable<Call | Mark>,
  format: FormatOptions,
  target: Target,
): AsyncGenerator<Call | Mark> {
  for await (const item of items) yield isMark(item) ? item : projected(item, format, target.format);
}

async function toParquetFile(path: string, format: FormatOptions): Promise<void> {
  const calls = async function* (): AsyncGenerator<Call> {
    for await (const line of readLines(createReadStream(rowsOf(path)))) yield JSON.parse(line);
  };
  const encode: Encoding<Call> = encodingOf({ format: 'parquet', gzip: false }, format);
  await pipeline(Readable.from(calls()), fileSink(path, { encode }));
  await rm(rowsOf(path), { force: true });
}

/** Streams the calls to stdout, a pipe or a device: what cannot be renamed into place, and cannot be resumed. */
export async function exportToOutput(
  client: Client,
  target: Target,
  set: { filter: string; format: FormatOptions; stream: CallStreamOptions; io: Io },
): Promise<Verdict> {
  const { io } = set;
  const { stream, verdict } = readCalls(client, {
    ...set.stream,
    filter: set.filter,
    signal: io.signal,
  });
  const encode = encodingOf(target, set.format);
  const [first, ...rest] = Array.isArray(encode) ? encode : [encode];
  const output = target.path === null ? io.stdout : createWriteStream(target.path, { flags: 'r+' });
  // The error of a write is answered where it is awaited.
  output.on('error', () => {});
  try {
    let chunks: AsyncIterable<Uint8Array> = first.over(
      stream.map((call: Call) => projected(call, set.format, target.format)),
    );
    for (const stage of rest) chunks = stage.over(chunks);
    for await (const chunk of chunks) await write(output, chunk, target.shown);
  } catch (error) {
    if (io.signal.aborted) throw new Interrupted();
    throw fileFault(error, target.shown);
  } finally {
    if (output !== io.stdout) output.end();
  }
  return verdict;
}
