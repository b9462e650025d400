import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Call } from '@call-attribution/core';
import { createLineReader } from '@call-attribution/node-stream/files';
import { fileSink } from '@call-attribution/node-stream/sinks';
import { CliError, Interrupted } from '../errors.ts';
import { explain } from '../failures/explain.ts';
import { fileError } from '../io.ts';
import { withWayOut } from '../reading/bad-records.ts';
import type { Source } from '../reading/source.ts';
import { whileWaiting } from '../term/waiting.ts';
import { encodingOf } from './encode.ts';
import { type CompleteRead, exportToFile, type FileExport, type FileTarget } from './file.ts';
import { receiptMaker } from './receipt.ts';

/**
 * Writes the calls of the API to a Parquet file. It cannot be written in parts, so the rows are first collected in an NDJSON file
 * next to it: `--resume` continues that file. Once all calls are there, an interruption begins the export anew.
 */
export async function exportToParquet(
  source: Pick<Source, 'read'>,
  target: FileTarget,
  set: FileExport,
): Promise<CompleteRead> {
  const { format, receipt, io } = set;
  const { path, shown } = target;
  const rows = `${path}.rows`;
  const lines: FileTarget = { ...target, path: rows, shown: `${shown}.rows`, format: 'ndjson' };
  const read = await exportToFile(source, lines, { ...set, receipt: null });
  const encode = encodingOf({ format: 'parquet', gzip: false }, format);
  try {
    const sink = fileSink(path, { encode, receipt: receiptMaker(receipt, read) });
    await whileWaiting(`writing ${shown}`, () =>
      pipeline(Readable.from(callsIn(rows)), sink, { signal: io.signal }),
    );
  } catch (error) {
    const hint = 'run the command again; it reads all calls again';
    if (io.signal.aborted) throw new Interrupted([hint]);
    const { message, exitCode, detail, hints } = await explain(await withWayOut(fileError(error, shown)));
    throw new CliError(message, { exitCode, detail, hints: [...hints, hint], cause: error });
  } finally {
    await rm(rows, { force: true });
  }
  return read;
}

async function* callsIn(path: string): AsyncGenerator<Call> {
  let lines: string[] = [];
  const reader = createLineReader((line) => lines.push(line.toString()));
  for await (const chunk of createReadStream(path)) {
    reader.push(chunk);
    for (const line of lines) yield JSON.parse(line);
    lines = [];
  }
}
