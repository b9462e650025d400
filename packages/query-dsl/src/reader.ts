import type { FieldType } from './dialects.ts';
import { type Problem, report } from './problem.ts';

/** A text and how far it has been read. */
export interface Reader {
  readonly text: string;
  readonly fields: Readonly<Record<string, FieldType>>;
  /** Names are looked for in this list and never in the object, which has more names than it was given. */
  readonly names: readonly string[];
  /** Collects what is wrong. Without it, reading stops at the first problem and no time is spent on words. */
  readonly problems: Problem[] | undefined;
  pos: number;
}

/** What a pattern (a sticky one) matches at the reader's place. */
export function peek({ text, pos }: Reader, pattern: RegExp): string {
  pattern.lastIndex = pos;
  return pattern.exec(text)?.[0] ?? '';
}

/**
 * Goes over `wanted`. When something else stands there, that is reported with `wanted` as the fix. What is like it, as
 * the sloppy pattern says, is gone over too; when there is nothing like it, false says so.
 */
export function eat(reader: Reader, wanted: string, sloppy: RegExp): boolean {
  if (wanted && reader.text.startsWith(wanted, reader.pos)) {
    reader.pos += wanted.length;
    return true;
  }
  if (!reader.problems) return false;
  const found = peek(reader, sloppy);
  if (found !== wanted) {
    let same = 0;
    while (found[same] === wanted[same]) same++;
    const fix = wanted.slice(same);
    report(reader, 'syntax', reader.pos + same, found.length - same, [fix || 'nothing'], fix);
  }
  reader.pos += found.length;
  return found !== '';
}

/** Blanks and quotes, which stand where nothing should, or in the place of one blank. */
export const odd = /[\s"']+/y;

/** Goes over blanks and quotes, which are reported: nothing may stand there. */
export const tidy = (reader: Reader): unknown => reader.problems && eat(reader, '', odd);
