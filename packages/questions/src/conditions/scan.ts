/** A piece of a condition. */
export interface Token {
  readonly kind: 'name' | 'text' | 'number' | 'symbol' | 'end';
  /** As it was written. */
  readonly written: string;
  /** The value of a string without its quotes; else as it was written. */
  readonly value: string;
  readonly start: number;
  readonly end: number;
  /** A string in double quotes, or one without its closing quote. */
  readonly flaw?: 'double_quotes' | 'unclosed';
}

const space = /\s*/y;
const pieces: readonly (readonly [Token['kind'], RegExp])[] = [
  ['name', /[\p{L}_][\p{L}\p{N}_]*(?:[-.][\p{L}_][\p{L}\p{N}_]*)*/uy],
  ['number', /-?\d+(?:\.\d+)?(?![\p{L}\d])/uy],
  ['symbol', /<=|>=|<>|!=|==|=>|=<|&&|\|\||[=<>()!,]/y],
];
const single = /'((?:[^']|'')*)('?)/y;
const double = /"((?:[^"]|"")*)("?)/y;
const stray = /[^\s'"()]+/y;

/** The token at an offset, after spaces. */
export function tokenAt(text: string, offset: number): Token {
  const start = offset + (match(space, text, offset)?.[0].length ?? 0);
  if (start >= text.length) return { kind: 'end', written: '', value: '', start, end: start };
  for (const [kind, pattern] of pieces) {
    const found = match(pattern, text, start);
    if (found) return { kind, written: found[0], value: found[0], start, end: start + found[0].length };
  }
  return stringAt(text, start) ?? strayAt(text, start);
}

function stringAt(text: string, start: number): Token | null {
  const quote = text[start];
  if (quote !== "'" && quote !== '"') return null;
  const found = match(quote === "'" ? single : double, text, start);
  if (!found) return null;
  const [written, inside = '', closing] = found;
  const token = {
    kind: 'text',
    written,
    value: inside.replaceAll(quote + quote, quote),
    start,
    end: start + written.length,
  } as const;
  if (closing === '') return { ...token, flaw: 'unclosed' };
  return quote === '"' ? { ...token, flaw: 'double_quotes' } : token;
}

function strayAt(text: string, start: number): Token {
  const written = match(stray, text, start)?.[0] ?? text.charAt(start);
  return { kind: 'symbol', written, value: written, start, end: start + written.length };
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** A string as a condition writes it. */
export const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;
