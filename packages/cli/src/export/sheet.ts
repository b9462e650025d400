import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import {
  type Reason,
  readValueRules,
  reasonTexts,
  type SheetFormat,
  type SheetOptions,
  sheetFormats,
  sheetLine,
  ValueRulesError,
  valueByRules,
} from '@call-attribution/conversions';
import type { Call, Client } from '@call-attribution/core';
import type { CallStreamOptions, Verdict } from '@call-attribution/node-stream';
import type { Args } from '../args/command.ts';
import { csvLine } from '../calls/output.ts';
import { readCalls } from '../calls/reading.ts';
import { CliError, Interrupted, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say } from '../io.ts';
import { plural } from '../term/numbers.ts';
import { saveText } from './save-text.ts';

/** A sheet that was asked for: the format and what was decided for it. */
export interface SheetOrder {
  readonly format: SheetFormat;
  readonly options: SheetOptions;
  /** Where the calls that were left out are listed; null for nowhere. */
  readonly leftOut: string | null;
}

/** Reads the options of an upload sheet; what is missing is said before anything is asked of the server. */
export async function readSheetOrder(
  args: Args,
  timeZone: string | null,
  io: Io,
): Promise<SheetOrder | null> {
  const format = sheetFormats.find((known) => known.name === args.text('for'));
  if (!format) {
    for (const name of [
      'conversion-name',
      'value',
      'value-rules',
      'currency',
      'left-out',
      'min-age',
      'repeated-hour',
    ]) {
      if (args.text(name) !== null) throw new UsageError(`--${name} belongs to an upload sheet; add --for`);
    }
    return null;
  }
  for (const name of ['resume', 'format', 'columns', 'bom', 'spreadsheet-safe']) {
    if (args.flag(name)) throw new UsageError(`--${name} does not go with --for: the tool decides the sheet`);
  }
  if (timeZone === null) {
    throw new UsageError(
      `${format.title} needs a time zone: the API does not say which zone its times are in`,
      {
        hints: ['add --time-zone America/New_York (the zone of the account), or set CALLS_TIME_ZONE'],
      },
    );
  }
  const conversionName = args.text('conversion-name')?.trim() ?? '';
  if (format.needsName && !/^\S.{0,99}$/u.test(conversionName)) {
    throw new UsageError(
      `${format.title} needs --conversion-name, of at most 100 letters, spelled as in the tool`,
    );
  }
  const currency = args.text('currency');
  if (currency !== null && !/^[A-Z]{3}$/.test(currency)) {
    throw new UsageError(
      `--currency must be a code of three letters such as USD, not ${JSON.stringify(currency)}`,
    );
  }
  const value = await readValue(args, io);
  if (currency !== null && value === null)
    throw new UsageError('--currency belongs to a value; add --value or --value-rules');
  const minAge = args.number('min-age');
  const repeated = (['leave-out', 'first', 'second'] as const).find(
    (which) => which === args.text('repeated-hour'),
  );
  const leftOut = args.text('left-out');
  const to = args.text('to');
  if (leftOut !== null && to !== null && resolve(io.cwd, leftOut) === resolve(io.cwd, to))
    throw new UsageError('--to and --left-out name the same file; give the left-out calls one of their own');
  return {
    format,
    leftOut,
    options: {
      timeZone,
      conversionName,
      now: io.now().getTime(),
      ...(value ? { value } : {}),
      ...(currency === null ? {} : { currency }),
      ...(minAge === null ? {} : { minAge: minAge * 3_600_000 }),
      ...(repeated === undefined ? {} : { repeatedHour: repeated }),
    },
  };
}

