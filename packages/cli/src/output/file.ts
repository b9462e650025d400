import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { writeWholeFile } from '@call-attribution/node-stream/files';
import { ClosedPipe } from '../errors.ts';
import { fileError, type Io, isSpecial, say, write } from '../io.ts';

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
  // Its failure is thrown below, whoever reads or writes it at that moment.
  stdout.on('error', () => {});
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
