import { drawFrame } from './frame.ts';

/** What can be wrong with a filter, or worth a warning. Codes are stable; messages may be reworded. */
export type ProblemCode =
  | 'not_text'
  | 'too_long'
  | 'too_many_parts'
  | 'query_prefix'
  | 'encoded'
  | 'missing_part'
  | 'unknown_field'
  | 'wrong_version'
  | 'missing_colon'
  | 'blank'
  | 'flag_value'
  | 'missing_range'
  | 'missing_bound'
  | 'keyword_case'
  | 'missing_to'
  | 'quoted'
  | 'bad_number'
  | 'bad_date'
  | 'no_such_date'
  | 'time_zone'
  | 'missing_bracket'
  | 'missing_comma'
  | 'inverted'
  | 'any_value'
  | 'empty_range'
  | 'undocumented';

/** A change that mends a problem: put `text` in place of the characters from `start` to `end`. */
export interface Fix {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** One thing wrong with a filter, or one warning. Offsets are UTF-16 offsets into the text that was read. */
export interface Problem {
  readonly code: ProblemCode;
  /** One line: what is wrong, and what to write. */
  readonly message: string;
  readonly start: number;
  readonly end: number;
  /** What stands there: the text itself, `U+00A0` for what cannot be seen, or `end of text`. */
  readonly found: string;
  readonly expected: readonly string[];
  readonly suggestions: readonly string[];
  /** Present when there is one sure way to mend it. `lenient` applies it. */
  readonly fix?: Fix | undefined;
  /** The text with a caret under the place. Drawn when read. */
  readonly frame: string;
}

/** Visible text stays as it is; a control or look-alike character becomes `U+00A0`. */
export function name(text: string): string {
  return text.replace(/[^ -~]/gu, (char) => {
    return `U+${(char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`;
  });
}

/** Text for a message: in quotes, cut when it is long. */
export function quote(text: string): string {
  if (text === '') return 'the end of the text';
  const shown = name(text.length > 40 ? `${text.slice(0, 40)}...` : text);
  return shown.startsWith('U+') ? shown : `"${shown}"`;
}

/** Makes a problem of the part of `text` from `start` to `end`. */
export function toProblem(
  text: string,
  code: ProblemCode,
  start: number,
  end: number,
  message: string,
  expected: readonly string[] = [],
  suggestions: readonly string[] = [],
  fix?: Fix,
): Problem {
  return {
    code,
    message,
    start,
    end,
    found: name(text.slice(start, Math.min(end, start + 40))) || 'end of text',
    expected,
    suggestions,
    fix,
    get frame() {
      return drawFrame(text, start, end);
    },
  };
}
