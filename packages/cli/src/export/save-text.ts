import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileSink } from '@call-attribution/node-stream';
import { type Io, outputError, write } from '../io.ts';
import { isSpecial } from './target.ts';

/** Writes texts to a file that appears when it is whole, to a pipe or device as it is, or to stdout for `-`. */
export async function saveText(shown: string, texts: Iterable<string>, io: Io): Promise<void> {
  if (shown === '-') {
    for (const text of texts) await write(io.stdout, text);
    return;
  }
  const path = resolve(io.cwd, shown);
  try {
    const output = isSpecial(path) ? createWriteStream(path, { flags: 'r+' }) : fileSink(path);
    await pipeline(Readable.from(texts), output);
  } catch (error) {
    throw fileFault(error, shown);
  }
}

/** A failed write names the file; anything else stays what it is. */
export function fileFault(error: unknown, shown: string): unknown {
  const isFile =
    error instanceof Error && 'syscall' in error && !('address' in error) && !('hostname' in error);
  return isFile ? outputError(error, shown) : error;
}
