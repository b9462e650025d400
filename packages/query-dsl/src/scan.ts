import { dateEnd } from './calendar.ts';
import { decimalEnd, shortest } from './decimal.ts';
import type { KnownField } from './dialects.ts';
import type { Bound, Clause } from './filter.ts';

/** The first place at or after `pos` that is not a blank. */
export function skipBlanks(text: string, pos: number): number {
  while (text.charCodeAt(pos) === 32) pos++;
  return pos;
}

const boundEnd = (text: string, at: number, type: string): number =>
  type === 'date' ? dateEnd(text, at) : decimalEnd(text, at);

const toBound = (text: string, start: number, end: number, type: string, inclusive: boolean): Bound => {
  const bound = text.slice(start, end);
  return { text: type === 'date' ? bound : shortest(bound), inclusive, start, end };
};

/** Whether nothing can be at or above `lower` and at or below `upper`. */
export function isInverted(lower: Bound, upper: Bound, type: string): boolean {
  return type === 'date' ? lower.text > upper.text : Number(lower.text) > Number(upper.text);
}

/**
 * Reads the clause that starts at `pos` when it is right in every respect, and gives undefined when anything is wrong.
 * This is the hot path: it knows no messages. `explainClause` says what was wrong.
 */
export function scanClause(text: string, pos: number, fields: readonly KnownField[]): Clause | undefined {
  const start = pos;
  let field: KnownField | undefined;
  for (const known of fields) {
    if (text.startsWith(known.head, pos)) {
      field = known;
      break;
    }
  }
  if (field === undefined) return undefined;
  pos += field.head.length;
  const open = text.charCodeAt(pos++);
  if (field.type === 'flag') {
    return open === 49 ? { kind: 'flag', field: 'inc_gce', start, end: pos } : undefined;
  }
  if (open !== 91 && open !== 123) return undefined;
  let lower: Bound | null = null;
  if (text.charCodeAt(pos) === 42) pos++;
  else {
    const end = boundEnd(text, pos, field.type);
    if (end < 0) return undefined;
    lower = toBound(text, pos, end, field.type, open === 91);
    pos = end;
  }
  if (!text.startsWith(' TO ', pos)) return undefined;
  pos += 4;
  const openEnd = text.charCodeAt(pos) === 42;
  const end = openEnd ? pos + 1 : boundEnd(text, pos, field.type);
  const close = text.charCodeAt(end);
  if (close !== 93 && close !== 125) return undefined;
  const upper = openEnd ? null : toBound(text, pos, end, field.type, close === 93);
  if (lower !== null && upper !== null && isInverted(lower, upper, field.type)) return undefined;
  return { kind: 'range', field: field.name, lower, upper, start, end: end + 1 };
}
