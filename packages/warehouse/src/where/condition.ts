/** A value that a condition compares with. */
export type Literal =
  | { readonly type: 'text'; readonly text: string }
  /** A decimal number as it was written, so that nothing is rounded. */
  | { readonly type: 'number'; readonly text: string }
  | { readonly type: 'boolean'; readonly value: boolean }
  /** A naive time in milliseconds; a whole day when no time of day was given. */
  | { readonly type: 'time'; readonly millis: number; readonly isWholeDay: boolean };

/** Comparison operators. */
export type Operator = '=' | '<>' | '<' | '<=' | '>' | '>=';

/**
 * A condition as plain data. As in SQL, a comparison with a field that has no value is neither true nor false, and `not`
 * leaves it so: only `null` finds such calls.
 */
export type Condition =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Condition[] }
  | { readonly kind: 'not'; readonly part: Condition }
  | { readonly kind: 'compare'; readonly field: string; readonly operator: Operator; readonly value: Literal }
  | { readonly kind: 'in'; readonly field: string; readonly values: readonly Literal[] }
  | {
      readonly kind: 'like';
      readonly field: string;
      readonly pattern: string;
      readonly ignoreCase: boolean;
    }
  | { readonly kind: 'null'; readonly field: string }
  /** A field that is true or false by itself, such as `missed`. */
  | { readonly kind: 'flag'; readonly field: string };

/** What a condition may compare: a field, something derived from fields, or a measure. */
export interface Term {
  readonly name: string;
  readonly type: 'text' | 'number' | 'time' | 'day' | 'week' | 'month' | 'boolean';
  /** The expression that the condition is printed with. Never made from what a caller wrote. */
  readonly sql: string;
  /** What the expression of a number gives, so that it is compared without being widened. */
  readonly number?: 'whole' | 'tenths' | 'float';
  /** All values there can be. Another one is a mistake. */
  readonly values?: readonly string[] | undefined;
  /** Values that are usual. Another one is possible, and worth a warning. */
  readonly usualValues?: readonly string[] | undefined;
}

/** The terms of a condition by name. Several names may lead to one term. */
export type Vocabulary = ReadonlyMap<string, Term>;

/** Has a pattern of LIKE a backslash with nothing after it that needs one? DuckDB refuses it. */
export const hasStrayBackslash = (pattern: string): boolean => /(?<!\\)(?:\\\\)*\\(?![%_\\])/.test(pattern);

/** The last moment that a time can name: times are written with four digits of a year. */
export const latestTime = Date.parse('9999-12-31T23:59:59.999Z');
