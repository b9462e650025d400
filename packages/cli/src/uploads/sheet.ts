import { resolve } from 'node:path';
import {
  type Changes,
  type Converted,
  conversions,
  createTally,
  type LeftOutReason,
  type Outcome,
  reasonTexts,
  SheetError,
  type SheetFormat,
  type Summary,
  sheetFormats,
  summaryLines,
  toSheet,
} from '@call-attribution/conversions';
import type { CallStreamOptions } from '@call-attribution/node-stream';
import { csvLine, toGzip } from '@call-attribution/node-stream/encoders';
import type { Args, Handler } from '../args.ts';
import { CliError, Interrupted, UsageError } from '../errors.ts';
import { exportEach, type Writer } from '../export/each.ts';
import { type FilterContext, sayExtensions, withExtensions } from '../input/filter.ts';
import type { Source } from '../input/source.ts';
import type { Ending } from '../input/verdict.ts';
import { type Io, say } from '../io.ts';
import { outputOf, saveLines } from '../output/index.ts';
import { plural } from '../terminal/numbers.ts';
import { openUploadLedger, sayChanges, type UploadLedger } from './ledger.ts';
import { readRules, type SheetRequest } from './rules.ts';

/** `calls sheet`: the upload sheet of a bid tool; for several accounts, each with its own. */
export const sheet: Handler = (args, io) => {
  const format = Object.values(sheetFormats).find(({ name }) => name === args.words[0]);
  if (format === undefined) throw new Error(`the table has a sheet that there is not: ${args.words[0]}`);
  const plan = async (args: Args, context: FilterContext, io: Io) => {
    const request = await readSheetRequest(format, args, context, io);
    return { write: sheetWriter(request), sheet: request };
  };
  return exportEach(plan, args, io);
};

const sheetWriter =
  (request: SheetRequest): Writer =>
  ({ args, calls, settings, filter, stream, io }) => {
    const version = settings.apiVersion.value;
    // Conversions are matched by caller number only for calls through extensions, which v3 leaves out by default.
    const needsExtensions = request.format.accepts.onlyExtensions;
    if (!needsExtensions) sayExtensions(filter, version, io);
    const matching = needsExtensions ? withExtensions(filter, version) : filter;
    return exportSheet(calls, outputOf(args), request, { ...stream, filter: matching }, io);
  };

/** Reads the options of an upload sheet. What is missing or wrong is reported before any request. */
async function readSheetRequest(
  format: SheetFormat,
  args: Args,
  context: FilterContext,
  io: Io,
): Promise<SheetRequest> {
  const output = args.text('output') ?? '-';
  const extension = /\.(\w+)$/.exec(output.replace(/\.gz$/, ''))?.[1]?.toLowerCase();
  if (extension !== undefined && !['csv', 'tsv', 'txt'].includes(extension))
    throw new UsageError(`--output ${output}: a sheet is a text file, and the name says another kind`, {
      hints: ['end the name in .csv, .tsv or .txt; with .gz after it the file is compressed'],
    });
  const conversionName = args.text('conversion-name')?.trim() ?? '';
  if (format.needsName && !/^\S.{0,99}$/u.test(conversionName))
    throw new UsageError(
      `--conversion-name ${conversionName === '' ? 'is missing' : 'is no name'}: it is the name of the conversion in ${format.title.replace(/,.*/, '')}, spelled as there, at most 100 characters`,
    );
  const { rules, history } = await readRules(args, context, format, conversionName, io);
  const [leftOut, ledger, isDryRun] = [args.text('left-out'), args.text('ledger'), args.flag('dry-run')];
  if (leftOut !== null && resolve(io.cwd, leftOut) === resolve(io.cwd, output))
    throw new UsageError('--output and --left-out name the same file; use two files');
  if (ledger !== null && args.text('output') === '-' && !isDryRun)
    throw new UsageError('--ledger needs a file in --output: it cannot know what became of stdout');
  return { format, rules, leftOut, ledger, isDryRun, history };
}

