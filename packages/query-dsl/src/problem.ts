import type { OutOfRange } from './calendar.ts';
import type { FieldType } from './filter.ts';

/** What the codes of problems mean, and what to do. */
export const problemCodes = {
  limit: {
    kind: 'usage',
    means: 'The filter is too long or has too many clauses.',
    do: 'Split it into several requests.',
  },
  syntax: {
    kind: 'usage',
    means:
      'A bracket, comma, colon or word is missing or in the wrong place, or the filter is still encoded as a part of a URL.',
    do: 'Apply the fix of the problem, or write what it expects.',
  },
  unknown_field: {
    kind: 'usage',
    means: 'There is no such field, or only in the other version of the API.',
    do: 'Use one of the suggested names, or that version.',
  },
  bound: {
    kind: 'usage',
    means:
      'A bound is not a number or date that the field can have, or the lower one is above the upper one.',
    do: 'Write it in the form that the message names.',
  },
  any_value: {
    kind: 'usage',
    means: 'A warning: the range holds every value.',
    do: 'Leave the clause out, or give it a bound.',
  },
  empty_range: {
    kind: 'usage',
    means: 'A warning: no value is within the range.',
    do: 'Include one of its bounds.',
  },
  undocumented: {
    kind: 'usage',
    means: 'A warning: the bracket is not part of the documented language.',
    do: 'Use `[` and `]`.',
  },
} as const;

/** What can be wrong with a filter, or worth a warning. Codes are stable; messages may be reworded. */
export type ProblemCode = keyof typeof problemCodes;

/** A change of a string: put `text` in place of the characters from `start` to `end`. */
export interface Fix {
  /** Where the replaced characters start. */
  readonly start: number;
  /** Where they end. */
  readonly end: number;
  /** What to put in their place. */
  readonly text: string;
}

/** One thing wrong with a filter, or one warning. Offsets are UTF-16 offsets into the text that was read. */
export interface Problem {
  /** What kind of problem it is, for programs. */
  readonly code: ProblemCode;
  /** What is wrong and what to write instead, in one line. */
  readonly message: string;
  /** Where the problem starts. */
  readonly start: number;
  /** Where it ends; equal to `start` when something is missing. */
  readonly end: number;
  /** The text at this place, cut when it is long. Characters outside ASCII are written as `U+00A0`. */
  readonly found: string;
  /** What could be there instead: exact text or a form such as `YYYY-MM-DD HH:MM:SS`. Empty when it should be removed. */
  readonly expected: readonly string[];
  /** Names that are close to the name that was found. */
  readonly suggestions: readonly string[];
  /**
   * A change that makes the whole text a valid filter, other problems of the text included; see `applyFix`. Missing when
   * there is more than one way to correct the text, or none.
   */
  readonly fix?: Fix | undefined;
  /** The text with a caret under the place. */
  readonly frame: string;
}

/**
 * The text with the fix of a problem applied: a filter that parses. Undefined when the problem has no fix.
 *
 * @example
 * const result = safeParse(text);
 * if (!result.ok) console.log(result.problem.message, applyFix(text, result.problem));
 */
export function applyFix(text: string, problem: { readonly fix?: Fix | undefined }): string | undefined {
  const { fix } = problem;
  return fix && text.slice(0, fix.start) + fix.text + text.slice(fix.end);
}

/**
 * The text with a caret under the `length` characters at `start`. A long text is cut to a window around the place;
 * characters that cannot be seen are drawn as a dot, and the caret stays in line below wide ones.
 */
export function drawFrame(text: string, start: number, length: number): string {
  const from = Math.max(0, start - 48);
  const draw = (a: number, b: number): string => text.slice(a, b).replace(/[^ -~\u2e80-\uffff]/g, '·');
  const before = (from > 0 ? '...' : '') + draw(from, start);
  // From Hangul on, symbols aside, a character takes two cells; so does the ideographic space.
  const under = before.replace(/[^\u2e80-\uffff]/g, ' ').replace(/[^ ]/gu, '\u3000');
  const after = draw(start, from + 96);
  const dots = text.length > from + 96 ? '...' : '';
  return `${before}${after}${dots}\n${under}${'^'.repeat(Math.min(length, after.length) || 1)}`;
}

/** The values that a fact holds besides its place, by reason. `explain` makes a sentence of each. */
export interface Values {
  // About the whole text.
  too_long: { most: number; length: number };
  too_many_clauses: { most: number };
  still_encoded: object;
  bad_encoding: object;
  parameter_name: object;

  // Between clauses.
  stray: object;
  empty_clause: object;
  missing_comma: object;
  or: object;
  not: object;

  // A field and what follows it.
  missing_field: { names: readonly string[] };
  unknown_field: { suggestion: string | undefined; names: readonly string[] };
  other_version: { field: string };
  wrong_colon: { field: string };
  missing_range: { field: string; type: FieldType };
  flag_value: object;
  flag_range: { field: string };

  // A range.
  missing_bound: { type: FieldType };
  single_bound: { bound: string };
  wrong_to: object;
  wrong_bracket: { bracket: string };
  unclosed_range: object;
  inverted: { lower: string; upper: string };

  // A bound.
  not_a_number: object;
  number_size: { most: number };
  date_for_number: { field: string };
  not_a_date: object;
  date_with_zone: object;
  date_with_fraction: object;
  no_such_date: OutOfRange & { year: number; month: number };

  // Warnings.
  any_value: { field: string };
  empty_range: { bound: string };
  undocumented_bracket: object;
}

/** What a fact is about. */
export type Reason = keyof Values;

/** Where something is, in UTF-16 offsets. Nothing is there when `end` is `start`. */
interface Place {
  readonly start: number;
  readonly end: number;
}

/** A fact for one reason: its place in the text and the values that belong to it. No words. */
export type FactOf<R extends Reason> = { readonly reason: R } & Place & Readonly<Values[R]>;

/** One thing that is wrong, or worth a warning. */
export type Fact = { [R in Reason]: FactOf<R> }[Reason];
