import { FilterArgumentError, FilterSyntaxError } from './errors.ts';
import type { Filter, FilterInput, ParseOptions } from './filter.ts';
import { fixFor } from './fix.ts';
import { type Problem, toProblem } from './problem.ts';
import { read } from './reader.ts';

/**
 * Reads a filter. Throws a `FilterSyntaxError` that says what is wrong, where, and what to write
 * instead.
 *
 * @example
 * const filter = parse('talk_minutes:[2 TO *],inc_gce:1', { version: 'v3' });
 */
export function parse(text: string, options: ParseOptions = {}): Filter {
  if (typeof text !== 'string')
    throw new FilterArgumentError(`A filter is a string, not ${typeof text}.`);
  const result = safeParse(text, options);
  if (result.ok) return result.filter;
  throw new FilterSyntaxError(result.problem);
}

/**
 * The filter of a string, a tree or a builder. A string is parsed.
 *
 * @example
 * toFilter('talk_minutes:[2 TO *]').clauses.length; // 1
 */
export function toFilter(input: FilterInput, options?: ParseOptions): Filter {
  if (typeof input === 'string') return parse(input, options);
  const filter =
    input !== null && typeof input === 'object' && 'toFilter' in input ? input.toFilter() : input;
  if (!Array.isArray(filter?.clauses))
    throw new FilterArgumentError(
      'A filter is a string such as "talk_minutes:[2 TO *]", a tree from parse, or what where(...).atLeast(2) and allOf return.',
    );

  return filter;
}

/** The result of `safeParse`: the filter, or the first problem. */
export type ParseResult =
  | { readonly ok: true; readonly filter: Filter }
  | { readonly ok: false; readonly problem: Problem };

/**
 * Reads a filter and never throws, whatever the text.
 *
 * @example
 * const result = safeParse('talk_minuts:>5');
 * if (!result.ok) console.log(result.problem.message, applyFix('talk_minuts:>5', result.problem));
 */
export function safeParse(input: string, options: ParseOptions = {}): ParseResult {
  // Callers without types may pass anything. The name of its type is then no field, and nothing
  // crashes.
  const text = typeof input === 'string' ? input : typeof input;
  const result = read(text, options);
  if (result.stop === undefined) return { ok: true, filter: result.filter };
  return { ok: false, problem: toProblem(text, result.stop, fixFor(text, options)) };
}
