import { formatNaiveTenths } from '@call-attribution/core/time';

/** A value of a field: a time or the start of a day, week or month in milliseconds. Null when the call has none. */
export type Value = string | number | boolean | null;

/** A value that a condition compares with. */
export type Literal =
  | { readonly type: 'text'; readonly text: string }
  /** A decimal number as it was written, so that nothing is rounded. */
  | { readonly type: 'number'; readonly text: string }
  | { readonly type: 'boolean'; readonly value: boolean }
  /** A naive time in milliseconds; a whole day when no time of day was given. */
  | { readonly type: 'time'; readonly millis: number; readonly isWholeDay: boolean };

/** Comparison operators. Of text, `=` and `<>` ignore case and `==` does not; the order is that of the characters. */
export type Operator = '=' | '==' | '<>' | '<' | '<=' | '>' | '>=';

/**
 * A condition as plain data. As in SQL, a comparison with a field that has no value is neither true nor false, and `not`
 * leaves it so: only `null` finds such calls.
 */
export type Condition =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Condition[] }
  | { readonly kind: 'not'; readonly part: Condition }
  | { readonly kind: 'compare'; readonly field: string; readonly operator: Operator; readonly value: Literal }
  | { readonly kind: 'in'; readonly field: string; readonly values: readonly Literal[] }
  /** A pattern, in which `%` is any run of characters and `_` any one. Case does not matter. */
  | { readonly kind: 'like'; readonly field: string; readonly pattern: string }
  | { readonly kind: 'null'; readonly field: string }
  /** A field that is true or false by itself, such as `missed`. */
  | { readonly kind: 'flag'; readonly field: string };

/** A condition on one field. */
export type Test = Exclude<Condition, { kind: 'and' | 'or' | 'not' }>;

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
}

/** The terms of a condition by name. Several names may lead to one term. */
export type Vocabulary = ReadonlyMap<string, Term>;

/** The fields that a condition names, each once. */
export function fieldsOf(condition: Condition): ReadonlySet<string> {
  const names = new Set<string>();
  const walk = (part: Condition): void => {
    if ('parts' in part) for (const each of part.parts) walk(each);
    else if (part.kind === 'not') walk(part.part);
    else names.add(part.field);
  };
  walk(condition);
  return names;
}

/** A condition as text, so that one that came as data is read, and refused, as every other. */
export function printCondition(condition: Condition): string {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.parts.map((part) => `(${printCondition(part)})`).join(` ${condition.kind} `);
    case 'not':
      return `NOT (${printCondition(condition.part)})`;
    case 'compare':
      return `${condition.field} ${condition.operator} ${printLiteral(condition.value)}`;
    case 'in':
      return `${condition.field} IN (${condition.values.map(printLiteral).join(', ')})`;
    case 'like':
      return `${condition.field} LIKE ${quote(condition.pattern)}`;
    case 'null':
      return `${condition.field} IS NULL`;
    case 'flag':
      return condition.field;
  }
}

function printLiteral(value: Literal): string {
  if (value.type === 'boolean') return String(value.value);
  if (value.type === 'time')
    return quote(formatNaiveTenths(value.millis).slice(0, value.isWholeDay ? 10 : undefined));
  return value.type === 'text' ? quote(value.text) : value.text;
}

/** A string as a condition writes it. */
export const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;
