import { nearest } from '@call-attribution/query-dsl';
import {
  type Condition,
  hasStrayBackslash,
  type Literal,
  type Operator,
  type Term,
  type Vocabulary,
} from './condition.ts';
import { literalOf, Mistake } from './literal.ts';
import { ambiguousNames, nameOf } from './names.ts';
import type { Fact } from './problem.ts';
import { quote, type Token, tokenAt } from './scan.ts';

const mostCharacters = 100_000;
const mostNested = 100;
const mostValues = 10_000;
/** Pieces that a name may have, after the first one. */
const mostPieces = 40;

const otherWords: ReadonlyMap<string, string> = new Map([
  ['&&', 'AND'],
  ['||', 'OR'],
  [',', 'AND'],
  ['!', 'NOT'],
]);
const otherOperators: ReadonlyMap<string, string> = new Map([
  ['=>', '>='],
  ['=<', '<='],
  ['~', 'LIKE'],
  ['is', '='],
  ['equals', '='],
]);
const operatorOf: ReadonlyMap<string, Operator> = new Map([
  ...(['=', '==', '<>', '<', '<=', '>', '>='] as const).map((each) => [each, each] as const),
  ['!=', '<>'],
]);
const keywords = new Set('and or not in like ilike is null between true false'.split(' '));

/** Reads one condition; throws the first `Mistake` it meets. */
export class Reader {
  readonly #text: string;
  readonly #vocabulary: Vocabulary;
  readonly warnings: Mistake[] = [];
  #token: Token;
  #depth = 0;

  constructor(text: string, vocabulary: Vocabulary) {
    this.#text = text;
    this.#vocabulary = vocabulary;
    this.#token = tokenAt(text, 0);
  }

