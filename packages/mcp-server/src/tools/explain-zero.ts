import { CallsError } from '@call-attribution/core/errors';
import { type PeriodText, periodOfText } from '@call-attribution/core/time';
import type { CallSelection } from '@call-attribution/questions';
import { formatCount } from '@call-attribution/questions/chart';
import { ToolError } from '../text/failures.ts';
import { periodText } from '../text/words.ts';
import type { Chosen } from './arguments.ts';
import type { ToolContext } from './tool.ts';

/**
 * Says why there is nothing: what the period has without the conditions, and where the calls
 * nearest to it are. Without an account, and where the API does not respond any more, nobody knows
 * why; the answer holds all the same.
 */
export async function explainZero(
  { selection, scope }: Chosen,
  { without }: { readonly without: readonly string[] },
  run: ToolContext,
): Promise<readonly string[]> {
  if (without.length > 0) return [];
  return reasons(() => whyNothing(selection, scope, run), run);
}

/** Reasons, or none when they cannot be found out. */
async function reasons(
  find: () => Promise<readonly string[]>,
  { signal }: ToolContext,
): Promise<readonly string[]> {
  try {
    return await find();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CallsError || error instanceof ToolError) return [];
    throw error;
  }
}

async function whyNothing(
  selection: CallSelection,
  period: PeriodText,
  run: ToolContext,
): Promise<readonly string[]> {
  if (selection.where !== undefined) {
    const { where: _, ...rest } = selection;
    const { total, extensionsLeftOut } = await run.source.count(rest, run);
    if (total > 0)
      return [`Without the condition it would be ${formatCount(total)}: no call meets it.`];
    if (extensionsLeftOut) return [extensionsOnly(extensionsLeftOut)];
  }
  return emptyPeriod(selection, period, run);
}

/** The same of the period that an answer is compared with. */
export async function explainEmptyBefore(
  selection: CallSelection,
  period: PeriodText,
  run: ToolContext,
): Promise<readonly string[]> {
  const found = await reasons(() => emptyPeriod(selection, period, run), run);
  return found.map((note) => `Compared with nothing: ${note}`);
}

async function emptyPeriod(
  selection: CallSelection,
  period: PeriodText,
  run: ToolContext,
): Promise<readonly string[]> {
  const { where: _, calls, exclude, ...rest } = selection;
  const from = period.from ?? undefined;
  const to = period.to ?? undefined;
  if (exclude !== undefined) {
    // How many it excludes is said beside the answer.
    const { total } = await run.source.count({ ...rest, from, to, calls }, run);
    if (total > 0) return [];
  }

  const { total } = await run.source.count({ ...rest, from, to, calls: 'all' }, run);
  if (total > 0) {
    if (calls === 'all') return [];
    if (calls === 'website') return [extensionsOnly(total)];
    return [`All ${formatCount(total)} calls of the period came from a website.`];
  }

  const { before, after } = await run.source.around(periodOfText(period), run);
  const said = [
    ...(before === null ? [] : [`the last call before it is from ${before}`]),
    ...(after === null ? [] : [`the first one after it is from ${after}`]),
  ];
  const where = periodText(period.from, period.to);
  if (said.length === 0) return ['The account has no calls at all.'];
  return [`There are no calls ${where}: ${said.join(', ')}.`];
}

const extensionsOnly = (total: number): string =>
  `The period has ${formatCount(total)} calls, all through call extensions; calls="all" counts them.`;
