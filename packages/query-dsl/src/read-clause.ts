import type { Clause } from './filter.ts';
import { print } from './print.ts';
import { report } from './problem.ts';
import { isBound, readBound, sloppyBound } from './read-bound.ts';
import { eat, odd, peek, type Reader, tidy } from './reader.ts';

const sloppyName = /[^\s,\]}"':=[{]*/y;
const sloppyColon = /\s*[:=]\s*/y;
const sloppyTo = /\W*to/iy;

/** Reads one part. Undefined when it cannot be read to its end. */
export function readClause(reader: Reader): Clause | undefined {
  const { text, names } = reader;
  const start = reader.pos;
  let name: string | undefined;
  // A loop and not `find`, whose closure would cost a fifth of the parse.
  for (const known of names) {
    if (text[start + known.length] === ':' && text.startsWith(known, start)) name = known;
  }
  if (name) reader.pos += name.length + 1;
  else {
    if (!reader.problems) return undefined;
    const found = peek(reader, sloppyName);
    name = names.find((known) => known === found.toLowerCase());
    if (found !== name) {
      const code = found ? (found === 'inc_gce' ? 'version' : 'unknown_field') : 'syntax';
      report(reader, code, start, found.length, names, name);
    }
    reader.pos += found.length;
    if (!name || !eat(reader, ':', sloppyColon)) return undefined;
  }
  tidy(reader);
  const type = reader.fields[name];
  if (type === 'flag') {
    return text[reader.pos] === '1'
      ? { kind: 'flag', field: 'inc_gce', start, end: ++reader.pos }
      : report(reader, 'syntax', reader.pos, 0, ['1']);
  }
  const isDate = type === 'date';
  const open = text[reader.pos] as string;
  if (open !== '[' && open !== '{') {
    const found = peek(reader, sloppyBound);
    const fix = isBound(found, isDate) ? `[${found} TO ${found}]` : undefined;
    return report(reader, 'syntax', reader.pos, found.length, [fix ?? '['], fix);
  }
  reader.pos++;
  const lower = readBound(reader, isDate, open === '[');
  if (lower === undefined || !eat(reader, ' TO', sloppyTo) || !eat(reader, ' ', odd)) return undefined;
  const upper = readBound(reader, isDate, true);
  if (upper === undefined) return undefined;
  tidy(reader);
  const close = text[reader.pos] as string;
  if (close !== ']' && close !== '}') return report(reader, 'syntax', reader.pos, 0, [']']);
  if (upper) upper.inclusive = close === ']';
  const range = { kind: 'range', field: name, lower, upper, start, end: ++reader.pos } as const;
  if (lower && upper && (isDate ? lower.text > upper.text : +lower.text > +upper.text)) {
    const fix = print({ clauses: [{ ...range, lower: upper, upper: lower }] });
    return report(reader, 'inverted', start, range.end - start, [fix], fix);
  }
  return range;
}
