import { type Fix, type Problem, type ProblemCode, quote, toProblem } from './problem.ts';

/** What a report may add to its code, place and message. A fix that is text replaces the place itself. */
export interface Remark {
  readonly expected?: readonly string[];
  readonly suggestions?: readonly string[];
  readonly fix?: string | Fix | undefined;
}

/** Reads one part of a faulty text piece by piece and collects what is wrong with it. */
export interface Reader {
  readonly text: string;
  /** Where the next piece starts. */
  pos: number;
  /** Takes what the pattern matches at `pos`, in any case, and moves behind it; '' when it does not match. */
  take(pattern: string): string;
  report(code: ProblemCode, from: number, to: number, message: string, remark?: Remark): void;
  /** Reports that the character at `pos` is not what was expected there. */
  miss(code: ProblemCode, expected: readonly string[], hint?: string): void;
}

/** A reader of the part of `text` from `pos` to `end` that adds what it reports to `problems`. */
export function createReader(text: string, pos: number, end: number, problems: Problem[]): Reader {
  const part = text.slice(0, end);
  return {
    text,
    pos,
    take(pattern) {
      const sticky = new RegExp(pattern, 'iy');
      sticky.lastIndex = this.pos;
      const taken = sticky.exec(part)?.[0] ?? '';
      this.pos += taken.length;
      return taken;
    },
    report(code, from, to, message, { expected, suggestions, fix } = {}) {
      const mend = typeof fix === 'string' ? { start: from, end: to, text: fix } : fix;
      problems.push(toProblem(text, code, from, to, message, expected, suggestions, mend));
    },
    miss(code, expected, hint = '') {
      const found = String.fromCodePoint(text.codePointAt(this.pos) ?? 32);
      const to = Math.min(this.pos + found.length, text.length);
      const shown = quote(text.slice(this.pos, to));
      this.report(code, this.pos, to, `Expected ${expected.join(' or ')}, found ${shown}.${hint}`, {
        expected,
      });
    },
  };
}
