import { formatNaive, parseTime, startOfWeek } from '@call-attribution/core/time';
import { nearestTime } from '../nearest-time.ts';
import type { Literal, Term } from './condition.ts';
import { fold } from './fold.ts';
import { closest, type Fact } from './problem.ts';
import { quote, type Token } from './scan.ts';

/** Something wrong at a place of a condition, and what would be right there. */
export class Mistake {
  readonly fact: Fact;
  readonly start: number;
  readonly end: number;
  /** What to put in its place, when there is one sure thing. */
  readonly fix: string | undefined;

  constructor(fact: Fact, start: number, end: number, fix?: string) {
    this.fact = fact;
    this.start = start;
    this.end = end;
    this.fix = fix;
  }
}

const decimal = /^-?\d{1,15}(?:\.\d{1,9})?$/;

/** The value of a token for a term. Throws a `Mistake` when it is of another kind; adds to `warnings` when it is unusual. */
export function literalOf(token: Token, term: Term, warnings: Mistake[]): Literal {
  const { kind, value, written, start, end } = token;
  const wrong = (fact: Fact, fix?: string) => new Mistake(fact, start, end, fix);
  if (kind === 'end' || kind === 'symbol') throw wrong({ code: 'missing_value', term });
  switch (term.type) {
    case 'boolean':
      if (kind === 'name') return { type: 'boolean', value: value.toLowerCase() === 'true' };
      throw wrong(
        { code: 'wrong_type', term },
        /^(?:true|false)$/i.test(value) ? value.toUpperCase() : undefined,
      );
    case 'number':
      if (kind === 'number' && decimal.test(value)) return { type: 'number', text: value };
      throw wrong({ code: 'wrong_type', term }, kind === 'text' && decimal.test(value) ? value : undefined);
    case 'text':
      if (kind !== 'text') throw wrong({ code: 'wrong_type', term }, quote(written));
      checkValue(value, term, wrong, warnings);
      return { type: 'text', text: value };
    default:
      if (kind !== 'text') throw wrong({ code: 'wrong_type', term });
      return timeOf(value, term) ?? fail(notATime(value, term, wrong));
  }
}

function checkValue(
  value: string,
  term: Term,
  wrong: (fact: Fact, fix?: string) => Mistake,
  warnings: Mistake[],
): void {
  const { values, usualValues } = term;
  const known = values ?? usualValues;
  if (known === undefined || known.some((each) => fold(each) === fold(value))) return;
  const suggestion = closest(value, known);
  const mistake = wrong({ code: 'unknown_value', term, suggestion }, suggestion && quote(suggestion));
  if (values) throw mistake;
  warnings.push(mistake);
}

function timeOf(text: string, { type, weekStart }: Term): Literal | null {
  const time = parseTime(type === 'month' && /^\d{4}-\d\d$/.test(text.trim()) ? `${text.trim()}-01` : text);
  if (time === null || (type !== 'time' && !time.isWholeDay)) return null;
  const date = formatNaive(time.millis).slice(0, 10);
  // Any day of a week or month means the one that begins it, which is what the field holds.
  if (type === 'week') return { type: 'time', millis: startOfWeek(time.millis, weekStart), isWholeDay: true };
  if (type === 'month') return startingAt(`${date.slice(0, 7)}-01`);
  return { type: 'time', ...time };
}

function notATime(text: string, term: Term, wrong: (fact: Fact, fix?: string) => Mistake): Mistake {
  const meant = nearestTime(text.trim()) ?? '';
  const suggestion = [meant, meant.slice(0, 10)].find((each) => timeOf(each, term) !== null);
  return wrong({ code: 'invalid_time', term, suggestion }, suggestion && quote(suggestion));
}

function startingAt(date: string): Literal {
  const time = parseTime(date);
  return { type: 'time', millis: time?.millis ?? 0, isWholeDay: true };
}

function fail(mistake: Mistake): never {
  throw mistake;
}
