import type { Version } from '@call-attribution/core';
import { formatNaive, isTimeZone, parseNaive, second } from '@call-attribution/core/time';
import {
  applyFix,
  type Clause,
  type Filter,
  FilterSyntaxError,
  nearest,
  parse,
  printFilter,
  simplify,
} from '@call-attribution/query-dsl';
import * as z from 'zod';
import type { CallKind, Selection } from '../source/source.ts';
import { ToolError } from '../text/failures.ts';
import { extensionNotes } from '../text/notes.ts';
import type { Scope } from '../text/summaries.ts';
import { readPeriod } from './period.ts';

const isMinutes = (value: number): boolean => value >= 0 && value <= 100_000;

/** Arguments that choose calls. */
export const selectionShape = {
  from: z.string().max(40).optional().describe('YYYY-MM-DD[ HH:MM:SS], today, -28d'),
  to: z.string().max(40).optional().describe('Day included, time excluded'),
  calls: z.enum(['website', 'extensions', 'all']).optional().describe('Default website: no call extensions'),
  where: z.string().max(4000).optional(),
  time_zone: z.string().max(60).optional().describe('IANA'),
  min_talk_minutes: z.number().refine(isMinutes, 'must be from 0 to 100000').optional(),
  q: z.string().max(4000).optional().describe('API filter'),
};

/** Arguments that only a local copy can fulfill, and those that `where` makes superfluous there. */
export const withMirror = ['where', 'time_zone'];
/** See `withMirror`. */
export const withoutMirror = ['min_talk_minutes', 'q'];

/** The arguments of `selectionShape`, each optional. */
export interface SelectionArguments {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly calls?: CallKind | undefined;
  readonly where?: string | undefined;
  readonly time_zone?: string | undefined;
  readonly min_talk_minutes?: number | undefined;
  readonly q?: string | undefined;
  readonly caller?: string | undefined;
}

/** A selection, and what to say about it. */
export interface Chosen {
  readonly selection: Selection;
  /** What belongs to a cursor: everything that decides which calls there are. */
  readonly text: string;
  readonly scope: Scope;
  readonly notes: readonly string[];
}

/** Makes the selection of a call. Throws an error that says what is wrong and the nearest right thing. */
export function choose(args: SelectionArguments, version: Version, today: string): Chosen {
  const { q, from, to, min_talk_minutes: minutes, calls, where, time_zone: timeZone, caller } = args;
  const hasParts = [from, to, minutes, calls].some((value) => value !== undefined);
  if (q !== undefined && hasParts) throw new ToolError({ code: 'two_filters' });
  if (timeZone !== undefined) checkZone(timeZone);
  const filter = simplify(q === undefined ? fromParts(minutes) : fromText(q, version));
  const period = q === undefined ? readPeriod({ from, to }, today) : periodOf(filter);
  const flagged = filter.clauses.some((clause) => clause.kind === 'flag');
  const usual: CallKind = version === 'v2' || flagged ? 'all' : 'website';
  const kind = calls ?? usual;
  const clauses = filter.clauses.filter((clause) => clause.kind === 'range' && clause.field !== 'date_added');
  const selection: Selection = {
    ...period,
    calls: kind,
    clauses,
    ...(where === undefined ? {} : { where }),
    ...(caller === undefined ? {} : { caller: caller.trim() }),
    ...(timeZone === undefined ? {} : { timeZone }),
  };
  const isNarrowed = clauses.length > 0 || where !== undefined || caller !== undefined;
  return {
    selection,
    text: JSON.stringify([period.from, period.to, kind, printFilter({ clauses }), where, caller, timeZone]),
    scope: { ...period, kind, version, isNarrowed },
    notes: extensionNotes(version, kind),
  };
}

function checkZone(zone: string): void {
  if (isTimeZone(zone)) return;
  const meant = nearest(zone, Intl.supportedValuesOf('timeZone'));
  throw new ToolError({ code: 'unknown_zone', zone, nearest: meant });
}

function fromText(q: string, version: Version): Filter {
  if (q.trim() === '') return { clauses: [] };
  try {
    return parse(q, { version });
  } catch (error) {
    if (!(error instanceof FilterSyntaxError)) throw error;
    const { message, frame } = error;
    throw new ToolError({ code: 'invalid_filter', message, frame, fixed: applyFix(q, error) });
  }
}

function fromParts(minutes: number | undefined): Filter {
  if (minutes === undefined) return { clauses: [] };
  // The API counts in tenths of a minute. Rounded up, so that no shorter call matches.
  const text = String(Math.ceil(Number((minutes * 10).toFixed(6))) / 10);
  return {
    clauses: [{ kind: 'range', field: 'talk_minutes', lower: { text, inclusive: true }, upper: null }],
  };
}

/** The period of a filter as half-open bounds. */
function periodOf({ clauses }: Filter): Pick<Selection, 'from' | 'to'> {
  const range = clauses.find(
    (clause): clause is Extract<Clause, { kind: 'range' }> =>
      clause.kind === 'range' && clause.field === 'date_added',
  );
  const bound = (side: { text: string; inclusive: boolean } | null, isNext: boolean): string | null =>
    side === null ? null : isNext ? formatNaive(parseNaive(side.text) + second) : side.text;
  const { lower = null, upper = null } = range ?? {};
  return {
    from: bound(lower, lower !== null && !lower.inclusive),
    to: bound(upper, upper?.inclusive === true),
  };
}
