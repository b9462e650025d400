import { monthName } from './calendar.ts';
import {
  drawFrame,
  type Fact,
  type FactOf,
  type Fix,
  type Problem,
  type ProblemCode,
  type Reason,
} from './problem.ts';

/** How a text is corrected. */
export interface Correction {
  /** Corrects the whole text; undefined when that cannot be done for sure. */
  readonly fix: Fix | undefined;
  /** What to write in place of the clause that has the problem. */
  readonly clause: string | undefined;
}

/** A fact about a string as a problem that can be shown. */
export function toProblem(text: string, fact: Fact, { fix, clause }: Partial<Correction> = {}): Problem {
  const { start, end } = fact;
  // Where something is missing, what is found is the next character.
  const found = text.slice(start, Math.max(end, start + 1));
  const { reason } = fact;
  const advice = clause === undefined || saysWhat.has(reason) ? '' : ` Write "${clause}".`;
  return {
    code: codes[reason] ?? 'syntax',
    message: sayFact(fact, found) + advice,
    start,
    end,
    found: visible(found) || 'nothing',
    expected: expectedBy(fact),
    suggestions: reason === 'unknown_field' && fact.suggestion !== undefined ? [fact.suggestion] : [],
    fix,
    frame: drawFrame(text, start, end - start),
  };
}

// The sentences that say what to write themselves.
const saysWhat: ReadonlySet<Reason> = new Set(['stray', 'unknown_field', 'flag_value']);

/** The public code of each reason that is not simply a mistake of syntax. */
const codes: Partial<Record<Reason, ProblemCode>> = {
  too_long: 'limit',
  too_many_clauses: 'limit',
  unknown_field: 'unknown_field',
  other_version: 'unknown_field',
  inverted: 'bound',
  not_a_number: 'bound',
  number_size: 'bound',
  date_for_number: 'bound',
  not_a_date: 'bound',
  date_with_zone: 'bound',
  date_with_fraction: 'bound',
  no_such_date: 'bound',
  any_value: 'any_value',
  empty_range: 'empty_range',
  undocumented_bracket: 'undocumented',
};

const dateForm = 'YYYY-MM-DD HH:MM:SS';

/** What could be at the place of a fact. */
function expectedBy(fact: Fact): readonly string[] {
  switch (fact.reason) {
    case 'missing_field':
    case 'unknown_field':
      return fact.names;
    case 'missing_bound':
      return [fact.type === 'date' ? dateForm : 'decimal', '*'];
    case 'wrong_bracket':
      return [fact.bracket];
    case 'no_such_date':
      return [valuesOf(fact)];
    default:
      return expected[fact.reason] ?? [];
  }
}

const expected: Partial<Record<Reason, readonly string[]>> = {
  bad_encoding: ['%25'],
  missing_comma: [','],
  wrong_colon: [':'],
  missing_range: ['[', '{'],
  flag_value: ['1'],
  single_bound: [' TO '],
  wrong_to: [' TO '],
  unclosed_range: [']', '}'],
  not_a_number: ['decimal', '*'],
  number_size: ['decimal', '*'],
  date_for_number: ['decimal', '*'],
  not_a_date: [dateForm, '*'],
  date_with_zone: [dateForm],
  date_with_fraction: [dateForm],
};

/** The sentence for a fact: what is wrong, what was expected and what was found. `shown` is the text at its place. */
type Say<R extends Reason> = (fact: FactOf<R>, shown: string, found: string) => string;

