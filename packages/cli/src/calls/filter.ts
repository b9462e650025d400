import {
  allOf,
  applyFix,
  type Filter,
  type Problem,
  print,
  safeParse,
  toFilter,
} from '@call-attribution/query-dsl';
import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';
import { type Clock, readMoment, readSpan } from '../time/moment.ts';

/** How a command line is read: the clock for relative dates, the version for the fields there are. */
export interface FilterContext extends Clock {
  readonly version: 'v2' | 'v3';
}

/** The filter a command line asks for; one without parts means all calls. `--q` and the single options all apply. */
export function filterOf(args: Args, context: FilterContext, end: 'to' | 'until' = 'to'): Filter {
  const { version } = context;
  const parts: Filter[] = [];
  const text = args.text('q');
  if (text !== null) parts.push(readFilter(text, version));
  const { from, until } = rangeOf(args, context, end);
  if (from !== null || until !== null) {
    parts.push(toFilter(`date_added:[${from ?? '*'} TO ${until === null ? '*]' : `${until}}`}`));
  }
  const minutes = args.number('min-talk');
  if (minutes !== null) parts.push(toFilter(`talk_minutes:[${args.text('min-talk')} TO *]`));
  if (args.flag('include-extensions')) {
    if (version === 'v2') {
      throw new UsageError(
        'v2 always includes calls through call extensions; leave --include-extensions out',
      );
    }
    parts.push(toFilter('inc_gce:1'));
  }
  // Printed and read again: the parts are each right, and so is what they say together.
  return readFilter(print(allOf(...parts)), version);
}

/** Reads a filter as typed; a mistake is shown with a caret and the way out. */
function readFilter(text: string, version: 'v2' | 'v3'): Filter {
  const read = safeParse(text, { version });
  if (read.ok) return read.filter;
  throw filterProblem(read.problem, text);
}

/** The filter, with calls through call extensions taken in (v3 leaves them out unless they are asked for). */
export function withExtensions(filter: string): string {
  return filter.includes('inc_gce:1') ? filter : [filter, 'inc_gce:1'].filter(Boolean).join(',');
}

/** Whether this filter leaves out calls through call extensions. */
export function leavesExtensions(filter: string, version: 'v2' | 'v3'): boolean {
  return version === 'v3' && !filter.includes('inc_gce:1');
}

/** Says what v3 leaves out by itself, so that nobody takes the rest for all. */
export function sayExtensions(filter: string, version: 'v2' | 'v3', io: Io): void {
  if (!leavesExtensions(filter, version)) return;
  say(io, 'calls through call extensions are left out; --include-extensions takes them in');
}

/** The ends of the range of time that was asked for, as the API writes times. */
export function rangeOf(
  args: Args,
  clock: Clock,
  end: 'to' | 'until' = 'to',
): { from: string | null; until: string | null } {
  const on = args.text('on');
  const from = args.text('from');
  const to = end === 'to' ? args.text('to') : null;
  const until = args.text('until');
  if (to !== null && until !== null) throw new UsageError('--to and --until mean the same; give one of them');
  if (on !== null) {
    if (from !== null || to !== null || until !== null) {
      throw new UsageError('--on is a whole day or month; give it without --from and --until');
    }
    const span = readSpan(on, clock);
    return { from: span.from, until: span.to };
  }
  const start = from === null ? null : readMoment(from, '--from', clock);
  const typed = to ?? until;
  const stop = typed === null ? null : readMoment(typed, to === null ? '--until' : '--to', clock);
  if (start !== null && stop !== null && start >= stop) {
    throw new UsageError(`the range is empty: it begins ${start} and ends before ${stop}`, {
      hints: ['--until is not included itself; for one whole day use --on 2026-11-20'],
    });
  }
  return { from: start, until: stop };
}

/** A fault in a filter, with a caret under the place and, where there is one, the filter as it should be. */
export function filterProblem(problem: Problem, text: string | null): UsageError {
  const fixed = text === null ? undefined : applyFix(text, problem);
  const hints = fixed !== undefined && safeParse(fixed).ok ? [`try: --q '${fixed}'`] : [];
  return new UsageError(`the filter has a mistake. ${problem.message}`, { detail: problem.frame, hints });
}
