import { day, parseTime, startOfWeek } from '@call-attribution/core/time';
import { applyFix, drawFrame, nearest, safeParse } from '@call-attribution/query-dsl';
import { nearestTime } from '../nearest-time.ts';
import type { Condition, Literal, Operator, Term, Vocabulary } from './condition.ts';
import { ambiguousNames, fold, nameOf, quote, wordList } from './condition.ts';
import { conditionText, selectedBy } from './filter.ts';
import { explainUnknown } from './unknown-name.ts';

/** What can be wrong with a condition. */
export type ConditionProblemCode =
  | 'empty'
  | 'expected_field'
  | 'unknown_field'
  | 'ambiguous_field'
  | 'expected_operator'
  | 'expected_value'
  | 'unknown_value'
  | 'expected_and'
  | 'unclosed'
  | 'too_deep'
  | 'api_filter';

/** The first thing wrong with a condition. Offsets are UTF-16 offsets into the text. */
export interface ConditionProblem {
  /** What kind of problem it is, for programs. */
  readonly code: ConditionProblemCode;
  /** What is wrong and what to write instead, in one line. */
  readonly message: string;
  /** Where the problem starts. */
  readonly start: number;
  /** Where it ends; equal to `start` when something is missing. */
  readonly end: number;
  /** The text at this place, cut when it is long. */
  readonly found: string;
  /** What can stand there, in words. */
  readonly expected: string;
  /** What was probably meant there. */
  readonly nearest: string | undefined;
  /** The whole condition with that, when it can be read then. */
  readonly corrected: string | undefined;
  /** The text with a caret under the place. */
  readonly frame: string;
}

/** A condition, or the first thing wrong with it. */
export type ConditionResult =
  | { readonly ok: true; readonly condition: Condition }
  | { readonly ok: false; readonly problem: ConditionProblem };

/**
 * Reads a condition. Never throws for a string, whatever it holds.
 *
 *     condition := and { OR and }
 *     and       := not { AND not }
 *     not       := NOT not | "(" condition ")" | test
 *     test      := field [ compare ]
 *     compare   := operator value | [NOT] IN "(" value { "," value } ")" | [NOT] LIKE string | [NOT] BETWEEN value AND value | IS [NOT] NULL
 */
export function readCondition(text: string, vocabulary: Vocabulary): ConditionResult {
  const read = attempt(text, vocabulary);
  if (!(read instanceof Mistake)) return { ok: true, condition: read };
  const ofFilter = filterProblem(text, vocabulary);
  if (ofFilter !== null) return { ok: false, problem: ofFilter };
  const { start, end, nearest: meant } = read.known;
  const fixed = meant === undefined ? '' : text.slice(0, start) + meant + text.slice(end);
  const isRead = fixed !== '' && !(attempt(fixed, vocabulary) instanceof Mistake);
  const problem = {
    ...read.known,
    found: text.slice(start, Math.min(end, start + 60)),
    corrected: isRead ? fixed : undefined,
    frame: drawFrame(text, start, end - start),
  };
  return { ok: false, problem };
}

/**
 * What is wrong with a condition that is a filter of the API: the reader of that language says its
 * mistakes. Null for any other text.
 */
function filterProblem(text: string, vocabulary: Vocabulary): ConditionProblem | null {
  if (!/^\s*[\p{L}_]\w*\s*:/u.test(text)) return null;
  const fields: Record<string, 'date' | 'decimal'> = {};
  for (const [name, { type }] of vocabulary) {
    if (type === 'time') fields[name] = 'date';
    if (type === 'number') fields[name] = 'decimal';
  }

  const read = safeParse(text, { fields });
  if (!read.ok && read.problem.code === 'unknown_field') return namedFilter(text, vocabulary);
  const fixed = read.ok ? text : (applyFix(text, read.problem) ?? '');
  const meant = safeParse(fixed, { fields });
  const corrected = meant.ok ? conditionText(selectedBy(meant.filter)) : '';
  const {
    message: said = '',
    start = 0,
    end = text.length,
    frame = drawFrame(text, 0, text.length),
  } = read.ok ? {} : read.problem;
  return {
    code: 'api_filter',
    message: `This is a filter in the language of the API.${said && ` ${said}`}`,
    start,
    end,
    found: text.slice(start, Math.min(end, start + 60)),
    expected: 'a condition',
    nearest: undefined,
    corrected: isCondition(corrected, vocabulary) ? corrected : undefined,
    frame,
  };
}

