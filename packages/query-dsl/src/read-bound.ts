import { wrongUnit } from './calendar.ts';
import { report } from './problem.ts';
import { peek, type Reader, tidy } from './reader.ts';
import { shortest } from './shortest.ts';

const date = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?![^ \]}])/y;
// With 99 digits before the point, no number is too large for a double.
const decimal = /-?\d{1,99}(?:\.\d+)?(?![^ \]}])/y;
// As people write it: up to a blank, a comma, a bracket, a quote or the keyword. A date may have a blank in it.
export const sloppyBound = /\*?(?:(?!to)[^\s,\]}"'])*(?:\s+\d+:[^\s,\]}"']*)?/iy;
const sloppyDate = /^(\d{4}-\d\d-\d\d)(?:\D+(\d\d:\d\d:\d\d)\.?0*)?$/;

// The bound at `pos`, or '' when there is none.
function boundAt(text: string, pos: number, isDate: boolean): string {
  const pattern = isDate ? date : decimal;
  pattern.lastIndex = pos;
  const bound = pattern.test(text) ? text.slice(pos, pattern.lastIndex) : '';
  return isDate && wrongUnit(bound) ? '' : bound;
}

/** Whether the whole text is a bound. */
export const isBound = (text: string, isDate: boolean): boolean | '' =>
  text && boundAt(text, 0, isDate) === text;

/** A bound as it was read. Which bracket closes an upper bound is not known before it is read. */
interface ReadBound {
  text: string;
  inclusive: boolean;
  start: number;
  end: number;
}

/** Reads a bound: null when it is open, undefined when there is nothing like a bound. */
export function readBound(reader: Reader, isDate: boolean, inclusive: boolean): ReadBound | null | undefined {
  const { text, pos: start } = reader;
  if (text[start] === '*') {
    reader.pos++;
    return null;
  }
  const bound = boundAt(text, start, isDate);
  if (!bound) return reader.problems && explain(reader, isDate);
  reader.pos += bound.length;
  return { text: isDate ? bound : shortest(bound), inclusive, start, end: reader.pos };
}

// Gives null to read on after a problem as if the end were open.
function explain(reader: Reader, isDate: boolean): null | undefined {
  tidy(reader);
  const { pos } = reader;
  const text = peek(reader, sloppyBound);
  const expected = [isDate ? 'YYYY-MM-DD HH:MM:SS' : 'decimal', '*'];
  reader.pos += text.length;
  if (!text) return report(reader, 'syntax', pos, 0, expected);
  const fix = isDate ? text.replace(sloppyDate, (_, day, time = '00:00:00') => `${day} ${time}`) : `${+text}`;
  const wrong = isDate && sloppyDate.test(text) && wrongUnit(fix);
  if (wrong) report(reader, 'bound', pos + wrong[0], 2, [wrong[1]], undefined, wrong[2]);
  else if (text !== '*' && !isBound(text, isDate)) {
    // The end of a day that is meant to be in the range is the start of the next, excluded.
    const close = text.length === 10 && isBound(fix, isDate) && reader.text[reader.pos] === ']' ? '}' : '';
    const mended = close
      ? fix.replace(text, new Date(Date.parse(text) + 864e5).toISOString().slice(0, 10))
      : fix;
    report(
      reader,
      'bound',
      pos,
      text.length + close.length,
      expected,
      isBound(mended, isDate) ? mended + close : undefined,
    );
  }
  return null;
}
