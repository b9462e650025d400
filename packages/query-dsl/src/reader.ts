import { compare, endOfBound, shortest } from './bounds.ts';
import {
  type Bound,
  type Clause,
  type Field,
  type Filter,
  type FlagClause,
  fieldsOf,
  limits,
  type ParseOptions,
  type RangeClause,
} from './filter.ts';
import {
  factAboutBound,
  factAboutClause,
  factAboutClose,
  factAboutGap,
  factAboutOpening,
  factAboutTo,
  type ReadBound,
} from './found.ts';
import type { Fact } from './problem.ts';

// The grammar, and the only place that decides whether a string is a filter. Each method reads one production, which stands above
// it: it moves `pos` past what it has read, or throws what it found instead.

/** Thrown by the reader, and caught by `attempt`. It is no `Error`, because it never leaves this package. */
class Mismatch {
  readonly fact: Fact;

  constructor(fact: Fact) {
    this.fact = fact;
  }
}

/** What a function reads, or the fact that stopped its reader. */
export type Attempt<T> = { readonly value: T; readonly fact?: undefined } | { readonly fact: Fact };

/** Runs a function that reads, and catches what stops its reader. */
export function attempt<T>(read: () => T): Attempt<T> {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof Mismatch) return { fact: error.fact };
    throw error;
  }
}

/** The filter in a string, or the first thing that is wrong with it. */
export const read = (text: string, options: ParseOptions): Attempt<Filter> =>
  attempt(() => new Reader(text, options).filter());

const boundOf = ({ text, start, end }: ReadBound, inclusive: boolean): Bound => ({
  text,
  inclusive,
  start,
  end,
});

/** Reads a text from its start. */
export class Reader {
  pos = 0;
  private readonly text: string;
  private readonly options: ParseOptions;
  private readonly fields: readonly Field[];
  // How many clauses were begun.
  private count = 0;

  constructor(text: string, options: ParseOptions) {
    this.text = text;
    this.options = options;
    this.fields = fieldsOf(options);
  }

  /** filter = spaces [ clause { spaces "," spaces clause } spaces ] */
  filter(): Filter {
    const clauses: Clause[] = [];
    for (let clause = this.next(); clause !== null; clause = this.next()) clauses.push(clause);
    return { clauses };
  }

  /** The next clause, with the comma before it; null at the end of the text. */
  next(): Clause | null {
    const { text } = this;
    const { maxLength = limits.maxLength, maxClauses = limits.maxClauses } = this.options;
    const { length } = text;
    if (this.pos === 0 && length > maxLength)
      this.fail({ reason: 'too_long', start: maxLength, end: length, most: maxLength, length });
    this.spaces();
    if (this.pos === length) return null;
    if (this.count > 0) {
      const { pos: start } = this;
      if (text.charAt(start) !== ',') this.fail(factAboutGap(text, start));
      this.pos++;
      this.spaces();
      if (this.pos === length) this.fail({ reason: 'empty_clause', start, end: start + 1 });
    }
    const { pos } = this;
    if (this.count++ >= maxClauses)
      this.fail({ reason: 'too_many_clauses', start: pos, end: pos, most: maxClauses });
    return this.clause();
  }

  /** clause = field ":" ( flag | range ) */
  clause(): Clause {
    const { text, pos: start } = this;
    for (const field of this.fields) {
      const nameEnd = start + field.name.length;
      if (text.charAt(nameEnd) === ':' && text.startsWith(field.name, start)) {
        this.pos = nameEnd + 1;
        return field.type === 'flag' ? this.flag(start, field) : this.range(start, field);
      }
    }
    return this.fail(factAboutClause(text, start, this.options));
  }

  /** flag = "1" */
  private flag(start: number, field: Field): FlagClause {
    const { text, pos } = this;
    if (text.charAt(pos) !== '1' || /[\w.]/.test(text.charAt(pos + 1)))
      this.fail(factAboutOpening(text, pos, field));
    return { kind: 'flag', field: 'inc_gce', start, end: ++this.pos };
  }

  /** range = ( "[" | "{" ) bound " TO " bound ( "]" | "}" ), the lower bound not above the upper one */
  private range(start: number, field: Field): RangeClause {
    const { text } = this;
    const open = text.charAt(this.pos);
    if (open !== '[' && open !== '{') this.fail(factAboutOpening(text, this.pos, field));
    this.pos++;
    const from = this.bound(field);
    if (!text.startsWith(' TO ', from.end)) this.fail(factAboutTo(text, from, field));
    this.pos += ' TO '.length;
    const to = this.bound(field);
    const close = text.charAt(this.pos);
    if (close !== ']' && close !== '}') this.fail(factAboutClose(text, to, field));
    const end = ++this.pos;
    const lower = from.text === '*' ? null : boundOf(from, open === '[');
    const upper = to.text === '*' ? null : boundOf(to, close === ']');
    if (lower !== null && upper !== null && compare(lower, upper) > 0)
      this.fail({ reason: 'inverted', start, end, lower: lower.text, upper: upper.text });
    return { kind: 'range', field: field.name, lower, upper, start, end };
  }

  /** bound = "*" | date | decimal, as the type of the field says */
  private bound(field: Field): ReadBound {
    const { text, pos: start } = this;
    const end = text.charAt(start) === '*' ? start + 1 : endOfBound(text, start, field.type);
    if (end === undefined) return this.fail(factAboutBound(text, start, field));
    this.pos = end;
    return { text: shortest(text.slice(start, end)), start, end };
  }

  /** spaces = { " " } */
  private spaces(): void {
    while (this.text.charAt(this.pos) === ' ') this.pos++;
  }

  private fail(fact: Fact): never {
    throw new Mismatch(fact);
  }
}