/** The same for a field that the API cannot filter by, such as `campaign:Brand`. */
function namedFilter(text: string, vocabulary: Vocabulary): ConditionProblem | null {
  const [, name = '', value = ''] =
    /^\s*(\w+)\s*:\s*["']?([^"',:[\]{}()]*)["']?\s*$/u.exec(text) ?? [];
  const corrected = `${name} = ${quote(value.trim())}`;
  if (value === '' || !isCondition(corrected, vocabulary)) return null;
  return {
    code: 'api_filter',
    message: `${name}: is the filter language of the API. A condition is written with =, <, > or IN.`,
    start: 0,
    end: text.length,
    found: text.slice(0, 60),
    expected: 'a condition',
    nearest: undefined,
    corrected,
    frame: drawFrame(text, 0, text.length),
  };
}

const isCondition = (text: string, vocabulary: Vocabulary): boolean =>
  text !== '' && !(attempt(text, vocabulary) instanceof Mistake);

function attempt(text: string, vocabulary: Vocabulary): Condition | Mistake {
  try {
    return new Reader(text, vocabulary).read();
  } catch (error) {
    if (error instanceof Mistake) return error;
    throw error;
  }
}

interface Place {
  readonly start: number;
  readonly end: number;
}

class Mistake {
  readonly known: Omit<ConditionProblem, 'found' | 'corrected' | 'frame'>;

  constructor(
    code: ConditionProblemCode,
    { start, end }: Place,
    expected: string,
    said: string,
    meant?: string,
  ) {
    const message = meant === undefined ? said : `${said} Did you mean ${meant.trim()}?`;
    this.known = { code, message, start, end, expected, nearest: meant };
  }
}

interface Token extends Place {
  readonly kind: 'name' | 'number' | 'text' | 'symbol' | 'end';
  /** As it was written. */
  readonly written: string;
}

const kinds = ['name', 'number', 'text', 'symbol'] as const;
const word = String.raw`[\p{L}_][\p{L}\p{N}_]*`;
/** Spaces, then a piece of one of the kinds, each a group. A string may lack its closing quote. */
const piece = new RegExp(
  [
    String.raw`\s*(?:(${word}(?:[-.]${word})*)`,
    String.raw`(-?\d+(?:\.\d+)?(?![\p{L}\d]))`,
    `('(?:[^']|'')*'?|"(?:[^"]|"")*"?)`,
    String.raw`(<=|>=|<>|!=|==|=>|=<|&&|\|\||[=<>()!,]|[^\s'"()]+))`,
  ].join('|'),
  'uy',
);

function scan(text: string): Token[] {
  const tokens: Token[] = [];
  piece.lastIndex = 0;
  for (let found = piece.exec(text); found !== null; found = piece.exec(text)) {
    const at = found.slice(1).findIndex((part) => part !== undefined);
    const written = found[at + 1] ?? '';
    const end = piece.lastIndex;
    tokens.push({ kind: kinds[at] ?? 'symbol', written, start: end - written.length, end });
  }

  const end = text.trimEnd().length;
  return [...tokens, { kind: 'end', written: '', start: end, end }];
}

const isClosed = (written: string): boolean => /^(?:'(?:[^']|'')*'|"(?:[^"]|"")*")$/.test(written);

/** The content of a string in quotes of either kind. */
const unquote = (written: string): string => {
  const mark = written.charAt(0);
  return written.slice(1, isClosed(written) ? -1 : undefined).replaceAll(mark + mark, mark);
};

const operators: ReadonlyMap<string, Operator> = new Map([
  ...(['=', '==', '<>', '<', '<=', '>', '>='] as const).map((each) => [each, each] as const),
  ['!=', '<>'],
]);
/** Words of the language. */
export const keywords: ReadonlySet<string> = new Set(
  'and or not in like is null between true false'.split(' '),
);
const valueNames: Readonly<Record<Term['type'], string>> = {
  text: "a string such as 'Brand'",
  number: 'a number such as 2.5',
  boolean: 'TRUE or FALSE',
  time: "a time such as '2026-11-20' or '2026-11-20 14:30:00'",
  day: "a day such as '2026-11-20'",
  week: "a day of the week, such as '2026-11-16'",
  month: "a month such as '2026-11'",
};

/** The values of a field, where it has certain ones; otherwise what its values look like. */
const namesOf = ({ type, values }: Term): string =>
  values?.map(quote).join(', ') ?? valueNames[type];

/** The value of a field that a text begins with, or is nearly spelled like. */
function nearestOf(text: string, known: readonly string[]): string | undefined {
  const meant = known.find((each) => fold(text).startsWith(fold(each))) ?? nearest(text, known);
  return meant && quote(meant);
}

