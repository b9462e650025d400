// The filter language of the query parameter `q`: parse, print, build, explain, complete and run it.
// It has no dependency and needs no Node API, so it runs in browsers too.
// Start with `safeParse` for text and with `where` for code.

export {
  allOf,
  type Build,
  type BuildOptions,
  type BuildV3,
  builderFor,
  includeCallExtensions,
  type PlainFilter,
  type Where,
  where,
} from './builder.ts';
export type {
  BoundArguments,
  DateArguments,
  DecimalArguments,
  FilterBuilder,
  RangeBuilder,
  WithoutLower,
  WithoutUpper,
} from './builder-types.ts';
export { type Completion, type Completions, complete } from './complete.ts';
export { type Diagnosis, diagnose } from './diagnose.ts';
export { type Dialect, dialects, type ExtraFields, type FieldType } from './dialects.ts';
export { FilterSyntaxError } from './error.ts';
export type { Bound, Clause, Filter, FilterLike, FlagClause, RangeClause, Version } from './filter.ts';
export { type CallExtensions, type MatcherOptions, matcher } from './matcher.ts';
export { nearest } from './nearest.ts';
export { parse, toFilter } from './parse.ts';
export { print } from './print.ts';
export { applyFix, type Fix, type Problem, type ProblemCode } from './problem.ts';
export { fromQueryParam, toQueryParam } from './query-param.ts';
export type { ParseOptions } from './read.ts';
export { type ParseResult, type SafeParseOptions, safeParse } from './safe-parse.ts';
export { simplify } from './simplify.ts';
export { type SqlColumn, type SqlCondition, type SqlOptions, type SqlValue, toSql } from './sql.ts';
export type { InZone } from './zone.ts';