  read(): Condition {
    if (this.#text.length > mostCharacters) throw this.#limit('characters', mostCharacters);
    if (this.#isAtEnd()) throw this.#mistake({ code: 'empty' });
    const condition = this.#or();
    if (this.#token.written === ')') throw this.#mistake({ code: 'extra_bracket' }, '');
    if (!this.#isAtEnd()) throw this.#between();
    return condition;
  }

  #or(): Condition {
    return this.#chain('or', () => this.#chain('and', () => this.#not()));
  }

  #chain(word: 'and' | 'or', part: () => Condition): Condition {
    const first = part();
    const parts = [first];
    while (this.#takeWord(word)) parts.push(part());
    return parts.length === 1 ? first : { kind: word, parts };
  }

  #not(): Condition {
    this.#depth += 1;
    if (this.#depth > mostNested) throw this.#limit('nested conditions', mostNested);
    try {
      if (this.#takeWord('not')) return { kind: 'not', part: this.#not() };
      if (this.#token.written === '!') throw this.#mistake({ code: 'other_word', wanted: 'NOT' }, 'NOT ');
      if (!this.#take('(')) return this.#test();
      const condition = this.#or();
      if (!this.#take(')'))
        throw this.#isAtEnd() ? this.#mistake({ code: 'unclosed_bracket' }, ')') : this.#between();
      return condition;
    } finally {
      this.#depth -= 1;
    }
  }

  #test(): Condition {
    const term = this.#field();
    const field = term.name;
    if (this.#takeWord('is')) return this.#isNull(term);
    const isNot = this.#takeWord('not');
    const wrap = (condition: Condition): Condition => (isNot ? { kind: 'not', part: condition } : condition);
    if (this.#takeWord('in')) return wrap({ kind: 'in', field, values: this.#list(term) });
    if (this.#isWord('like') || this.#isWord('ilike')) return wrap(this.#like(term));
    if (this.#takeWord('between')) return wrap(this.#range(term));
    if (!isNot && term.type === 'boolean' && this.#endsTest()) return { kind: 'flag', field };
    return this.#compare(term);
  }

  #field(): Term {
    const { kind, value, start, end } = this.#token;
    if (
      kind !== 'name' ||
      (keywords.has(value.toLowerCase()) && !this.#vocabulary.has(value.toLowerCase()))
    ) {
      throw this.#mistake({ code: 'missing_field' });
    }
    const meanings = ambiguousNames.get(nameOf(value));
    const term = meanings === undefined ? this.#vocabulary.get(nameOf(value)) : undefined;
    const longer = this.#longerName(start, end);
    if (longer !== undefined) return longer;
    if (meanings !== undefined) throw this.#mistake({ code: 'ambiguous_field', meanings });
    if (term === undefined) {
      const names = [...this.#vocabulary.keys()];
      const suggestion = nearest(value, names);
      throw this.#mistake({ code: 'unknown_field', suggestion, names }, suggestion);
    }
    if (/^\s*:/.test(this.#text.slice(end))) throw new Mistake({ code: 'filter_language' }, start, end);
    this.#next();
    return term;
  }

  /** A name that is more than a word: `landing page`, or a column such as `share(rank >= 4)`. */
  #longerName(start: number, end: number): Term | undefined {
    let found: Term | undefined;
    let token = tokenAt(this.#text, end);
    for (let more = 0; more < mostPieces && token.kind !== 'end'; more += 1) {
      const written = this.#text.slice(start, token.end);
      const term = this.#vocabulary.get(written) ?? this.#vocabulary.get(nameOf(written));
      token = tokenAt(this.#text, token.end);
      if (term !== undefined) [found, this.#token] = [term, token];
    }
    return found;
  }

  #isNull(term: Term): Condition {
    const isNot = this.#takeWord('not');
    if (!this.#takeWord('null')) {
      if (term.type === 'boolean' && (this.#isWord('true') || this.#isWord('false'))) {
        const value = this.#value(term);
        const test: Condition = { kind: 'compare', field: term.name, operator: '=', value };
        return isNot ? { kind: 'not', part: test } : test;
      }
      throw this.#mistake({ code: 'unknown_operator', wanted: '= or IS NULL' });
    }
    const test: Condition = { kind: 'null', field: term.name };
    return isNot ? { kind: 'not', part: test } : test;
  }

  #list(term: Term): Literal[] {
    if (!this.#take('(')) throw this.#mistake({ code: 'missing_list', term });
    const values = [this.#value(term)];
    while (this.#take(',')) {
      if (values.length >= mostValues) throw this.#limit('values in a list', mostValues);
      values.push(this.#value(term));
    }
    if (!this.#take(')'))
      throw this.#mistake({ code: 'unclosed_bracket' }, this.#isAtEnd() ? ')' : undefined);
    return values;
  }

  #like(term: Term): Condition {
    const operator = this.#token.value.toUpperCase();
    if (term.type !== 'text') throw this.#mistake({ code: 'wrong_operator', operator, term });
    this.#next();
    const { start, end } = this.#token;
    const value = this.#value({ ...term, values: undefined, usualValues: undefined });
    const pattern = value.type === 'text' ? value.text : '';
    if (hasStrayBackslash(pattern)) throw new Mistake({ code: 'escape' }, start, end);
    return { kind: 'like', field: term.name, pattern };
  }

  #range(term: Term): Condition {
    if (term.type === 'boolean') throw this.#mistake({ code: 'wrong_operator', operator: 'BETWEEN', term });
    const field = term.name;
    const lower = this.#value(term);
    if (!this.#takeWord('and')) throw this.#mistake({ code: 'missing_and' }, 'AND ');
    const upper = this.#value(term);
    return {
      kind: 'and',
      parts: [
        { kind: 'compare', field, operator: '>=', value: lower },
        { kind: 'compare', field, operator: '<=', value: upper },
      ],
    };
  }

  #compare(term: Term): Condition {
    const { written, kind } = this.#token;
    const operator = operatorOf.get(written);
    if (operator === undefined) {
      const wanted = otherOperators.get(written.toLowerCase());
      if (wanted) throw this.#mistake({ code: 'unknown_operator', wanted }, wanted);
      const isWord = kind === 'name' && !keywords.has(written.toLowerCase());
      if (isWord || (kind === 'symbol' && !'(),'.includes(written)))
        throw this.#mistake({ code: 'unknown_operator', wanted: undefined });
      throw this.#mistake({ code: 'missing_operator', term });
    }
    if (term.type === 'boolean' && !['=', '==', '<>'].includes(operator))
      throw this.#mistake({ code: 'wrong_operator', operator: written, term });
    const { start } = this.#token;
    this.#next();
    if (this.#isWord('null')) {
      const wanted = operator === '<>' ? 'IS NOT NULL' : 'IS NULL';
      throw new Mistake({ code: 'null_comparison', wanted }, start, this.#token.end, wanted);
    }
    return { kind: 'compare', field: term.name, operator, value: this.#value(term) };
  }

  #value(term: Term): Literal {
    const token = this.#token;
    if (token.kind === 'text' && token.flaw === 'unclosed') throw this.#mistake({ code: 'unclosed_string' });
    if (token.flaw === 'double_quotes') throw this.#mistake({ code: 'double_quotes' }, quote(token.value));
    if (token.kind === 'name' && !this.#isWord('true') && !this.#isWord('false')) throw this.#unquoted(term);
    const value = literalOf(token, term, this.warnings);
    this.#next();
    return value;
  }

  /** Words without quotes, up to the next AND, OR, comma or bracket. */
  #unquoted(term: Term): Mistake {
    const { start } = this.#token;
    let { end } = this.#token;
    while (['name', 'number'].includes(this.#token.kind) && !this.#isWord('and') && !this.#isWord('or')) {
      end = this.#token.end;
      this.#next();
    }
    const text = this.#text.slice(start, end);
    if (term.type === 'number' || term.type === 'boolean')
      return new Mistake({ code: 'wrong_type', term }, start, end);
    return new Mistake({ code: 'unquoted', text: text.slice(0, 60) }, start, end, quote(text));
  }

  /** What is wrong where AND or OR should be. */
  #between(): Mistake {
    const { written, start } = this.#token;
    const wanted = otherWords.get(written);
    if (wanted && wanted !== 'NOT')
      return this.#mistake({ code: 'other_word', wanted }, written === ',' ? ` ${wanted}` : wanted);
    const isTest = this.#token.kind === 'name' && this.#vocabulary.has(written.toLowerCase());
    if (isTest) return new Mistake({ code: 'missing_and' }, start, start, 'AND ');
    return this.#mistake({ code: 'missing_and' });
  }

  #endsTest(): boolean {
    const { kind, written } = this.#token;
    return (
      kind === 'end' ||
      written === ')' ||
      otherWords.has(written) ||
      this.#isWord('and') ||
      this.#isWord('or')
    );
  }

  #isAtEnd(): boolean {
    return this.#token.kind === 'end';
  }

  #isWord(word: string): boolean {
    return this.#token.kind === 'name' && this.#token.value.toLowerCase() === word;
  }

  #takeWord(word: string): boolean {
    if (!this.#isWord(word)) return false;
    this.#next();
    return true;
  }

  #take(symbol: string): boolean {
    if (this.#token.kind !== 'symbol' || this.#token.written !== symbol) return false;
    this.#next();
    return true;
  }

  #next(): void {
    this.#token = tokenAt(this.#text, this.#token.end);
  }

  #mistake(fact: Fact, fix?: string): Mistake {
    return new Mistake(fact, this.#token.start, this.#token.end, fix);
  }

  #limit(what: Extract<Fact, { code: 'limit' }>['what'], most: number): Mistake {
    return this.#mistake({ code: 'limit', what, most });
  }
}
