import { createReadStream, existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Call } from '@call-attribution/core';
import { lockFile, readLines, strangeFile, writeWholeFile } from '@call-attribution/node-stream/files';
import { fileSink } from '@call-attribution/node-stream/sinks';
import { CliError, Interrupted } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { explain } from '../failures/explain.ts';
import { fileError, say } from '../io.ts';
import { withWayOut } from '../reading/bad-records.ts';
import type { Source } from '../reading/source.ts';
import { whileWaiting } from '../term/waiting.ts';
import { encodingOf } from './encode.ts';
import { type CompleteRead, exportToFile, type FileExport, type FileTarget } from './file.ts';
import { receiptMaker } from './receipt.ts';
import { sameRequest } from './request.ts';

/**
 * Writes the calls of the API to a Parquet file. It cannot be written in parts, so the rows are first collected in an NDJSON file
 * next to it, which stays until the Parquet file is there: `--resume` continues wherever an earlier run has stopped.
 */
export async function exportToParquet(
  source: Pick<Source, 'read'>,
  target: FileTarget,
  set: FileExport,
): Promise<CompleteRead> {
  const { request, resume, io } = set;
  const rows: FileTarget = {
    ...target,
    path: `${target.path}.rows`,
    shown: `${target.shown}.rows`,
    format: 'ndjson',
  };
  const note = `${rows.path}.read`;
  // Between the rows and the conversion no sink holds a lock.
  const unlock = await lockFile(`${target.path}.export.lock`).catch((error: unknown) => {
    throw fileError(error, target.shown);
  });
  try {
    let read = resume ? await readBefore(rows, note) : null;
    if (read !== null) {
      sameRequest(read.request, request, target.shown);
      say(io, `all calls were read before; writing ${target.shown}`);
    } else {
      await rm(note, { force: true });
      // Noted before the rows get their name: whoever finds them knows that they are all there.
      const onRead = (whole: CompleteRead) => writeWholeFile(note, JSON.stringify(whole));
      read = await exportToFile(source, rows, { ...set, receipt: null }, onRead);
    }
    await convert(rows, target, read, set);
    for (const path of [rows.path, note]) await rm(path, { force: true });
    return read;
  } finally {
    await unlock();
  }
}

/** What an earlier run has read to the end, but not written; null when there is nothing of that kind. */
async function readBefore(rows: FileTarget, note: string): Promise<CompleteRead | null> {
  if (!existsSync(rows.path) || !existsSync(note)) return null;
  for (const path of [rows.path, note]) {
    const strange = strangeFile(path);
    if (strange !== null)
      throw new CliError(`${path} ${strange}, so it is not what an earlier run has read`, {
        exitCode: exitCodes.output,
        hints: ['remove it, and run the command without --resume'],
      });
  }
  return JSON.parse(await readFile(note, 'utf8'));
}

async function convert(
  rows: FileTarget,
  { path, shown }: FileTarget,
  read: CompleteRead,
  { format, receipt, io }: FileExport,
): Promise<void> {
  const hint = `all calls were read and are in ${rows.shown}; to write ${shown}, run the same command with --resume`;
  const encode = encodingOf({ format: 'parquet', gzip: false }, format);
  const sink = fileSink(path, { encode, receipt: receiptMaker(receipt, read) });
  try {
    await whileWaiting(`writing ${shown}`, () =>
      pipeline(Readable.from(callsIn(rows.path)), sink, { signal: io.signal }),
    );
  } catch (error) {
    if (io.signal.aborted) throw new Interrupted([hint]);
    const { message, exitCode, detail, hints } = await explain(await withWayOut(fileError(error, shown)));
    throw new CliError(message, { exitCode, detail, hints: [...hints, hint], cause: error });
  }
}

async function* callsIn(path: string): AsyncGenerator<Call> {
  for await (const line of readLines(createReadStream(path))) yield JSON.parse(line);
}