async function readValue(args: Args, io: Io): Promise<SheetOptions['value'] | null> {
  const fixed = args.number('value');
  const file = args.text('value-rules');
  if (fixed !== null && file !== null) throw new UsageError('give --value or --value-rules, not both');
  if (fixed !== null) return () => fixed;
  if (file === null) return null;
  let text: string;
  try {
    text = await readFile(resolve(io.cwd, file), 'utf8');
  } catch (error) {
    throw new UsageError(`--value-rules: ${file} cannot be read`, { cause: error });
  }
  try {
    const rules = readValueRules(text, file);
    return (call) => valueByRules(call, rules);
  } catch (error) {
    throw error instanceof ValueRulesError ? new UsageError(error.message, { hints: error.hints }) : error;
  }
}

/** How a sheet came out. */
export interface SheetResult {
  readonly rows: number;
  readonly leftOut: ReadonlyMap<Reason, number>;
  readonly verdict: Verdict;
}

/** Streams the calls, writes the sheet and the list of what was left out, and proves the sheet before it gets its name. */
export async function exportSheet(
  client: Client,
  shown: string,
  order: SheetOrder,
  set: { filter: string; stream: CallStreamOptions; io: Io },
): Promise<SheetResult> {
  const { io } = set;
  const { format, options } = order;
  const leftOut = new Map<Reason, number>();
  const seen = new Set<string>();
  const aside: string[] = [csvLine(['sid', 'date_added', 'reason', 'what it means'])];
  const { stream, verdict } = readCalls(client, {
    ...set.stream,
    filter: set.filter,
    signal: io.signal,
  });
  const sheet: string[] = format.head(options).map((cells) => sheetLine(cells, format.delimiter));
  let rows = 0;
  const leave = (call: Call, reason: Reason): void => {
    leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
    if (order.leftOut !== null) aside.push(csvLine([call.sid, call.date_added, reason, reasonTexts[reason]]));
  };
  try {
    for await (const call of stream) {
      const outcome = format.row(call, options);
      if ('reason' in outcome) leave(call, outcome.reason);
      else if (seen.has(outcome.key)) leave(call, 'duplicate');
      else {
        seen.add(outcome.key);
        sheet.push(sheetLine(outcome.row, format.delimiter));
        rows++;
      }
    }
    prove(sheet, format, options);
  } catch (error) {
    if (io.signal.aborted) throw new Interrupted(['nothing was written; start again for the whole sheet']);
    throw error;
  }
  await saveText(shown, sheet, io);
  if (order.leftOut !== null) await saveText(order.leftOut, aside, io);
  return { rows, leftOut, verdict: await verdict };
}

// A sheet that its own validator refuses would be refused by the tool too, but hours later and without a line number.
function prove(sheet: readonly string[], format: SheetFormat, options: SheetOptions): void {
  const [first, ...more] = format.validate(sheet.join(''), options);
  if (!first) return;
  const others = more.length > 0 ? ` (and ${plural(more.length, 'more fault')})` : '';
  throw new CliError(`the sheet was not written: line ${first.line}: ${first.message}${others}`, {
    exitCode: exitCodes.failed,
  });
}

/** Says what is in the sheet, what is not and why, and what to know before uploading it. */
export function saySheet(result: SheetResult, order: SheetOrder, shown: string, io: Io): void {
  const left = [...result.leftOut].sort(([, a], [, b]) => b - a);
  const many = left.reduce((sum, [, calls]) => sum + calls, 0);
  say(io, `${shown}: ${plural(result.rows, 'conversion')} for ${order.format.title}`);
  if (many > 0) say(io, `left out: ${plural(many, 'call')}`);
  const width = Math.max(0, ...left.map(([, calls]) => String(calls).length));
  for (const [reason, calls] of left)
    say(io, `  ${String(calls).padStart(width)}  ${reason}: ${reasonTexts[reason]}`);
  if (many > 0 && order.leftOut === null) say(io, '  --left-out FILE lists them one by one');
  for (const note of order.format.notes) say(io, `note: ${note}`);
  if (order.format.name === 'marin' && !/^bulkrevenueadd_.*\.txt$/.test(basename(shown))) {
    say(io, 'note: rename the file to bulkrevenueadd_YYYYMMDD.txt before the FTP drop');
  }
}
