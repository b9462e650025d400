import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { FieldSpec } from '@call-attribution/core';
import { textOf } from '@call-attribution/core/time';
import { CheckpointError } from '@call-attribution/node-stream';
import { FileLockedError, writeWholeFile } from '@call-attribution/node-stream/files';
import { mapCalls, through } from '@call-attribution/node-stream/operators';
import type { ReceiptFacts } from '@call-attribution/node-stream/receipts';
import { fileSink } from '@call-attribution/node-stream/sinks';
import { printFilter, toFilter } from '@call-attribution/query-dsl';
import { removalsEnding } from '@call-attribution/store';
import { CliError, ClosedPipe, Interrupted, UsageError } from '../errors.ts';
import { explain, type HasOption } from '../failures.ts';
import { withWayOut } from '../input/bad-records.ts';
import { periodOfFilter, withScope } from '../input/copy-source.ts';
import type { ReadResult } from '../input/verdict.ts';
import { fileError, isSpecial } from '../io.ts';
import { type FileFormat, formOfCalls, type Target } from '../output/encode.ts';
import { bytes } from '../terminal/numbers.ts';
import type { Job, Writer } from './job.ts';

/** In which form calls are written, as the options say it. */
export interface CallsForm {
  readonly target: Target<FileFormat>;
  /** Null for all fields. */
  readonly fields: readonly FieldSpec[] | null;
  /** The options that decide what is in the file, as typed. */
  readonly typed: string;
  readonly resume: boolean;
  readonly receipt: boolean;
  /** The folder that paths start from. */
  readonly cwd: string;
  /** Which options the command has, for advice. */
  readonly has: HasOption;
  /** Takes the bytes where they go to no file: to stdout, a pipe or a device. */
  save(shown: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
}

/** Writes the calls as they are: to stdout, a pipe or a device, or to a file. */
export function callsWriter(form: CallsForm): Writer {
  const { target, cwd } = form;
  return (job) => {
    const path = target.output === null ? null : resolve(cwd, target.output);
    return path === null || isSpecial(path) ? writeStream(job, form) : writeFile(job, form, path);
  };
}

/** Nothing that is no file can be renamed into place or resumed. */
async function writeStream(
  { source, stream: options, settings, signal, onNote }: Job,
  { target, fields, receipt, resume, save }: CallsForm,
): Promise<ReadResult> {
  const shown = target.output ?? 'stdout';
  const way = `${shown} is not a file; name a file with --output`;
  if (receipt) throw new UsageError(`--receipt: ${way}`);
  if (resume) throw new UsageError(`cannot resume: ${way}`);

  const { pick, encode, check } = formOfCalls(target, fields, settings.apiVersion.value);
  const { stream, result, said } = await source.read({ ...options, check });
  for (const line of said) onNote(line);
  try {
    const chunks = through(stream, mapCalls(pick), ...encode) as AsyncIterable<Uint8Array>;
    await save(target.output ?? '-', chunks);
  } catch (error) {
    throw signal.aborted ? new Interrupted() : error;
  }

  return result;
}

/** Formats that are written from the start again, in words. */
const startingOver = new Map<string, string>([
  ['parquet', 'a Parquet'],
  ['xlsx', 'an Excel'],
]);

/**
 * Writes a file, which appears when it is complete. What was written of the API before a failure
 * stays for `--resume`, which repeats the query of the first run.
 */
async function writeFile(
  { source, filter, where, stream: options, settings, signal, onNote }: Job,
  { target, fields, typed, resume, receipt: hasReceipt, has }: CallsForm,
  path: string,
): Promise<ReadResult> {
  const { format } = target;
  const shown = target.output ?? path;
  const version = settings.apiVersion.value;
  const kind = startingOver.get(format);
  const startsOver =
    kind === undefined
      ? source.startsOver
      : `--resume: ${kind} file cannot be continued in its middle`;
  if (hasReceipt && format === 'xlsx')
    throw new UsageError('--receipt: calls verify cannot read an Excel file', [
      'write CSV, NDJSON or Parquet with a receipt',
    ]);
  if (resume && startsOver !== null)
    throw new UsageError(startsOver, [
      '--partition month writes a file a month, and the same command writes those that are missing',
    ]);

  const left = existsSync(`${path}.checkpoint`);
  if (left && !resume && startsOver === null)
    onNote(
      `starting over: what an earlier run left in ${shown}.partial is replaced; --resume continues it`,
    );

  const { apiVersion, baseUrl, secret } = settings;
  const key = apiVersion.value === 'v3' ? secret('accessKey') : null;
  const keys = [baseUrl?.value, (key ?? secret('bearerToken'))?.value];
  const request: ExportRequest = {
    filter: printFilter(filter),
    typed,
    source: createHash('sha256').update(JSON.stringify(keys)).digest('hex').slice(0, 16),
  };
  const { pick, encode, check } = formOfCalls(target, fields, version);
  let ended: Promise<ReadResult> | null = null;
  let read = request.filter;

  const about = async (accounts: readonly string[]): Promise<ReceiptFacts> => {
    const { verdict } = (await ended) as ReadResult;
    const filter = withScope(toFilter(read, { version }), verdict);
    const account = settings.account?.id;
    return {
      source: source.address,
      accounts: accounts.length > 0 || !account ? accounts : [account],
      version,
      filter: printFilter(filter),
      ...(where === null ? {} : { where }),
      ...textOf(periodOfFilter(filter)),
      fields: fields?.map(({ name }) => name) ?? null,
      verdict,
    };
  };

  const receipt = hasReceipt ? about : false;
  const sink = fileSink(path, { encode, metadata: request, resume, receipt });
  if (sink.checkpoint !== null) {
    const kept = sink.metadata as ExportRequest;
    refuseOther(kept, request, shown);
    // Relative times have moved since, and the file must hold the calls of one query.
    if (kept.filter !== read) onNote(`resuming the export of ${kept.filter}`);
    read = kept.filter;
  } else if (resume) {
    const names: string[] = await readdir(dirname(path)).catch(() => []);
    const [other] = names.filter((name) => name.endsWith('.partial'));
    let why = '';
    if (existsSync(path)) why = `${shown} is complete: `;
    else if (existsSync(`${path}.partial`)) why = `${shown}.partial has no ${shown}.checkpoint: `;
    else if (other !== undefined) why = `${other} is of another file: `;
    onNote(`${why}there is nothing to resume; reading all calls`);
  }

  try {
    const { checkpoint } = sink;
    const reading = await source.read({ ...options, check, filter: read, checkpoint });
    for (const line of reading.said) onNote(line);
    ended = reading.result;
    await through(reading.stream, mapCalls(pick)).into(sink);
  } catch (error) {
    throw await withNextStep(error, { path, shown, has, signal });
  }

  // A Parquet file has beside it who was erased, for whoever loads it.
  const removals = format === 'parquet' ? await source.removals() : null;
  if (removals === null) await rm(`${path}${removalsEnding}`, { force: true });
  else await writeWholeFile(`${path}${removalsEnding}`, removals);

  onNote(`${shown}: ${bytes((await stat(path)).size)}`);
  return ended;
}

/**
 * What an export was started with. It is kept with the checkpoint, so that `--resume` repeats
 * exactly the same query.
 */
interface ExportRequest {
  /** The filter, with relative times resolved. */
  readonly filter: string;
  /**
   * The options that decide what is in the file, as typed: `--from 7d` means the same seven days
   * when it is resumed.
   */
  readonly typed: string;
  /** A fingerprint of the server and the account, which reveals neither. */
  readonly source: string;
}

function refuseOther(kept: ExportRequest, { typed, source }: ExportRequest, shown: string): void {
  const others = [
    ...(kept.typed === typed ? [] : ['other options']),
    ...(kept.source === source ? [] : ['another URL or other keys']),
  ];
  if (others.length === 0) return;
  throw new UsageError(`cannot resume ${shown}: it was started with ${others.join(' and ')}`, [
    `it was started with: ${kept.typed}`,
    'write to another file with --output, or remove --resume to start over',
  ]);
}

/** The error with how to continue, where there is something to continue. */
async function withNextStep(
  error: unknown,
  {
    path,
    shown,
    has,
    signal,
  }: Pick<CallsForm, 'has'> &
    Pick<Job, 'signal'> & { readonly path: string; readonly shown: string },
): Promise<unknown> {
  const isLeft = existsSync(`${path}.checkpoint`);
  const hint = isLeft
    ? `to continue, run the same command with --resume; the calls so far are in ${shown}.partial`
    : 'nothing was written; run the command again';
  if (signal.aborted) return new Interrupted([hint]);
  const fault = await withWayOut(fileError(error, shown));

  // Another run writes the file, or what an earlier one left is not what is there.
  const isRefused = fault instanceof FileLockedError || fault instanceof CheckpointError;
  if (isRefused || fault instanceof ClosedPipe || !isLeft) return fault;
  const { message, exitCode, detail, hints } = explain(fault, has);
  return new CliError(message, { exitCode, detail, hints: [...hints, hint], cause: fault });
}
