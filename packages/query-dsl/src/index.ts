// The filter language of the query parameter `q`: parse, print, build, explain, correct and run it.
// It has no dependency and needs no Node API, so it runs in browsers too.
// Start with `safeParse` for text and with `where` for code.

export {
  allOf,
  type BoundOf,
  type Bounds,
  type FilterBuilder,
  type RangeBuilder,
  type WithoutLower,
  type WithoutUpper,
  where,
} from './builder.ts';
export { FilterArgumentError, type FilterArgumentErrorCode, FilterSyntaxError } from './errors.ts';
export { explain } from './explain.ts';
export {
  type Bound,
  type Clause,
  type ExtraFields,
  type FieldType,
  type Filter,
  type FilterInput,
  type FlagClause,
  filterFields,
  type ParseOptions,
  type RangeClause,
  type Version,
} from './filter.ts';
export { type CallExtensions, type MatcherOptions, matcher } from './matcher.ts';
export { nearest } from './nearest.ts';
export { type ParseResult, parse, safeParse, toFilter } from './parse.ts';
export { fromQueryParam, printFilter, toQueryParam } from './print.ts';
export { applyFix, drawFrame, type Fix, type Problem, type ProblemCode } from './problem.ts';
export { simplify } from './ranges.ts';
