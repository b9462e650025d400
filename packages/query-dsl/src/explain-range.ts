import { boundFlaw, isBound, nextDay, shapeOf } from './bound.ts';
import { quote } from './problem.ts';
import type { Reader } from './reader.ts';

// A bound as people write it: up to a blank, a comma, a closing bracket or the keyword. A date has a blank in it.
const letters = '(?:(?!to(?![a-z]))[^\\s,\\]}])';
const bound = `\\*|"[^"]*"|'[^']*'|${letters}+`;
const dateBound = `\\*|"[^"]*"|'[^']*'|${letters}+(?:\\s+${letters}+)?`;

/** Says what is wrong from the opening bracket on. */
export function explainRange(reader: Reader, type: string): void {
  const { text } = reader;
  const open = reader.pos++;
  const takeBound = (): string => {
    noBlank(reader);
    const found = reader.take(type === 'date' ? dateBound : bound);
    if (found === '') reader.miss('missing_bound', [shapeOf(type), '*']);
    return found;
  };

  const lower = takeBound();
  const lowerEnd = reader.pos;
  explainBound(reader, type, lower, lowerEnd, text[open] === '{', open);
  if (!explainKeyword(reader)) return;
  const upper = takeBound();
  const upperEnd = reader.pos;
  noBlank(reader);
  const close = text.charAt(reader.pos);
  const closed = close === ']' || close === '}';
  explainBound(reader, type, upper, upperEnd, close === ']', closed ? reader.pos : undefined);
  if (!closed) {
    reader.miss('missing_bracket', [']', '}']);
    return;
  }
  reader.pos++;
  if (!isBound(lower, type) || !isBound(upper, type)) return;
  const inverted = type === 'date' ? lower > upper : Number(lower) > Number(upper);
  if (!inverted) return;
  const swapped = `${close === ']' ? '[' : '{'}${upper} TO ${lower}${text[open] === '[' ? ']' : '}'}`;
  reader.report(
    'inverted',
    open,
    reader.pos,
    `The lower bound ${lower} is above the upper bound ${upper}. Did you mean ${swapped}?`,
    { fix: swapped },
  );
}

// `away` says that a date without time stands for the end of its day and not for its start.
function explainBound(
  reader: Reader,
  type: string,
  bound: string,
  end: number,
  away: boolean,
  bracket: number | undefined,
): void {
  if (bound === '' || bound === '*') return;
  const flaw = boundFlaw(bound, type);
  if (flaw === undefined) return;
  const start = end - bound.length;
  let fix = flaw.fix === undefined ? undefined : { start, end, text: flaw.fix };
  if (fix !== undefined && away && bound.length === 10) {
    const next = `${nextDay(bound)} 00:00:00`;
    if (bracket === undefined || !isBound(next, type)) fix = undefined;
    else if (bracket < start) fix = { start: bracket, end, text: `[${next}` };
    else fix = { start, end: bracket + 1, text: `${next}}` };
  }
  reader.report(flaw.code, start + flaw.from, start + flaw.to, flaw.message, {
    expected: flaw.expected,
    fix,
  });
}

function explainKeyword(reader: Reader): boolean {
  const before = reader.pos;
  const blankBefore = reader.take('\\s+');
  const at = reader.pos;
  const keyword = reader.take('to');
  if (keyword === '') {
    reader.miss('missing_to', ['" TO "'], reader.text[at] === ',' ? ' A comma ends a filter part.' : '');
    return false;
  }
  oneBlank(reader, before, blankBefore);
  if (keyword !== 'TO') {
    const message = `Expected "TO", found ${quote(keyword)}. The keyword is upper case.`;
    reader.report('keyword_case', at, at + 2, message, { expected: ['TO'], fix: 'TO' });
  }
  const after = reader.pos;
  oneBlank(reader, after, reader.take('\\s+'));
  return true;
}

function oneBlank(reader: Reader, start: number, blank: string): void {
  if (blank === ' ') return;
  const end = start + blank.length;
  const message = `Expected one blank on each side of TO, found ${blank === '' ? 'none' : quote(blank)}.`;
  const fix = { start, end, text: ' ' };
  reader.report('blank', start, Math.max(end, Math.min(start + 1, reader.text.length)), message, {
    expected: [' '],
    fix,
  });
}

/** Reports blanks where none may stand. */
export function noBlank(reader: Reader): void {
  const { pos } = reader;
  const blank = reader.take('\\s+');
  if (blank === '') return;
  reader.report('blank', pos, reader.pos, `Found ${quote(blank)} where no blank may stand.`, { fix: '' });
}
