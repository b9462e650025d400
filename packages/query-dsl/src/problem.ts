import { type FieldType, fieldsOf, type ParseOptions } from './filter.ts';

/** What the codes of problems mean, and what to do. */
export const problemCodes = {
  syntax: {
    kind: 'usage',
    means:
      'A bracket, comma, colon or word is missing or in the wrong place, or the filter is too long or has too many clauses.',
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
} as const;

/** What can be wrong with a filter. Codes are stable; messages may be reworded. */
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

/**
 * The first thing that is wrong with a filter. Offsets are UTF-16 offsets into the text that was
 * read.
 */
export interface Problem {
  /** What kind of problem it is, for programs. */
  readonly code: ProblemCode;
  /** Where it is, what was expected, what was found and what to write instead, in one line. */
  readonly message: string;
  /** Where the problem starts. */
  readonly start: number;
  /** Where it ends; equal to `start` when something is missing. */
  readonly end: number;
  /**
   * The text at this place, cut when it is long. Characters outside ASCII are written as `U+00A0`.
   */
  readonly found: string;
  /** What could be there instead: exact text, or a form such as `YYYY-MM-DD HH:MM:SS`. */
  readonly expected: readonly string[];
  /**
   * The field that was probably meant: the nearest name, or one that only the other version has.
   */
  readonly suggestions: readonly string[];
  /**
   * A change that makes the whole text a valid filter; see `applyFix`. Missing when it is not one
   * of the usual mistakes.
   */
  readonly fix?: Fix | undefined;
  /** The text with a caret under the place. */
  readonly frame: string;
}

/**
 * The text with the fix of a problem applied: a filter that parses. Undefined when the problem has
 * no fix.
 *
 * @example
 * const result = safeParse(text);
 * if (!result.ok) console.log(result.problem.message, applyFix(text, result.problem));
 */
export function applyFix(
  text: string,
  problem: { readonly fix?: Fix | undefined },
): string | undefined {
  const { fix } = problem;
  return fix && text.slice(0, fix.start) + fix.text + text.slice(fix.end);
}

/**
 * The text with a caret under the `length` characters at `start`. A long text is cut to a window
 * around the place; characters that cannot be seen are drawn as a dot, and the caret stays in line
 * below wide ones.
 */
export function drawFrame(text: string, start: number, length: number): string {
  const from = Math.max(0, start - 48);
  const draw = (a: number, b: number): string =>
    text.slice(a, b).replace(/[^ -~\u2e80-\uffff]/g, '·');
  const before = (from > 0 ? '...' : '') + draw(from, start);

  // From Hangul on, symbols aside, a character takes two cells; so does the ideographic space.
  const under = before.replace(/[^\u2e80-\uffff]/g, ' ').replace(/[^ ]/gu, '\u3000');
  const after = draw(start, from + 96);
  const dots = text.length > from + 96 ? '...' : '';
  return `${before}${after}${dots}\n${under}${'^'.repeat(Math.min(length, after.length) || 1)}`;
}

/**
 * What stopped the reader: no words yet, since a text may be read only to see whether it is a
 * filter.
 */
export interface Stop {
  readonly code: ProblemCode;
  readonly start: number;
  /** Where the wrong text ends; without it, the next word or character is wrong. */
  readonly end?: number;
  readonly expected: readonly string[];
  /** The type of the field, for the example. */
  readonly type?: FieldType;
  /** The field that was probably meant. */
  readonly suggestion?: string | undefined;
  /** The whole sentence, where "expected, found" does not say it. */
  readonly sentence?: string;
}

/** The form of a date in a filter. */
export const dateForm = 'YYYY-MM-DD HH:MM:SS';

/** What stands for a form in sentences; exact text is quoted. */
const forms: Readonly<Record<string, string>> = {
  decimal: 'a number',
  [dateForm]: `a date that exists (${dateForm})`,
};

/** A right clause of each type. */
const examples: Readonly<Record<FieldType, string>> = {
  date: 'date_added:[2026-01-01 00:00:00 TO 2026-02-01 00:00:00}',
  decimal: 'talk_minutes:[2 TO *]',
  flag: 'inc_gce:1',
};

/**
 * A problem that can be shown: where, what was expected, what was found, and the fix or an example.
 */
export function toProblem(text: string, stop: Stop, fix?: Fix): Problem {
  const { code, start, expected, suggestion, type = 'decimal', sentence } = stop;

  // A word, with the space before it; a date and its time are one.
  const word = /\s*[^\s,[\](){}"']+(?: \d\d?:[^\s,[\](){}"']*)?|\s+|[\s\S]|$/y;
  word.lastIndex = start;
  const found = stop.end === undefined ? (word.exec(text)?.[0] ?? '') : text.slice(start, stop.end);
  const shown = found === '' ? 'nothing' : quoted(visible(found));
  const fixed = applyFix(text, { fix });
  let message =
    sentence ?? `Expected ${alternatives(expected)} at position ${start}, found ${shown}.`;
  if (suggestion !== undefined && sentence === undefined)
    message = `There is no field ${shown} to filter by. Did you mean "${suggestion}"?`;
  else if (fixed !== undefined && fixed.length <= 160) message += ` Write "${fixed}".`;
  else if (sentence === undefined) message += ` For example: ${examples[type]}`;

  return {
    code,
    message,
    start,
    end: start + found.length,
    found: visible(found) || 'nothing',
    expected,
    suggestions: suggestion === undefined ? [] : [suggestion],
    fix,
    frame: drawFrame(text, start, found.length),
  };
}

const alternatives = (expected: readonly string[]): string =>
  expected
    .map((each) => forms[each] ?? quoted(each))
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1');

const quoted = (text: string): string => (text.includes('"') ? `'${text}'` : `"${text}"`);

/** What stops a reader at a name that is no field of this version. */
export function stopAtName(
  written: string,
  start: number,
  options: ParseOptions,
  meant?: string,
): Stop {
  const expected = fieldsOf(options).map(({ name }) => name);
  const place = { start, end: start + written.length, expected };
  if (meant === undefined || expected.includes(meant))
    return { code: 'unknown_field', ...place, suggestion: meant };
  const sentence = `"${meant}" works only in v3, and this filter is for v2. Leave it out, or use v3.`;
  return { code: 'unknown_field', ...place, suggestion: meant, sentence };
}

/**
 * Text that can be shown in one line: cut when it is long, with characters outside ASCII named as
 * `U+00A0`.
 */
function visible(text: string): string {
  return text
    .slice(0, 40)
    .replace(
      /[^ -~]/gu,
      (char) => `U+${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`,
    );
}
