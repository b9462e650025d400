import { day, formatNaive, parseNaive } from '@call-attribution/core/time';
import type { MovingPeriod } from '@call-attribution/node-stream';
import { allOf, applyFix, type Clause, type Filter, safeParse } from '@call-attribution/query-dsl';
import { type Answer, extensionsSentence } from '@call-attribution/questions';
import type { Args } from '../args.ts';
import { filterMistake, UsageError } from '../errors.ts';
import { interval } from '../interval.ts';
import { type Io, say } from '../io.ts';
import { type NaiveRange, type Present, rangeOf } from './period.ts';

/** How the options are read: the clock for relative times, the version for the fields there are. */
export interface FilterContext extends Present {
  readonly version: 'v2' | 'v3';
}

/**
 * The filter that the options describe. `--q` and the other options all apply; without any, all calls match. For an upload
 * sheet the range begins `history` days earlier, and `--min-talk` is a rule of the sheet.
 */
export function filterOf(
  args: Args,
  context: FilterContext,
  sheet: { readonly history: number } | null = null,
): Filter {
  const { from, to } = rangeOf(args, context);
  const begin = from === null || sheet === null ? from : formatNaive(parseNaive(from) - sheet.history * day);
  return withinRange(conditionsOf(args, context, sheet !== null), { from: begin, to });
}

/** What the options ask of the calls, apart from the time. */
export function conditionsOf(args: Args, { version }: FilterContext, isSheet = false): Filter {
  const text = args.text('q');
  const typed = text === null ? { clauses: [] } : readFilter(text, version);
  const talk = isSheet ? null : interval(args, 'min-talk', { min: 0 });
  // The API has tenths of a minute.
  const clauses = talk === null ? [] : [range('talk_minutes', String(Math.ceil(talk / 6_000) / 10), null)];
  const filter = allOf(typed, { clauses });
  if (!args.flag('include-extensions')) return filter;
  if (version === 'v2')
    throw new UsageError('v2 always includes calls through call extensions; remove --include-extensions');
  return withExtensions(filter, version);
}

function range(field: string, from: string | null, to: string | null): Clause {
  return {
    kind: 'range',
    field,
    lower: from === null ? null : { text: from, inclusive: true },
    upper: to === null ? null : { text: to, inclusive: false },
  };
}

function readFilter(text: string, version: 'v2' | 'v3'): Filter {
  const read = safeParse(text, { version });
  if (read.ok) return read.filter;
  const fixed = applyFix(text, read.problem);
  throw filterMistake(read.problem, fixed === undefined ? [] : [`try --q '${fixed}'`]);
}

/** The filter, and only calls in the range as well. */
export function withinRange(filter: Filter, { from, to }: NaiveRange): Filter {
  return from === null && to === null ? filter : allOf(filter, { clauses: [range('date_added', from, to)] });
}

/** The filter without its range of `date_added`. */
export const withoutTimes = ({ clauses }: Filter): Filter => ({
  clauses: clauses.filter(({ field }) => field !== 'date_added'),
});

/** The filter of a sync: as `filterOf`, but without a period that moves. */
export function steadyFilterOf(args: Args, context: FilterContext): Filter {
  return rangeOf(args, context).moves ? conditionsOf(args, context) : filterOf(args, context);
}

/** The period that the options describe, if an end of it moves with the clock. One that ends now has no end: a sync goes on. */
export function periodOf(args: Args, context: FilterContext): MovingPeriod | null {
  const { from, to, moves } = rangeOf(args, context);
  if (!moves) return null;
  return { from, to: args.flag('period') || args.flag('to') ? to : null };
}

/** The filter, with calls through call extensions included. v3 leaves them out by default, v2 always has them. */
export function withExtensions(filter: Filter, version: 'v2' | 'v3'): Filter {
  if (!leavesExtensions(filter, version)) return filter;
  return { clauses: [...filter.clauses, { kind: 'flag', field: 'inc_gce' }] };
}

/** Whether the API leaves out calls through call extensions. */
export const leavesExtensions = ({ clauses }: Filter, version: 'v2' | 'v3'): boolean =>
  version === 'v3' && !clauses.some(({ kind }) => kind === 'flag');

/** Reports what v3 leaves out by default, so that nobody takes the rest for everything. */
export function sayExtensions(filter: Filter, version: 'v2' | 'v3', io: Io): void {
  if (leavesExtensions(filter, version)) say(io, extensionsNote);
}

/** What v3 leaves out by default, where it is not known how many calls that are. */
export const extensionsNote =
  'calls through call extensions are not included; add --include-extensions to include them';

/** Says how calls through call extensions are counted, where numbers could differ because of that. */
export function sayCounted(extensions: Answer['extensions'], io: Io): void {
  const sentence = countedText(extensions);
  if (sentence !== '') say(io, sentence);
}

/** The same as a sentence; empty when there are none. */
export function countedText(extensions: Answer['extensions']): string {
  const sentence = extensionsSentence(extensions);
  return extensions.leftOut === 0 ? sentence : `${sentence} --include-extensions counts them.`;
}
