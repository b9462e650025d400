import { nearest } from '@call-attribution/query-dsl';
import { QuestionError } from '../errors.ts';

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
  | {
      readonly kind: 'in';
      readonly field: string;
      readonly values: readonly Literal[];
      /** Text compares exactly. Without it case does not matter, as with `=`. */
      readonly exact?: boolean;
    }
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
  /** What a number is: whole, in tenths, or any. */
  readonly number?: 'whole' | 'tenths' | 'float';
  /** The day that a week begins with. Default Monday. */
  readonly weekStart?: 'sunday';
  /** All values there can be. Another one is a mistake. */
  readonly values?: readonly string[];
  /** These values have an order of their own: `<` and `>` follow it, and not the characters. */
  readonly isOrdered?: true;
}

/** The terms of a condition by name. Several names may lead to one term. */
export type Vocabulary = ReadonlyMap<string, Term>;

/** The last moment that a time can name: times are written with four digits of a year. */
export const latestTime = Date.parse('9999-12-31T23:59:59.999Z');

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

/** A condition that came as data, with the own names of its fields and each key in its place, as if it had been read. */
export function namedCondition(condition: Condition, vocabulary: Vocabulary): Condition {
  if ('parts' in condition)
    return { kind: condition.kind, parts: condition.parts.map((part) => namedCondition(part, vocabulary)) };
  if (condition.kind === 'not') return { kind: 'not', part: namedCondition(condition.part, vocabulary) };
  const { kind } = condition;
  const field = vocabulary.get(condition.field)?.name;
  if (field === undefined) {
    const meant = nearest(String(condition.field), [...vocabulary.keys()]);
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
    throw new QuestionError(
      'unknown_name',
      `A condition names the field ${JSON.stringify(condition.field)}, which does not exist.${hint}`,
    );
  }
  switch (kind) {
    case 'compare':
      return { kind, field, operator: condition.operator, value: plain(condition.value) };
    case 'in':
      return {
        kind,
        field,
        values: condition.values.map(plain),
        ...(condition.exact ? { exact: true } : {}),
      };
    case 'like':
      return { kind, field, pattern: condition.pattern };
    default:
      return { kind, field };
  }
}

function plain(value: Literal): Literal {
  const { type } = value;
  if (type === 'boolean') return { type, value: value.value };
  if (type === 'time') return { type, millis: value.millis, isWholeDay: value.isWholeDay };
  return { type, text: value.text };
}