// The only place where messages about filters are written.
const sentences: { readonly [R in Reason]: Say<R> } = {
  too_long: ({ most, length }) => `A filter may have at most ${most} characters; this one has ${length}.`,
  too_many_clauses: ({ most }) => `A filter may have at most ${most} clauses.`,
  still_encoded: (_, shown) =>
    `The filter is still percent-encoded: found ${shown}. Decode it first, for example with fromQueryParam.`,
  bad_encoding: () => 'This is not percent-encoded UTF-8. A percent sign is encoded as "%25".',
  parameter_name: (_, shown) => `Remove ${shown}; the filter is only the value of this parameter.`,

  stray: (_, __, found) => `Remove ${nameOf(found)}; it does not belong here.`,
  empty_clause: () => 'There is no clause next to this comma. Remove the comma or add a clause.',
  missing_comma: (_, shown) => `Expected a comma and another clause, found ${shown}.`,
  or: (_, shown) =>
    `${shown} is not supported: a record has to match every clause. Send one request for each alternative.`,
  not: (_, shown) => `${shown} is not supported: a clause can only say which values to include.`,

  missing_field: ({ names }, shown) =>
    `Expected a field name, found ${shown}. Fields that can be filtered: ${list(names)}.`,
  unknown_field: ({ suggestion, names }, shown) =>
    suggestion === undefined
      ? `${shown} cannot be filtered. Fields that can be filtered: ${list(names)}.`
      : `There is no field ${shown} to filter by. Did you mean "${suggestion}"?`,
  other_version: ({ field }) =>
    `"${field}" works only in v3, and this filter is for v2. Leave it out, or use v3.`,
  wrong_colon: ({ field }, shown) => `Expected ":" directly after "${field}", found ${shown}.`,
  missing_range: ({ field, type }, shown) =>
    `Expected a range after "${field}", such as "${type === 'date' ? dateRange : '[2 TO 5]'}"; found ${shown}.`,
  flag_value: () => '"inc_gce" accepts only the value 1. Write "inc_gce:1", or leave it out.',
  flag_range: ({ field }) => `"${field}" has no range. Use includeCallExtensions().`,

  missing_bound: ({ type }, shown) =>
    `Expected ${type === 'date' ? `a date as ${dateForm}` : 'a number'}, or "*" for no limit; found ${shown}.`,
  single_bound: ({ bound }) =>
    bound === '*'
      ? 'A range needs two bounds. Write "[* TO *]" for any value.'
      : `A range needs two bounds. Write "[${bound} TO *]" for ${bound} or more, or "[${bound} TO ${bound}]" for exactly ${bound}.`,
  wrong_to: (_, shown) =>
    `Expected " TO " between the two bounds, with one space on each side; found ${shown}.`,
  wrong_bracket: ({ bracket }, shown) =>
    `Expected "${bracket}" for a bound that is excluded, found ${shown}.`,
  unclosed_range: (_, shown) =>
    `Expected "]" at the end of the range, or "}" to exclude the bound; found ${shown}.`,
  inverted: ({ lower, upper }) => `The lower bound ${lower} is above the upper bound ${upper}.`,

  not_a_number: (_, shown) => `Expected a number such as 2 or 2.5, found ${shown}.`,
  number_size: ({ most }) => `A number may have at most ${most} digits before the decimal point.`,
  date_for_number: ({ field }, shown) => `"${field}" takes numbers, not dates such as ${shown}.`,
  not_a_date: (_, shown) => `Expected a date as ${dateForm}, found ${shown}.`,
  date_with_zone: (_, shown) =>
    `A date in a filter has no time zone. Convert it to the time zone of the account and remove ${shown}.`,
  date_with_fraction: (_, shown) => `A date in a filter is exact to the second. Remove ${shown}.`,
  no_such_date: (fact) =>
    fact.part === 'day'
      ? `There is no day ${fact.value}: ${monthName(fact.year, fact.month)} has ${fact.most} days.`
      : `There is no ${fact.part} ${fact.value}: write ${valuesOf(fact)}.`,

  any_value: ({ field }) => `This matches every record that has a value in ${field}.`,
  empty_range: ({ bound }) => `This matches nothing, because ${bound} itself is excluded.`,
  undocumented_bracket: () => '"{" and "}" are documented for v2, not for v3.',
};

function sayFact<R extends Reason>(fact: FactOf<R>, found: string): string {
  const shown = found === '' ? 'nothing' : `"${visible(found.replace(quotesAround, '') || found)}"`;
  return sentences[fact.reason](fact, shown, found);
}

const dateRange = '[2024-01-01 00:00:00 TO 2024-02-01 00:00:00}';

const valuesOf = ({ least, most }: FactOf<'no_such_date'>): string =>
  `${String(least).padStart(2, '0')} to ${String(most).padStart(2, '0')}`;

/** Names as people list them: `a, b and c`. */
const list = (names: readonly string[]): string => names.join(', ').replace(/, ([^,]*)$/, ' and $1');

const names: Readonly<Record<string, string>> = {
  ' ': 'the space',
  '\t': 'the tab (U+0009)',
  '\n': 'the line break (U+000A)',
  '\u00a0': 'the no-break space (U+00A0)',
};

// A space or a quotation mark within quotation marks is hard to see.
function nameOf(found: string): string {
  if (/["'`\u2018\u2019\u201c\u201d]/.test(found)) return 'the quotation mark';
  if (/^ {2,}$/.test(found)) return 'the spaces';
  return names[found] ?? `"${visible(found)}"`;
}

const quotesAround = /^["'`\u2018\u2019\u201c\u201d]+|["'`\u2018\u2019\u201c\u201d]+$/g;

const mostShown = 40;

/** Text that can be shown in one line: cut when it is long, with characters outside ASCII named as `U+00A0`. */
function visible(text: string): string {
  return text
    .slice(0, mostShown)
    .replace(/[^ -~]/gu, (char) => `U+${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`);
}
