import { nearest } from '@call-attribution/query-dsl';
import type { Term } from './condition.ts';
import { wordList } from './names.ts';

/** What is wrong with a condition, as facts; `explain` makes a sentence of them. */
export type Fact =
  | {
      readonly code: 'limit';
      readonly what: 'characters' | 'nested conditions' | 'values in a list';
      readonly most: number;
    }
  | { readonly code: 'empty' }
  | { readonly code: 'missing_field' }
  | {
      readonly code: 'unknown_field';
      readonly suggestion: string | undefined;
      readonly names: readonly string[];
    }
  | { readonly code: 'ambiguous_field'; readonly meanings: readonly string[] }
  | { readonly code: 'filter_language' }
  | { readonly code: 'missing_operator'; readonly term: Term }
  | { readonly code: 'unknown_operator'; readonly wanted: string | undefined }
  | { readonly code: 'wrong_operator'; readonly operator: string; readonly term: Term }
  | { readonly code: 'missing_value'; readonly term: Term }
  | { readonly code: 'missing_list'; readonly term: Term }
  | { readonly code: 'wrong_type'; readonly term: Term }
  | { readonly code: 'double_quotes' }
  | { readonly code: 'unclosed_string' }
  | { readonly code: 'unquoted'; readonly text: string }
  | { readonly code: 'invalid_time'; readonly term: Term; readonly suggestion: string | undefined }
  | { readonly code: 'unknown_value'; readonly term: Term; readonly suggestion: string | undefined }
  | { readonly code: 'null_comparison'; readonly wanted: string }
  | { readonly code: 'escape' }
  | { readonly code: 'missing_and' }
  | { readonly code: 'other_word'; readonly wanted: string }
  | { readonly code: 'unclosed_bracket' }
  | { readonly code: 'extra_bracket' };

/** What can be wrong with a condition. */
export type ConditionProblemCode =
  | 'limit'
  | 'empty'
  | 'missing_field'
  | 'unknown_field'
  | 'ambiguous_field'
  | 'filter_language'
  | 'missing_operator'
  | 'unknown_operator'
  | 'wrong_operator'
  | 'missing_value'
  | 'missing_list'
  | 'wrong_type'
  | 'double_quotes'
  | 'unclosed_string'
  | 'unquoted'
  | 'invalid_time'
  | 'unknown_value'
  | 'null_comparison'
  | 'escape'
  | 'missing_and'
  | 'other_word'
  | 'unclosed_bracket'
  | 'extra_bracket';

/** One thing wrong with a condition, or one warning. Offsets are UTF-16 offsets into the text. */
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
  /** The whole condition corrected, when there is one sure way to do it. */
  readonly corrected?: string | undefined;
  /** The text with a caret under the place. */
  readonly frame: string;
}

const kinds: Readonly<Record<Term['type'], string>> = {
  text: "a string such as 'Brand'",
  number: 'a number such as 2.5',
  boolean: 'TRUE or FALSE',
  time: "a time such as '2026-11-20' or '2026-11-20 14:30:00'",
  day: "a day such as '2026-11-20'",
  week: "a day of the week, such as '2026-11-16'",
  month: "a month such as '2026-11'",
};

const operators: Readonly<Record<'text' | 'number' | 'boolean', string>> = {
  text: '=, ==, <>, <, <=, >, >=, IN, LIKE, BETWEEN or IS NULL',
  number: '=, <>, <, <=, >, >=, IN, BETWEEN or IS NULL',
  boolean: '= TRUE, = FALSE or IS NULL',
};

const operatorsOf = ({ type }: Term): string =>
  operators[type === 'text' || type === 'boolean' ? type : 'number'];

/** What is wrong and what to write, in one line. */
export function explain(fact: Fact, found: string): string {
  let shown = /^['"]/.test(found) ? found : JSON.stringify(found);
  if (found === '') shown = 'the end';
  switch (fact.code) {
    case 'limit':
      return `A condition may have at most ${fact.most.toLocaleString('en')} ${fact.what}.`;
    case 'empty':
      return "The condition is empty. Write one such as talk_minutes >= 2 AND state IN ('TX', 'CA'), or leave it out.";
    case 'missing_field':
      return `Expected the name of a field, found ${shown}.`;
    case 'unknown_field':
      return fact.suggestion
        ? `There is no field ${found}. Did you mean ${fact.suggestion}?`
        : `There is no field ${found}. Some of the fields: ${fact.names.slice(0, 8).join(', ')}.`;
    case 'ambiguous_field':
      return `${found} may mean ${wordList(fact.meanings)}. Name one of them.`;
    case 'filter_language':
      return `${found}: is written as in the filter language of the API. Pass it as \`q\`, or write the condition with =, <, > or IN.`;
    case 'missing_operator':
      return `After ${fact.term.name} comes ${operatorsOf(fact.term)}; found ${shown}.`;
    case 'unknown_operator':
      return fact.wanted
        ? `${found} is not an operator. Write ${fact.wanted}.`
        : `${found} is not an operator.`;
    case 'wrong_operator':
      return `${fact.term.name} cannot be compared with ${fact.operator}. Use ${operatorsOf(fact.term)}.`;
    case 'missing_value':
      return `Expected ${kinds[fact.term.type]} for ${fact.term.name}, found ${shown}.`;
    case 'missing_list':
      return `After IN comes a list such as (${listOf(fact.term)}); found ${shown}.`;
    case 'wrong_type':
      return `${fact.term.name} is compared with ${kinds[fact.term.type]}; found ${shown}.`;
    case 'double_quotes':
      return 'Strings are written in single quotes.';
    case 'unclosed_string':
      return "The string has no closing quote. A quote within a string is written twice: 'O''Neil'.";
    case 'unquoted':
      return `Strings are written in single quotes: '${fact.text}'.`;
    case 'invalid_time':
      return `${shown} is not ${kinds[fact.term.type]}.${
        fact.suggestion ? ` Did you mean '${fact.suggestion}'?` : ''
      }`;
    case 'unknown_value': {
      const { term, suggestion } = fact;
      const what = term.values
        ? `${term.name} is never ${shown}`
        : `${shown} is not a usual value of ${term.name}`;
      return suggestion
        ? `${what}. Did you mean '${suggestion}'?`
        : `${what}; it is one of ${valuesOf(term)}.`;
    }
    case 'null_comparison':
      return `Nothing is equal to NULL. Write ${fact.wanted}.`;
    case 'escape':
      return 'In a pattern a backslash comes before %, _ or another backslash.';
    case 'missing_and':
      return `Expected AND or OR, found ${shown}.`;
    case 'other_word':
      return `Write ${fact.wanted} instead of ${found}.`;
    case 'unclosed_bracket':
      return 'A bracket is not closed.';
    case 'extra_bracket':
      return 'This bracket was never opened.';
  }
}

const sampleLists: Readonly<Record<string, string>> = {
  text: "'a', 'b'",
  number: '1, 2',
  boolean: 'TRUE, FALSE',
};

const listOf = (term: Term): string =>
  term.values
    ? term.values
        .slice(0, 2)
        .map((value) => `'${value}'`)
        .join(', ')
    : (sampleLists[term.type] ?? "'2026-11-20'");

const valuesOf = ({ values = [], usualValues = values }: Term): string =>
  usualValues.map((value) => `'${value}'`).join(', ');

/** The value that was meant, when one is close. */
export function closest(value: string, values: readonly string[]): string | undefined {
  const lower = value.toLowerCase();
  return values.find((each) => lower.startsWith(each.toLowerCase())) ?? nearest(value, values);
}
