/**
 * A value of a field: a time or the start of a day, week or month in milliseconds. Null when the
 * call has none.
 */
export type Value = string | number | boolean | null;

/** A value that a condition compares with. */
export type Literal =
  | { readonly type: 'text'; readonly text: string }
  /** A decimal number as it was written, so that nothing is rounded. */
  | { readonly type: 'number'; readonly text: string }
  | { readonly type: 'boolean'; readonly value: boolean }
  /** A naive time in milliseconds; a whole day when no time of day was given. */
  | { readonly type: 'time'; readonly millis: number; readonly isWholeDay: boolean };

/**
 * Comparison operators. Of text, `=` and `<>` ignore case and `==` does not; the order is that of
 * the characters.
 */
export type Operator = '=' | '==' | '<>' | '<' | '<=' | '>' | '>=';

/**
 * A condition as plain data. As in SQL, a comparison with a field that has no value is neither true
 * nor false, and `not` leaves it so: only `null` finds such calls.
 */
export type Condition =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Condition[] }
  | { readonly kind: 'not'; readonly part: Condition }
  | {
      readonly kind: 'compare';
      readonly field: string;
      readonly operator: Operator;
      readonly value: Literal;
    }
  | { readonly kind: 'in'; readonly field: string; readonly values: readonly Literal[] }
  /** A pattern, in which `%` is any run of characters and `_` any one. Case does not matter. */
  | { readonly kind: 'like'; readonly field: string; readonly pattern: string }
  | { readonly kind: 'null'; readonly field: string }
  /** A field that is true or false by itself, such as `missed`. */
  | { readonly kind: 'flag'; readonly field: string }
  /**
   * A test of a definition that was judged before calls were masked; `at` is its place among
   * such tests. See `judgedEarly`.
   */
  | {
      readonly kind: 'judged';
      readonly field: string;
      readonly at: number;
      readonly test: Test;
    };

/** A condition on one field. */
export type Test = Exclude<Condition, { kind: 'and' | 'or' | 'not' | 'judged' }>;

/** What a condition may compare: a field, something derived from fields, or a measure. */
export interface Term {
  /** Its name. */
  readonly name: string;
  /** What its values are. */
  readonly type: 'text' | 'number' | 'time' | 'day' | 'week' | 'month' | 'boolean';
  /** All values there can be. Another one is a mistake. */
  readonly values?: readonly string[];
  /** These values have an order of their own: `<` and `>` follow it, and not the characters. */
  readonly isOrdered?: true;
  /** Its values are phone numbers: spellings of one number are equal. */
  readonly isPhone?: true;
  /** What a definition stands for; a field has none. */
  readonly condition?: Condition;
}

/** The terms of a condition by name. Several names may lead to one term. */
export type Vocabulary = ReadonlyMap<string, Term>;

/**
 * The field of a masked call that keeps what tests said of it before it was masked: a character
 * for each test, and nothing where the masked call says the same of all.
 */
export const judgedField = 'judged_before_masking';

/** The fields that a condition names, each once. */
export function fieldsOf(condition: Condition): ReadonlySet<string> {
  const names = new Set<string>();

  const walk = (part: Condition): void => {
    if ('parts' in part) for (const each of part.parts) walk(each);
    else if (part.kind === 'not') walk(part.part);
    else names.add(part.field);
    if (part.kind === 'judged') names.add(judgedField);
  };

  walk(condition);
  return names;
}

/**
 * A text as a condition writes it.
 *
 * @example
 * const where = `state = ${quote(state)}`;
 */
export const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/**
 * A text in which letters that differ only by case are the same: of the two lower-case sigmas there
 * is one capital.
 */
export const fold = (text: string): string => text.toUpperCase();

/** The order of two values. What has no value comes last either way. */
export function compareValues(x: Value, y: Value, descending = false): number {
  if (x === y) return 0;
  if (x === null) return 1;
  if (y === null) return -1;
  return x < y === descending ? 1 : -1;
}

/** A name as the vocabulary has it: in small letters, with `_` between its words. */
export const nameOf = (written: string): string =>
  written
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');

/** Words that people use for several fields. They are refused, with the fields they may mean. */
export const ambiguousNames: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    name: ['first_name', 'last_name'],
    number: ['ani', 'dnis'],
    phone: ['ani', 'dnis'],
    page: ['landing_page', 'conversion_page'],
    touch: ['first_touch', 'last_touch'],
    title: ['first_touch_title', 'last_touch_title'],
    domain: ['first_touch_domain', 'last_touch_domain', 'referrer'],
    version: ['os_version', 'browser_version'],
    id: ['sid', 'acct_id', 'pid', 'custom_id'],
  }),
);

/** Words as a sentence lists them: a, b or c. */
export const wordList = (words: readonly string[], before = 'or'): string =>
  words.length < 2
    ? (words[0] ?? '')
    : `${words.slice(0, -1).join(', ')} ${before} ${words.at(-1)}`;
