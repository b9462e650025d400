import { day, formatNaive, parseNaive } from '@call-attribution/core/time';
import {
  allOf,
  applyFix,
  type Clause,
  type Filter,
  type Problem,
  safeParse,
} from '@call-attribution/query-dsl';
import type { Args } from '../args/command.ts';
import { type Clock, readDayOrMonth, readTime } from '../args/time.ts';
import { UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';

/** How the options are read: the clock for relative times, the version for the fields there are. */
export interface FilterContext extends Clock {
  readonly version: 'v2' | 'v3';
}

/** A half-open range of time, as the API writes times; an open end is null. */
export interface TimeRange {
  readonly from: string | null;
  readonly to: string | null;
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
  const { version } = context;
  const clauses: Clause[] = [];
  const { from: begin, to } = rangeOf(args, context);
  const from = begin !== null && sheet ? daysBefore(begin, sheet.history) : begin;
  if (from !== null || to !== null) clauses.push(range('date_added', from, to));
  if (args.number('min-talk') !== null && !sheet)
    clauses.push(range('talk_minutes', args.text('min-talk'), null));
  const text = args.text('q');
  const typed = text === null ? { clauses: [] } : readFilter(text, version);
  const filter = allOf(typed, { clauses });
  if (!args.flag('include-extensions')) return filter;
  if (version === 'v2')
    throw new UsageError('v2 always includes calls through call extensions; remove --include-extensions');
  return withExtensions(filter);
}

function daysBefore(time: string, days: number): string {
  return formatNaive(parseNaive(time) - days * day);
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
  throw filterProblem(read.problem, text);
}

/** The error for a mistake in a filter: a caret under the place and, where there is one, the corrected filter. */
export function filterProblem(problem: Problem, text: string | null): UsageError {
  const fixed = text === null ? undefined : applyFix(text, problem);
  const hints = fixed === undefined ? [] : [`try --q '${fixed}'`];
  return new UsageError(`the filter has a mistake. ${problem.message}`, { detail: problem.frame, hints });
}

/** The range of time that the options describe. */
export function rangeOf(args: Args, clock: Clock): TimeRange {
  const on = args.text('on');
  const [from, to] = (['from', 'to'] as const).map((name) => {
    const text = args.text(name);
    return text === null ? null : readTime(text, `--${name}`, clock);
  }) as [string | null, string | null];
  if (on !== null) {
    if (from !== null || to !== null)
      throw new UsageError('--on is a whole day or month; remove --from and --to');
    return readDayOrMonth(on, clock);
  }
  if (from !== null && to !== null && from >= to) {
    throw new UsageError(`the time range is empty: it starts at ${from} and ends before ${to}`, {
      hints: ['--to itself is not included; for one whole day use --on 2026-11-20'],
    });
  }
  return { from, to };
}

/** The filter, with calls through call extensions included. v3 leaves them out by default. */
export function withExtensions(filter: Filter): Filter {
  if (hasExtensions(filter)) return filter;
  return { clauses: [...filter.clauses, { kind: 'flag', field: 'inc_gce' }] };
}

/** Whether the API leaves out calls through call extensions. */
export function leavesExtensions(filter: Filter, version: 'v2' | 'v3'): boolean {
  return version === 'v3' && !hasExtensions(filter);
}

function hasExtensions({ clauses }: Filter): boolean {
  return clauses.some(({ kind }) => kind === 'flag');
}

/** Reports what v3 leaves out by default, so that nobody takes the rest for everything. */
export function sayExtensions(filter: Filter, version: 'v2' | 'v3', io: Io): void {
  if (leavesExtensions(filter, version))
    say(io, 'calls through call extensions are not included; add --include-extensions to include them');
}
