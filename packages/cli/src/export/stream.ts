import { createWriteStream } from 'node:fs';
import type { Call } from '@call-attribution/core';
import type { CallStreamOptions } from '@call-attribution/node-stream';
import { mapCalls, through } from '@call-attribution/node-stream/operators';
import { Interrupted } from '../errors.ts';
import { fileError, type Io, write } from '../io.ts';
import type { Source } from '../reading/source.ts';
import type { Ending } from '../reading/verdict.ts';
import { encodingOf, type FormatOptions, picked } from './encode.ts';
import type { Target } from './target.ts';

/** Streams the calls to stdout, a pipe or a device, where nothing can be renamed into place or resumed. */
export async function exportToOutput(
  source: Pick<Source, 'read'>,
  target: Target,
  set: { format: FormatOptions; stream: CallStreamOptions; io: Io },
): Promise<Ending> {
  const { io, format } = set;
  const { stream, verdict } = source.read({ ...set.stream, signal: io.signal });
  const encode = encodingOf(target, format);
  const [first, ...rest] = typeof encode === 'function' ? [encode] : encode;
  const output = target.path === null ? io.stdout : createWriteStream(target.path, { flags: 'r+' });
  // A failed write is handled where it is awaited.
  output.on('error', () => {});
  try {
    const pick = mapCalls((call: Call) => picked(call, format, target.format));
    const chunks = through(stream, pick, first, ...rest) as AsyncIterable<Uint8Array>;
    for await (const chunk of chunks) await write(output, chunk, target.shown);
  } catch (error) {
    if (io.signal.aborted) throw new Interrupted();
    throw fileError(error, target.shown);
  } finally {
    if (output !== io.stdout) output.end();
  }
  return verdict;
}
