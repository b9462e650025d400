import type { Version } from '@call-attribution/core';
import { type Clause, type Filter, FilterSyntaxError, parse, print } from '@call-attribution/query-dsl';
import * as z from 'zod';
import { argumentError } from './tool-error.ts';
import { endOf, startOf } from './when.ts';

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

/** A filter ready to send, and what has to be said about it. */
export interface ChosenFilter {
  /** Canonical text; empty when every call is wanted. */
  readonly text: string;
  readonly filter: Filter | undefined;
  readonly notes: readonly string[];
}

/** Makes the filter of a call, or says what is wrong with it and how to mend it. */
export function chooseFilter(args: FilterArguments, version: Version): ChosenFilter {
  const { q, from, to, min_talk_minutes: minutes, include_call_extensions: extensions } = args;
  const flat = [from, to, minutes, extensions].some((value) => value !== undefined);
  if (q !== undefined && flat) {
    throw argumentError(
      'q was given together with from, to, min_talk_minutes or include_call_extensions.',
      'Put everything into q, or leave q out.',
    );
  }
  const notes: string[] = [];
  const filter = q === undefined ? fromParts(args, version, notes) : fromText(q, version);
  const withExtensions = filter.clauses.some((clause) => clause.kind === 'flag');
  if (version === 'v3' && !withExtensions) {
    notes.push('Call extensions are left out; include_call_extensions=true adds them.');
  }
  return { text: print(filter), filter: filter.clauses.length === 0 ? undefined : filter, notes };
}

function fromText(q: string, version: Version): Filter {
  if (q.trim() === '') return { clauses: [] };
  try {
    return parse(q, { version });
  } catch (error) {
    if (!(error instanceof FilterSyntaxError)) throw error;
    throw argumentError(`q does not parse. ${error.message}\n${error.frame}`, nextFor(error));
  }
}

function nextFor(error: FilterSyntaxError): string {
  const [suggestion] = error.suggestions;
  const hint = suggestion === undefined ? '' : `Try "${suggestion}". `;
  return `${hint}check_filter explains q and mends what it can; calls://filters has the grammar.`;
}

function fromParts(args: FilterArguments, version: Version, notes: string[]): Filter {
  const start = args.from === undefined ? undefined : startOf('from', args.from);
  const end = args.to === undefined ? undefined : endOf('to', args.to);
  if (start !== undefined && end !== undefined && start >= end) {
    throw argumentError(
      `The range is empty: it starts at ${start} and ends before ${end}.`,
      'Give a "to" after "from".',
    );
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
    // The API counts in tenths of a minute. Up, since a shorter call is not at least as long as was asked.
    const text = String(Math.ceil(Number((args.min_talk_minutes * 10).toFixed(6))) / 10);
    clauses.push({ kind: 'range', field: 'talk_minutes', lower: { text, inclusive: true }, upper: null });
  }
  if (args.include_call_extensions === true) {
    if (version === 'v3') clauses.push({ kind: 'flag', field: 'inc_gce' });
    else notes.push('v2 of the API has no switch for call extensions; it lists them anyway.');
  }
  return { clauses };
}
