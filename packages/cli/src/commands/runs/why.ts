import {
  explainChange,
  judgeOne,
  type SheetFormatName,
  sheetFormats,
} from '@call-attribution/conversions';
import type { Call } from '@call-attribution/core';
import { day, parseNaive, periodOf, second } from '@call-attribution/core/time';
import type { Args } from '../../args.ts';
import { CliError, exitCodes, UsageError } from '../../errors.ts';
import { inPeriod, withExtensions } from '../../input/filter.ts';
import type { Source } from '../../input/source.ts';
import type { Io } from '../../io.ts';
import { openNamedLedger } from '../../uploads/ledger.ts';
import type { FilterContext } from '../typed/filter.ts';
import type { PushTool } from './push.ts';
import { readRules } from './rules.ts';

/** Why a call counts for a tool or does not. */
export interface WhyAnswer {
  /** Sentences, the first with the answer. */
  readonly lines: readonly string[];
  /** The same as data. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** A tool that a call is judged for: one that conversions are pushed to, or that of a sheet. */
type Judge = Pick<PushTool, 'tool' | 'conversionName' | 'destination' | 'checkRules'>;

/** The tool of a sheet, as the options describe it. */
export function sheetOf(args: Args): Judge {
  const format = sheetFormats[args.need('for') as SheetFormatName];
  const conversionName = args.text('conversion-name')?.trim() ?? '';
  return {
    tool: format,
    conversionName,
    destination: `${format.name} ${conversionName}`.trim(),
    checkRules() {},
  };
}

/**
 * Judges a call for `--for` as `calls sheet` or `calls push` would with the same rules. The caller's
 * earlier calls are read where the rules compare them.
 */
export async function whyOf(
  call: Call,
  source: Source,
  to: Judge,
  args: Args,
  context: FilterContext,
  io: Io,
): Promise<WhyAnswer> {
  const { tool, conversionName, destination } = to;
  const shown = args.text('ledger');
  const isNameless = conversionName === '' && tool.needsName;
  if (isNameless && shown !== null)
    throw new UsageError('--ledger needs --conversion-name, as the sheet or the push has it', [
      'a ledger keeps what was sent by the tool and the name of the conversion',
    ]);

  // Without a ledger the name decides nothing.
  const judgedAs = isNameless ? 'conversion' : conversionName;
  const { rules, history } = await readRules(args, context, tool, judgedAs, io);
  to.checkRules(rules);
  const calls = history === 0 ? [call] : await callsUpTo(call, history, source, context, io);
  const ledger = shown === null ? null : await openNamedLedger(shown, rules.now, true, io);
  try {
    const asked = shown === null ? undefined : ledger;
    const name = args.need('for');
    const judged = await judgeOne(call, calls, { name, tool, rules, destination }, asked);
    if (judged === null)
      throw new CliError(`the call ${call.sid} was not among the calls of its time`, {
        exitCode: exitCodes.incomplete,
      });

    const { change, sentAt, data } = judged;
    return { lines: explainChange(change, { tool, rules, sentAt }), data };
  } finally {
    await ledger?.close();
  }
}

/** The call, after the calls of so many days before it. */
async function callsUpTo(
  call: Call,
  days: number,
  source: Source,
  { version }: FilterContext,
  io: Io,
): Promise<Call[]> {
  const at = parseNaive(String(call.date_added));
  const period = periodOf(at - days * day, at + second);
  const filter = withExtensions(inPeriod({ clauses: [] }, period), version);
  const { stream, result } = await source.read({ filter, signal: io.signal });
  const calls: Call[] = [];
  for await (const each of stream) calls.push(each);
  const { isWhole, text } = await result;
  if (!isWhole) throw new CliError(text, { exitCode: exitCodes.incomplete });
  return calls;
}
