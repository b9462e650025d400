import { naiveAt } from '@call-attribution/core/time';
import { machineZone } from '@call-attribution/questions';
import type { Origin } from '../source/source.ts';
import { type Begun, isBegun } from '../source/unfinished.ts';
import { ToolError } from '../text/failures.ts';
import { unfinishedSentence } from '../text/summaries.ts';
import type { ToolContext } from './tool.ts';

/** The arguments of a call, what was counted of it, and the time that words such as `last month` are taken from. */
interface Resumed<Args> {
  readonly args: Args;
  readonly saved: unknown;
  readonly context: ToolContext;
}

/** The arguments of a call: those of the question that its cursor names, or its own. */
export function resumed<Args extends { readonly cursor?: string | undefined }>(
  tool: string,
  args: Args,
  context: ToolContext,
): Resumed<Args> {
  const { unfinished, timeZone = machineZone() } = context;
  // The cursors of a list are also places in it.
  if (args.cursor === undefined || (tool === 'list_calls' && !isBegun(args.cursor)))
    return { args, saved: undefined, context };
  const { at, saved, ...begun } = unfinished.find(args.cursor);
  const accounts = context.accounts.map(({ name }) => name);
  if (begun.tool !== tool || begun.accounts.toSorted().join() !== accounts.sort().join())
    throw new ToolError({ code: 'foreign_cursor' });
  refuseOthers(args, begun);
  const now = (zone = timeZone) => naiveAt(at, zone);
  return { args: begun.args as Args, saved, context: { ...context, now, clock: { now: () => at } } };
}

/** Whoever repeats arguments repeats those of the question. One that is false was left out. */
function refuseOthers(args: Readonly<Record<string, unknown>>, begun: Pick<Begun, 'args'>): void {
  for (const [name, value] of Object.entries(args))
    if (name !== 'cursor' && JSON.stringify(value) !== JSON.stringify(begun.args[name] ?? false))
      throw new ToolError({ code: 'foreign_cursor' });
}

/** What to say of an answer that is not finished, and the cursor that goes on with it. Null when it is finished. */
export function goOn(
  tool: string,
  args: Readonly<Record<string, unknown>>,
  { unfinished: found }: Origin,
  context: Pick<ToolContext, 'unfinished' | 'clock' | 'accounts'>,
): { readonly sentence: string; readonly cursor: string | undefined; readonly hasNumbers: boolean } | null {
  if (found === undefined) return null;
  const { saved, why } = found;
  const cursor = saved === undefined ? undefined : keepBegun({ tool, args, saved }, context);
  const hasNumbers = why.code === 'failed' || why.code === 'account';
  return { sentence: unfinishedSentence(found, tool, cursor), cursor, hasNumbers };
}

/** Keeps a question with the time and the accounts that it is about, and names it. */
export const keepBegun = (
  begun: Pick<Begun, 'tool' | 'args' | 'saved'>,
  { unfinished, clock, accounts }: Pick<ToolContext, 'unfinished' | 'clock' | 'accounts'>,
): string => unfinished.keep({ ...begun, accounts: accounts.map(({ name }) => name), at: clock.now() });
