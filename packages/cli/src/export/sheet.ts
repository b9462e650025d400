import { basename } from 'node:path';
import {
  createSheet,
  type LeftOutReason,
  reasonTexts,
  sheetProblemText,
} from '@call-attribution/conversions';
import { type CallStreamOptions, csvLine } from '@call-attribution/node-stream';
import type { Ending } from '../calls/reading.ts';
import type { Source } from '../calls/source.ts';
import { CliError, Interrupted } from '../errors.ts';
import { type Io, say } from '../io.ts';
import { plural } from '../term/numbers.ts';
import { saveLines } from './output.ts';
import type { SheetRequest } from './sheet-options.ts';

/** What is in the sheet, and what is not. */
export interface SheetResult {
  readonly rows: number;
  readonly leftOut: ReadonlyMap<LeftOutReason, number>;
  readonly verdict: Ending;
}

/** Reads the calls, checks the finished sheet, and only then writes it and the list of the calls that are left out. */
export async function exportSheet(
  source: Pick<Source, 'read'>,
  shown: string,
  request: SheetRequest,
  set: { stream: CallStreamOptions; io: Io },
): Promise<SheetResult> {
  const { io } = set;
  const { stream, verdict } = source.read({ ...set.stream, signal: io.signal });
  const sheet = createSheet(request.format, request.rules);
  const leftOut = new Map<LeftOutReason, number>();
  const list = [csvLine(['sid', 'date_added', 'reason', 'what it means'])];
  try {
    for await (const call of stream) {
      const reason = sheet.add(call);
      if (reason === null) continue;
      leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
      if (request.leftOut !== null)
        list.push(csvLine([call.sid, call.date_added, reason, reasonTexts[reason]]));
    }
  } catch (error) {
    if (io.signal.aborted) throw new Interrupted(['nothing was written; run the command again']);
    throw error;
  }
  // The tool would refuse a bad sheet too, but hours later and without a line number.
  const [first, ...more] = sheet.check();
  if (first) {
    const others = more.length > 0 ? ` (and ${plural(more.length, 'more problem')})` : '';
    throw new CliError(`the sheet was not written: line ${first.line}: ${sheetProblemText(first)}${others}`);
  }
  await saveLines(shown, sheet.lines(), io);
  if (request.leftOut !== null) await saveLines(request.leftOut, list, io);
  return { rows: sheet.rows, leftOut, verdict: await verdict };
}

/** Says what is in the sheet, what is left out and why, and what to know before uploading it. */
export function saySheet(
  result: SheetResult,
  { format, leftOut }: SheetRequest,
  shown: string,
  io: Io,
): void {
  const reasons = [...result.leftOut].sort(([, a], [, b]) => b - a);
  const total = reasons.reduce((sum, [, calls]) => sum + calls, 0);
  say(io, `${shown}: ${plural(result.rows, 'conversion')} for ${format.title}`);
  if (total > 0) say(io, `left out: ${plural(total, 'call')}`);
  const width = String(reasons[0]?.[1] ?? '').length;
  for (const [reason, calls] of reasons)
    say(io, `  ${String(calls).padStart(width)}  ${reason}: ${reasonTexts[reason]}`);
  if (total > 0 && leftOut === null) say(io, '  add --left-out FILE to list them one by one');
  for (const note of format.notes) say(io, `note: ${note}`);
  if (format.name === 'marin' && !/^bulkrevenueadd_.*\.txt$/.test(basename(shown)))
    say(io, 'note: rename the file to bulkrevenueadd_YYYYMMDD.txt before the FTP drop');
}
