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
import { nearest } from './nearest.ts';
import { dateForm, type Stop, stopAtName } from './problem.ts';

// The grammar, and the only place that decides whether a string is a filter. Each method reads one
// production, which stands above it: it moves `pos` past what it has read, or stops.

/**
 * Thrown by the reader, and caught by `read`. It is no `Error`, because it never leaves this file.
 */
class Stopped {
  readonly stop: Stop;

  constructor(stop: Stop) {
    this.stop = stop;
  }
}

/** The filter in a string, or what stopped the reader. */
export type Reading =
  | { readonly filter: Filter; readonly stop?: undefined }
  | { readonly stop: Stop };

/** Reads a string to its end or to the first thing that is wrong with it. */
export function read(text: string, options: ParseOptions): Reading {
  try {
    return { filter: new Reader(text, options).filter() };
  } catch (error) {
    if (error instanceof Stopped) return { stop: error.stop };
    throw error;
  }
}

/**
 * The field of a name that was written, or the nearest one. A field that only the other version has
 * may be meant as well.
 */
export function meantName(written: string, options: ParseOptions): string | undefined {
  const names = [...new Set([...fieldsOf(options), ...fieldsOf({})].map(({ name }) => name))];
  return names.includes(written) ? written : nearest(written, names);
}

/** A bound that was read, in its shortest form, and where it starts and ends. */
interface ReadBound {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const boundOf = ({ text, start, end }: ReadBound, inclusive: boolean): Bound => ({
  text,
  inclusive,
  start,
  end,
});

/**
 * A name as people write it. A minus in front of it is no part of it: that would say the opposite.
 */
const name = /[\p{L}_][^\s,:=<>!~()[\]{}"'\u2264\u2265]*/uy;

class Reader {
  #pos = 0;
  readonly #text: string;
  readonly #options: ParseOptions;
  readonly #fields: readonly Field[];

  constructor(text: string, options: ParseOptions) {
    this.#text = text;
    this.#options = options;
    this.#fields = fieldsOf(options);
  }

  /** filter = spaces [ clause { spaces "," spaces clause } spaces ] */
  filter(): Filter {
    const { length } = this.#text;
    const { maxLength = limits.maxLength, maxClauses = limits.maxClauses } = this.#options;
    if (length > maxLength)
      this.#limit(`${maxLength} characters; this one has ${length}`, maxLength, length);
    const clauses: Clause[] = [];
    this.#spaces();
    if (this.#pos === length) return { clauses };
    for (;;) {
      if (clauses.length === maxClauses) this.#limit(`${maxClauses} clauses`, this.#pos, this.#pos);
      clauses.push(this.#clause());
      this.#spaces();
      if (this.#pos === length) return { clauses };
      if (this.#text.charAt(this.#pos) !== ',') this.#fail([',']);
      this.#pos++;
      this.#spaces();
    }
  }

  /** clause = field ":" ( flag | range ) */
  #clause(): Clause {
    const text = this.#text;
    const start = this.#pos;
    for (const field of this.#fields) {
      const nameEnd = start + field.name.length;
      if (text.charAt(nameEnd) === ':' && text.startsWith(field.name, start)) {
        this.#pos = nameEnd + 1;
        return field.type === 'flag' ? this.#flag(start) : this.#range(start, field);
      }
    }

    return this.#noField();
  }

  /** What is found where a field and its colon were expected. */
  #noField(): never {
    const start = this.#pos;
    name.lastIndex = start;
    const written = name.exec(this.#text)?.[0] ?? '';
    const meant = meantName(written, this.#options);
    const field = this.#fields.find((each) => each.name === written);
    const end = start + written.length;
    if (field !== undefined) {
      this.#pos = end;
      return this.#fail([':'], field);
    }

    // Without a colon it may be anything, such as the word NOT.
    if (meant !== undefined || (written !== '' && this.#text.charAt(end) === ':'))
      throw new Stopped(stopAtName(written, start, this.#options, meant));
    const names = this.#fields.map((each) => each.name);
    return this.#fail(names);
  }

  /** flag = "1" */
  #flag(start: number): FlagClause {
    const text = this.#text;
    if (text.charAt(this.#pos) !== '1' || /[\w.]/.test(text.charAt(this.#pos + 1)))
      this.#fail(['1'], { name: 'inc_gce', type: 'flag' });
    return { kind: 'flag', field: 'inc_gce', start, end: ++this.#pos };
  }

  /**
   * range = ( "[" | "{" ) bound " TO " bound ( "]" | "}" ), the lower bound not above the upper one
   */
  #range(start: number, field: Field): RangeClause {
    const text = this.#text;
    const open = text.charAt(this.#pos);
    if (open !== '[' && open !== '{') this.#fail(['[', '{'], field);
    this.#pos++;
    const from = this.#bound(field);
    const [between] =
      /^ TO(?: |(?=[\]}]?$))/.exec(text.slice(from.end)) ?? this.#fail([' TO '], field);
    this.#pos += between.length;
    const to = this.#bound(field);
    const close = text.charAt(this.#pos);
    if (close !== ']' && close !== '}') this.#fail([']', '}'], field);
    const end = ++this.#pos;
    const lower = from.text === '*' ? null : boundOf(from, open === '[');
    const upper = to.text === '*' ? null : boundOf(to, close === ']');
    if (lower !== null && upper !== null && compare(lower, upper) > 0)
      throw new Stopped(stopAtInverted(lower.text, upper.text, start, end));
    return { kind: 'range', field: field.name, lower, upper, start, end };
  }

  /** bound = "*" | date | decimal, as the type of the field says */
  #bound(field: Field): ReadBound {
    const text = this.#text;
    const start = this.#pos;
    const end = text.charAt(start) === '*' ? start + 1 : endOfBound(text, start, field.type);
    if (end === undefined) return this.#fail([formOf(field), '*'], field, 'bound');
    this.#pos = end;
    return { text: shortest(text.slice(start, end)), start, end };
  }

  /** spaces = { " " } */
  #spaces(): void {
    while (this.#text.charAt(this.#pos) === ' ') this.#pos++;
  }

  #fail(expected: readonly string[], field?: Field, code: 'syntax' | 'bound' = 'syntax'): never {
    throw new Stopped({ code, start: this.#pos, expected, ...(field && { type: field.type }) });
  }

  #limit(most: string, start: number, end: number): never {
    throw new Stopped({
      code: 'syntax',
      start,
      end,
      expected: [],
      sentence: `A filter may have at most ${most}.`,
    });
  }
}

/** The form of a bound. */
export const formOf = ({ type }: Field): string => (type === 'date' ? dateForm : 'decimal');

/** What stops the reader at a range whose bounds are the wrong way round. */
export const stopAtInverted = (lower: string, upper: string, start: number, end: number): Stop => ({
  code: 'bound',
  start,
  end,
  expected: [`[${upper} TO ${lower}]`],
  sentence: `The lower bound ${lower} is above the upper bound ${upper}. Swap them.`,
});
