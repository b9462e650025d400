import type { Version } from '@call-attribution/core';
import { day, formatNaive, parseTime, second, type TypedTime } from '@call-attribution/core/time';
import {
  applyFix,
  type Clause,
  type Filter,
  FilterSyntaxError,
  parse,
  print,
} from '@call-attribution/query-dsl';
import * as z from 'zod';
import { ToolError } from '../text/failures.ts';
import { extensionNotes } from '../text/notes.ts';

const isMinutes = (value: number): boolean => value >= 0 && value <= 100_000;

/** Arguments that choose calls: either `q`, or the others. */
export const filterShape = {
  q: z.string().max(4000).optional().describe('Filter text, instead of the next 4'),
  from: z.string().max(40).optional().describe('Start: YYYY-MM-DD[ HH:MM:SS]'),
  to: z.string().max(40).optional().describe('Last day (included) or end time (excluded)'),
  min_talk_minutes: z.number().refine(isMinutes, 'must be from 0 to 100000').optional(),
  include_call_extensions: z.boolean().optional(),
};

/** The arguments of `filterShape`. */
export interface FilterArguments {
  readonly q?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly min_talk_minutes?: number | undefined;
  readonly include_call_extensions?: boolean | undefined;
}

/** A filter that is ready to send, and the notes on it. */
export interface ChosenFilter {
  /** The canonical filter; empty when every call matches. */
  readonly text: string;
  readonly filter: Filter | undefined;
  readonly notes: readonly string[];
}

/** Makes the filter of a call. Throws an error that says what is wrong and how to fix it. */
export function chooseFilter(args: FilterArguments, version: Version): ChosenFilter {
  const { q, from, to, min_talk_minutes: minutes, include_call_extensions: extensions } = args;
  const hasParts = [from, to, minutes, extensions].some((value) => value !== undefined);
  if (q !== undefined && hasParts) throw new ToolError({ code: 'two_filters' });
  const filter = q === undefined ? fromParts(args, version) : fromText(q, version);
  const withExtensions = extensions === true || filter.clauses.some((clause) => clause.kind === 'flag');
  return {
    text: print(filter),
    filter: filter.clauses.length === 0 ? undefined : filter,
    notes: extensionNotes(version, withExtensions),
  };
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

function fromParts(args: FilterArguments, version: Version): Filter {
  const start = args.from === undefined ? undefined : startOf('from', args.from);
  const end = args.to === undefined ? undefined : endOf('to', args.to);
  if (start !== undefined && end !== undefined && start >= end) {
    throw new ToolError({ code: 'empty_range', start, end });
  }
  const clauses: Clause[] = [];
  if (start !== undefined || end !== undefined) {
    clauses.push({
      kind: 'range',
      field: 'date_added',
      lower: start === undefined ? null : { text: start, inclusive: true },
      upper: end === undefined ? null : { text: end, inclusive: false },
    });
  }
  if (args.min_talk_minutes !== undefined) {
    // The API counts in tenths of a minute. Rounded up, so that no shorter call matches.
    const text = String(Math.ceil(Number((args.min_talk_minutes * 10).toFixed(6))) / 10);
    clauses.push({ kind: 'range', field: 'talk_minutes', lower: { text, inclusive: true }, upper: null });
  }
  if (args.include_call_extensions === true && version === 'v3') {
    clauses.push({ kind: 'flag', field: 'inc_gce' });
  }
  return { clauses };
}

function readTime(argument: string, text: string): TypedTime {
  const time = parseTime(text);
  // The API counts in seconds: it would cut off a fraction and match more calls than the agent meant.
  if (time !== null && time.millis % second === 0) return time;
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text.trim());
  throw new ToolError({ code: 'invalid_time', argument, hasZone });
}

/** The first moment of a start, as the API writes times. */
function startOf(argument: string, text: string): string {
  return formatNaive(readTime(argument, text).millis);
}

/** The first moment after an end: a day is included as a whole, so its end is the start of the next day. */
function endOf(argument: string, text: string): string {
  const { millis, isWholeDay } = readTime(argument, text);
  return formatNaive(isWholeDay ? millis + day : millis);
}
