import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Call } from '@call-attribution/core';
import type { CallStreamOptions } from '@call-attribution/node-stream';
import { writeWholeFile } from '@call-attribution/node-stream/files';
import type { Ending } from '../calls/reading.ts';
import type { Source } from '../calls/source.ts';
import { ClosedPipe, Interrupted } from '../errors.ts';
import { fileError, type Io, isSpecial, say, write } from '../io.ts';
import { encodingOf, type FormatOptions, picked } from './encode.ts';
import type { Target } from './target.ts';

type Lines = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** Writes lines to a file that appears when it is complete, to a pipe or device as it is, or to stdout for `-`. */
export async function saveLines(shown: string, lines: Lines, io: Io): Promise<void> {
  if (shown === '-') {
    for await (const line of lines) await write(io.stdout, line);
    return;
  }
  const path = resolve(io.cwd, shown);
  try {
    if (isSpecial(path)) await pipeline(Readable.from(lines), createWriteStream(path, { flags: 'r+' }));
    else await writeWholeFile(path, lines);
  } catch (error) {
    throw fileError(error, shown);
  }
}

/** Runs a command with a file in the place of stdout. The file appears when the command has succeeded. */
export async function intoFile(shown: string, io: Io, run: (io: Io) => Promise<number>): Promise<number> {
  const stdout = new PassThrough();
  let failure: unknown;
  const saved = saveLines(shown, stdout, io).catch((error: unknown) => {
    failure = error;
    stdout.destroy();
  });
  try {
    const status = await run({ ...io, stdout });
    stdout.end();
    await saved;
    if (failure !== undefined) throw failure;
    say(io, `wrote ${shown}`);
    return status;
  } catch (error) {
    stdout.destroy(error instanceof Error ? error : undefined);
    await saved;
    // Where the file cannot be written, the command sees a reader that has gone.
    throw error instanceof ClosedPipe ? (failure ?? error) : error;
  }
}

/** Streams the calls to stdout, a pipe or a device, where nothing can be renamed into place or resumed. */
export async function exportToOutput(
  source: Pick<Source, 'read'>,
  target: Target,
  set: { format: FormatOptions; stream: CallStreamOptions; io: Io },
): Promise<Ending> {
  const { io, format } = set;
  const { stream, verdict } = source.read({ ...set.stream, signal: io.signal });
  const encode = encodingOf(target, format);
  const [first, ...rest] = Array.isArray(encode) ? encode : [encode];
  const output = target.path === null ? io.stdout : createWriteStream(target.path, { flags: 'r+' });
  // A failed write is handled where it is awaited.
  output.on('error', () => {});
  try {
    let chunks: AsyncIterable<Uint8Array> = first.over(
      stream.map((call: Call) => picked(call, format, target.format)),
    );
    for (const stage of rest) chunks = stage.over(chunks);
    for await (const chunk of chunks) await write(output, chunk, target.shown);
  } catch (error) {
    if (io.signal.aborted) throw new Interrupted();
    throw fileError(error, target.shown);
  } finally {
    if (output !== io.stdout) output.end();
  }
  return verdict;
}