/** Reads the calls, says what is in the sheet and what not, checks it, and only then writes it. */
async function exportSheet(
  source: Pick<Source, 'read'>,
  shown: string,
  request: SheetRequest,
  options: CallStreamOptions,
  io: Io,
): Promise<Ending> {
  const { format, rules, isDryRun } = request;
  const ledger = request.ledger === null ? null : await openUploadLedger(request, request.ledger, shown, io);
  try {
    const { stream, verdict } = await source.read({ ...options, signal: io.signal });
    const tally = createTally();
    const left: string[] = [];
    const watched = async function* (): AsyncGenerator<Outcome> {
      for await (const outcome of conversions(stream, rules, format)) {
        tally.add(outcome);
        if ('leftOut' in outcome && request.leftOut !== null) left.push(leftOutLine(outcome));
        yield outcome;
      }
    };
    const { changes, rows } = await read(watched(), ledger, io);
    saySummary(tally.summary(), request, shown, io);
    if (changes) sayChanges(changes, request, shown, io);
    const lines = await checked(rows, request);
    if (isDryRun) {
      say(io, 'dry run: nothing was written');
      return await verdict;
    }
    if (ledger && changes) await ledger.deliver(changes);
    else await saveLines(shown, shown.endsWith('.gz') ? toGzip()(lines) : lines, io);
    if (changes && rows.length === 0) say(io, `there is nothing new to upload: ${shown} was not written`);
    if (request.leftOut !== null)
      await saveLines(
        request.leftOut,
        [csvLine(['sid', 'date_added', 'reason', 'what it means']), ...left],
        io,
      );
    const written = { sheet: rows.length > 0, adjustments: (changes?.adjust.length ?? 0) > 0 };
    sayNotes(request, written, io);
    return await verdict;
  } finally {
    await ledger?.close();
  }
}

/** The conversions to write: all of them, or those that the ledger does not have yet. */
async function read(
  outcomes: AsyncIterable<Outcome>,
  ledger: UploadLedger | null,
  io: Io,
): Promise<{ changes: Changes | null; rows: readonly Converted[] }> {
  try {
    if (ledger) {
      const changes = await ledger.changes(outcomes);
      return { changes, rows: changes.add };
    }
    const rows: Converted[] = [];
    // Without the call itself, which is much larger.
    for await (const outcome of outcomes)
      if ('conversion' in outcome) rows.push({ conversion: outcome.conversion, row: outcome.row });
    return { changes: null, rows };
  } catch (error) {
    if (io.signal.aborted) throw new Interrupted(['nothing was written; run the command again']);
    throw error;
  }
}

const leftOutLine = ({ call, leftOut }: Outcome & { readonly leftOut: LeftOutReason }): string =>
  csvLine([call.sid, call.date_added, leftOut, reasonTexts[leftOut]]);

/** The lines of the sheet. The tool would refuse a bad one too, but hours later and without a line number. */
async function checked(
  rows: readonly Converted[],
  { format, rules }: SheetRequest,
): Promise<readonly Uint8Array[]> {
  const lines: Uint8Array[] = [];
  try {
    for await (const line of toSheet(format, rules)(rows)) lines.push(line);
  } catch (error) {
    if (error instanceof SheetError) throw new CliError(`the sheet was not written: ${error.message}`);
    throw error;
  }
  return lines;
}

/** Says what is in the sheet, and what is left out and why. */
function saySummary(summary: Summary, request: SheetRequest, shown: string, io: Io): void {
  const { format, rules, leftOut, history } = request;
  const found = `${plural(summary.rows, 'conversion')} for ${format.title}`;
  say(io, request.ledger === null ? `${shown}: ${found}` : found);
  for (const line of summaryLines(summary, format, rules)) say(io, line);
  if (summary.leftOut.size > 0 && leftOut === null) say(io, '  add --left-out FILE to list them one by one');
  if (history > 0 && rules.from !== undefined)
    say(io, `callers are known from calls of ${plural(history, 'day')} before ${rules.from}`);
}

/** Says what to know before the upload. */
function sayNotes(
  { format }: SheetRequest,
  written: { readonly sheet: boolean; readonly adjustments: boolean },
  io: Io,
): void {
  if (written.sheet) for (const note of format.notes) say(io, `note: ${note}`);
  if (written.adjustments) for (const note of format.adjustments?.notes ?? []) say(io, `note: ${note}`);
}
