import { drawFrame } from './frame.ts';

/** What can be wrong with a filter, or worth a warning. Codes are stable; messages may be reworded. */
export type ProblemCode =
  | 'limit'
  | 'encoded'
  | 'syntax'
  | 'unknown_field'
  | 'version'
  | 'bound'
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
  /** What stands there, cut when it is long. What is not plain ASCII is named as `U+00A0`. */
  readonly found: string;
  readonly expected: readonly string[];
  readonly suggestions: readonly string[];
  /** Present when there is one sure way to mend it. `lenient` applies it. */
  readonly fix?: Fix | undefined;
  /** The text with a caret under the place. Drawn when read. */
  readonly frame: string;
}

/** The text with the fix of a problem applied, or undefined when the problem has no fix. */
export function applyFix(text: string, { fix }: { readonly fix?: Fix | undefined }): string | undefined {
  return fix && text.slice(0, fix.start) + fix.text + text.slice(fix.end);
}

/** Adds a problem of the `length` characters at `start` to `problems`, when there is such a list. */
export function report(
  { text, problems }: { readonly text: string; readonly problems: Problem[] | undefined },
  code: ProblemCode,
  start: number,
  length: number,
  expected: readonly string[],
  mended?: string,
  message?: string,
): undefined {
  if (problems === undefined) return;
  const end = start + length;
  const raw = text.slice(start, start + (length || 1));
  // What is not plain ASCII is named, because it looks like a blank or like another letter.
  const found =
    raw
      .slice(0, 40)
      .replace(
        /[^ -~]/gu,
        (char) => `U+${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`,
      ) || 'nothing';
  const fix = mended === undefined ? mended : { start, end, text: mended };
  const encoded = !fix && /[%+]/.test(raw);
  problems.push({
    code: encoded ? 'encoded' : code,
    message:
      message ??
      `Expected "${expected.join('" or "')}", found "${found}".${encoded ? ' Use fromQueryParam.' : ''}`,
    start,
    end,
    found,
    expected,
    suggestions: expected.filter((name) => name[0] === text[start]?.toLowerCase()),
    fix,
    get frame() {
      return drawFrame(text, start, length);
    },
  });
}