function operatorsOf({ type }: Term): string {
  if (type === 'boolean') return '= TRUE, = FALSE or IS NULL';
  if (type === 'text') return '=, ==, <>, <, <=, >, >=, IN, LIKE, BETWEEN or IS NULL';
  return '=, <>, <, <=, >, >=, IN, BETWEEN or IS NULL';
}

/** How deep conditions may lie in each other, and how many words a name may have. */
const mostNested = 100;
const mostWords = 40;
const decimal = /^-?\d{1,15}(?:\.\d{1,9})?$/;

/** Reads one condition; throws the first `Mistake` it meets. */
class Reader {
  readonly #vocabulary: Vocabulary;
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(text: string, vocabulary: Vocabulary) {
    this.#text = text;
    this.#vocabulary = vocabulary;
    this.#tokens = scan(text);
  }

  read(): Condition {
    const example = "talk_minutes >= 2 AND state IN ('TX', 'CA')";
    if (this.#isAtEnd)
      throw this.#wrong(
        'empty',
        'a condition',
        `The condition is empty. Write one such as ${example}.`,
      );

    const condition = this.#or();
    if (!this.#isAtEnd) throw this.#between();
    return condition;
  }

  #or(): Condition {
    return this.#chain('or', () => this.#chain('and', () => this.#not()));
  }

  #chain(kind: 'and' | 'or', part: () => Condition): Condition {
    const first = part();
    const parts = [first];
    while (this.#take(kind)) parts.push(part());
    return parts.length === 1 ? first : { kind, parts };
  }

  #not(): Condition {
    const most = `at most ${mostNested} nested conditions`;
    this.#depth += 1;
    if (this.#depth > mostNested)
      throw this.#wrong('too_deep', most, `A condition may have ${most}.`);
    const opening = this.#token;
    let condition: Condition;
    if (this.#take('not')) condition = { kind: 'not', part: this.#not() };
    else if (this.#take('(')) {
      condition = this.#or();
      if (!this.#take(')')) throw this.#isAtEnd ? this.#unclosed(opening) : this.#between();
    } else condition = this.#test();

    this.#depth -= 1;
    return condition;
  }

  #test(): Condition {
    const term = this.#field();
    if (term.condition !== undefined) {
      if (
        operators.has(this.#token.written) ||
        /^(?:is|in|like|between)$/i.test(this.#token.written)
      )
        throw this.#wrong(
          'expected_and',
          'AND or OR',
          `${term.name} is a definition: it stands by itself, as in ${term.name} AND missed. Found ${this.#found}.`,
        );
      return term.condition;
    }

    const isNull = this.#take('is');
    const isNot = this.#take('not');
    const test = isNull ? this.#null(term) : this.#comparison(term, isNot);
    return isNot ? { kind: 'not', part: test } : test;
  }

  #null({ name: field }: Term): Condition {
    if (this.#take('null')) return { kind: 'null', field };
    throw this.#wrong('expected_operator', 'NULL', `After IS comes NULL; found ${this.#found}.`);
  }

  #comparison(term: Term, isNot: boolean): Condition {
    const { name: field, type } = term;
    const isFlag = type === 'boolean';

    const compare = (operator: Operator): Condition => {
      return { kind: 'compare', field, operator, value: this.#value(term) };
    };

    if (this.#take('in')) return { kind: 'in', field, values: this.#list(term) };
    if (type === 'text' && this.#take('like')) {
      const pattern = this.#value({ name: field, type });
      return { kind: 'like', field, pattern: pattern.type === 'text' ? pattern.text : '' };
    }

    if (!isFlag && this.#take('between')) {
      const lower = compare('>=');
      if (!this.#take('and'))
        throw this.#wrong('expected_and', 'AND', `Expected AND, found ${this.#found}.`);
      return { kind: 'and', parts: [lower, compare('<=')] };
    }

    const { written, start } = this.#token;
    const operator = operators.get(written);
    if (isFlag && !isNot && operator === undefined) return { kind: 'flag', field };
    if (isNot || operator === undefined || (isFlag && !['=', '==', '<>'].includes(operator)))
      throw this.#noOperator(term);
    this.#at += 1;
    if (!this.#stands('null')) return compare(operator);
    const meant = operator === '<>' ? 'IS NOT NULL' : 'IS NULL';
    const place = { start, end: this.#token.end };
    throw new Mistake('expected_operator', place, meant, 'Nothing is equal to NULL.', meant);
  }

  /**
   * A field by one of its names, which may be several words: `landing page`, or a column such as
   * `share(rank >= 4)`.
   */
  #field(): Term {
    const { kind, written, start } = this.#token;
    const name = nameOf(written);
    const own = this.#vocabulary.get(name);
    const expected = 'the name of a field';
    if (kind !== 'name' || (own === undefined && keywords.has(written.toLowerCase()))) {
      throw this.#wrong('expected_field', expected, `Expected ${expected}, found ${this.#found}.`);
    }

    const last = Math.min(this.#tokens.length - 2, this.#at + mostWords);
    for (let at = last; at > this.#at; at -= 1) {
      const words = this.#text.slice(start, this.#tokens[at]?.end);
      const term = this.#vocabulary.get(words) ?? this.#vocabulary.get(nameOf(words));
      if (term === undefined) continue;
      this.#at = at + 1;
      return term;
    }

    const meanings = wordList(ambiguousNames.get(name) ?? []);
    if (meanings !== '') {
      const message = `${written} may mean ${meanings}. Name one of them.`;
      throw this.#wrong('ambiguous_field', meanings, message);
    }

    if (own === undefined) {
      const { said, meant } = explainUnknown(written, [...this.#vocabulary.keys()]);
      const message = `There is no field ${written}. ${said}`.trimEnd();
      throw this.#wrong('unknown_field', expected, message, meant);
    }

    this.#at += 1;
    return own;
  }

  #list(term: Term): Literal[] {
    const opening = this.#token;
    if (!this.#take('(')) {
      const list = `a list in brackets, of values each ${valueNames[term.type]}`;
      throw this.#wrong('expected_value', list, `After IN comes ${list}; found ${this.#found}.`);
    }

    const values = [this.#value(term)];
    while (this.#take(',')) values.push(this.#value(term));
    if (!this.#take(')')) throw this.#unclosed(opening);
    return values;
  }

  #value(term: Term): Literal {
    const token = this.#token;
    const { kind, written } = token;
    if (kind === 'text' && !isClosed(written)) {
      const message =
        "The string has no closing quote. A quote within a string is written twice: 'O''Neil'.";
      throw this.#wrong('unclosed', 'a closing quote', message);
    }

    const value = literalOf(token, term);
    if (value === null) throw this.#noValue(term);
    const known = term.values;
    if (value.type === 'text' && known && !known.some((each) => fold(each) === fold(value.text))) {
      const meant = nearestOf(value.text, known);
      const rest = meant === undefined ? `; it is one of ${namesOf(term)}.` : '.';
      throw this.#wrong(
        'unknown_value',
        namesOf(term),
        `${term.name} is never ${written}${rest}`,
        meant,
      );
    }

    this.#at += 1;
    return value;
  }

  /**
   * What is wrong where a value should be. Words without quotes go up to the next AND, OR, comma or
   * bracket.
   */
  #noValue(term: Term): Mistake {
    const { kind, written, start, end } = this.#token;
    const rest =
      /^(?:(?!\s+(?:and|or)\b)[^,()'"])*/i.exec(this.#text.slice(start))?.[0].trimEnd() ?? '';
    const isOpen = kind !== 'text' && rest !== '';
    const text = isOpen ? rest : unquote(written);
    const time = nearestTime(text.trim()) ?? '';
    const forms = [quote(text), text.toUpperCase(), text, quote(time), quote(time.slice(0, 10))];
    const meant = term.values
      ? nearestOf(text, term.values)
      : forms.find((each) => literalOf(scan(each)[0] ?? this.#token, term) !== null);
    const place = { start, end: isOpen ? start + rest.length : end };
    const expected = namesOf(term);
    const message = `${term.name} is compared with ${expected}; found ${isOpen ? rest : this.#found}.`;
    return new Mistake('expected_value', place, expected, message, meant);
  }

  #noOperator(term: Term): Mistake {
    const { written } = this.#token;
    const expected = operatorsOf(term);
    const message = written.startsWith(':')
      ? `${term.name}: is the filter language of the API. A condition is written with =, <, > or IN.`
      : `After ${term.name} comes ${expected}; found ${this.#found}.`;
    return this.#wrong('expected_operator', expected, message);
  }

  /** What is wrong where AND or OR should be. */
  #between(): Mistake {
    const { written, start, kind } = this.#token;
    const message = `Expected AND or OR, found ${this.#found}.`;
    if (kind === 'name' && this.#vocabulary.has(nameOf(written)))
      return new Mistake('expected_and', { start, end: start }, 'AND or OR', message, 'AND ');
    return this.#wrong('expected_and', 'AND or OR', message);
  }

  #unclosed(opening: Place): Mistake {
    return new Mistake('unclosed', opening, ')', 'A bracket is not closed.');
  }

  #wrong(code: ConditionProblemCode, expected: string, message: string, meant?: string): Mistake {
    return new Mistake(code, this.#token, expected, message, meant);
  }

  get #token(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', written: '', start: 0, end: 0 };
  }

  get #isAtEnd(): boolean {
    return this.#token.kind === 'end';
  }

  /** What stands at the place, as a message shows it. */
  get #found(): string {
    const { kind, written } = this.#token;
    if (kind === 'end') return 'the end';
    return kind === 'text' ? written : JSON.stringify(written);
  }

  #stands(word: string): boolean {
    return this.#token.kind !== 'text' && this.#token.written.toLowerCase() === word;
  }

  #take(word: string): boolean {
    if (!this.#stands(word)) return false;
    this.#at += 1;
    return true;
  }
}

/** The names that a text holds outside of strings: those of fields, and of definitions. */
export const namesIn = (text: string): readonly string[] =>
  scan(text)
    .filter(({ kind }) => kind === 'name')
    .map(({ written }) => nameOf(written));

/**
 * The definitions that conditions name, and those that these name in turn.
 *
 * @example
 * definitionsIn(['lead AND missed'], { lead: 'talk_minutes >= 2', office: 'missed' }); // ['lead']
 */
export function definitionsIn(
  texts: readonly string[],
  definitions: Readonly<Record<string, string>>,
): string[] {
  const found = new Set<string>();
  const waiting = [...texts];
  for (const text of waiting)
    for (const name of namesIn(text)) {
      if (!Object.hasOwn(definitions, name) || found.has(name)) continue;
      found.add(name);
      waiting.push(String(definitions[name]));
    }

  return [...found];
}

/**
 * A condition in which the names of definitions are replaced by what they stand for, so that it
 * means the same without them.
 *
 * @example
 * spelledOut('lead AND missed', { lead: 'talk_minutes >= 2' }); // (talk_minutes >= 2) AND missed
 */
export function spelledOut(text: string, definitions: Readonly<Record<string, string>>): string {
  let spelled = '';
  let at = 0;
  for (const { kind, written, start, end } of scan(text)) {
    const name = nameOf(written);
    if (kind !== 'name' || !Object.hasOwn(definitions, name)) continue;
    spelled += `${text.slice(at, start)}(${spelledOut(String(definitions[name]), definitions)})`;
    at = end;
  }

  return spelled + text.slice(at);
}

/**
 * A condition in which values are written as `…`, but those that fields are compared with of whose
 * names `isShown` is true. A value of which nobody knows the field is not shown.
 */
export function withHidden(text: string, isShown: (name: string) => boolean): string {
  let shown = '';
  let at = 0;
  let words: string[] = [];
  let isBetween = false;
  for (const { kind, written, start, end } of scan(text)) {
    const word = nameOf(written);
    const isValue = kind === 'text' || kind === 'number';
    if (kind === 'name' && !keywords.has(word)) words.push(word);
    else if (word === 'between') isBetween = true;
    else if (word === 'and' && isBetween) isBetween = false;
    else if (kind === 'name' && (word === 'and' || word === 'or')) words = [];
    if (!isValue || isShown(words.join('_'))) continue;
    shown += `${text.slice(at, start)}…`;
    at = end;
  }

  return shown + text.slice(at);
}

/** The value of a token for a term; null when it is none. */
function literalOf({ kind, written }: Token, { type }: Term): Literal | null {
  if (type === 'boolean')
    return /^(?:true|false)$/i.test(written) ? { type, value: /t/i.test(written.charAt(0)) } : null;
  if (type === 'number')
    return kind === 'number' && decimal.test(written) ? { type, text: written } : null;
  if (kind !== 'text' || !written.startsWith("'")) return null;
  const text = unquote(written);
  if (type === 'text') return { type, text };
  const time = parseTime(
    type === 'month' && /^\d{4}-\d\d$/.test(text.trim()) ? `${text.trim()}-01` : text,
  );
  if (time === null || (type !== 'time' && !time.isWholeDay)) return null;

  // Any day of a week or month means the one that begins it, which is what the field holds.
  let { millis } = time;
  if (type === 'week') millis = startOfWeek(millis);
  if (type === 'month') millis -= (new Date(millis).getUTCDate() - 1) * day;
  return { type: 'time', millis, isWholeDay: time.isWholeDay };
}
