import { monthName } from './calendar.ts';
import type { FieldType } from './filter.ts';
import { codeOf, drawFrame, type Fact, type Fix, type Problem } from './problem.ts';

/** A fact about a string as a problem that can be shown. */
export function toProblem(text: string, fact: Fact, fix?: Fix): Problem {
  const { start, end } = fact;
  // Where something is missing, what is found is the next character.
  const found = text.slice(start, Math.max(end, start + 1));
  const { message, expected } = explain(fact, found);
  return {
    code: codeOf(fact),
    message,
    start,
    end,
    found: visible(found) || 'nothing',
    expected,
    suggestions: fact.reason === 'unknown_field' && fact.suggestion !== undefined ? [fact.suggestion] : [],
    fix,
    get frame() {
      return drawFrame(text, start, end - start);
    },
  };
}

/** A fact in words. */
interface Explanation {
  /** What is wrong and what to write instead: one line. */
  readonly message: string;
  /** What could be at the place instead. */
  readonly expected: readonly string[];
}

const dateForm = 'YYYY-MM-DD HH:MM:SS';

/** The words for a fact. This is the only place where messages about filters are written. */
function explain(fact: Fact, found: string): Explanation {
  const shown = found === '' ? 'nothing' : quote(found);
  const isMissing = fact.start === fact.end;
  const say = (message: string, ...expected: readonly string[]): Explanation => ({ message, expected });
  switch (fact.reason) {
    // The whole text.
    case 'too_long':
      return say(`A filter may have at most ${fact.most} characters; this one has ${fact.length}.`);
    case 'too_many_clauses':
      return say(`A filter may have at most ${fact.most} clauses.`);
    case 'still_encoded':
      return say(
        `The filter is still percent-encoded: found ${shown}. Decode it first, for example with fromQueryParam.`,
      );
    case 'bad_encoding':
      return say('This is not percent-encoded UTF-8. A percent sign is encoded as "%25".', '%25');
    case 'parameter_name':
      return say(`Remove ${shown}; the filter is only the value of this parameter.`);

    // Between clauses.
    case 'stray':
      return say(`Remove ${nameOf(found)}; it does not belong here.`);
    case 'nothing_before_comma':
      return say('There is no clause before this comma. Remove the comma.');
    case 'nothing_after_comma':
      return say('There is no clause after the last comma. Remove the comma or add a clause.');
    case 'missing_comma':
      return say(`Write a comma between two clauses, before ${quote(fact.next)}.`, ',');
    case 'wrong_comma':
      return say(`Write a comma between two clauses, not ${shown}.`, ',');
    case 'or':
      return say(
        `${shown} is not supported: a record has to match every clause. Send one request for each alternative.`,
      );
    case 'not':
      return say(`${shown} is not supported: a clause can only say which values to include.`);
    case 'extra_bracket':
      return say(`Remove ${shown}; a range has one bracket at each end.`);
    case 'unexpected_text':
      return say(`Expected a comma and another clause, found ${shown}.`, ',');

    // Fields and operators.
    case 'missing_field':
      return say(
        `Expected a field name, found ${shown}. Fields that can be filtered: ${list(fact.names)}.`,
        ...fact.names,
      );
    case 'unknown_field':
      return say(
        fact.suggestion === undefined
          ? `${shown} cannot be filtered. Fields that can be filtered: ${list(fact.names)}.`
          : `There is no field ${shown} to filter by. Did you mean "${fact.suggestion}"?`,
        ...fact.names,
      );
    case 'other_version':
      return say(`"${fact.field}" works only in v3, and this filter is for v2. Leave it out, or use v3.`);
    case 'wrong_colon':
      return say(
        /^\s*:?$/.test(isMissing ? '' : found)
          ? 'Write ":" directly after the field name.'
          : `Write ":" after the field name, not ${quote(found.trim())}.`,
        ':',
      );
    case 'missing_range':
      return say(
        `Expected a range after "${fact.field}", such as "${exampleOf(fact.type)}"; found ${shown}.`,
        '[',
        '{',
      );
    case 'bare_value': {
      const value = quote(found.replace(quotesAround, ''));
      return fact.range === undefined
        ? say(`Expected a range in brackets, found ${value}.`, '[', '{')
        : say(`A value has to be written as a range. Write "${fact.range}" instead of ${value}.`, fact.range);
    }
    case 'comparison':
      return fact.clause === undefined
        ? say(
            `"${fact.operator}" is not supported. Write a range such as "${exampleOf(fact.type)}".`,
            '[',
            '{',
          )
        : say(`"${fact.operator}" is not supported. Write the range "${fact.clause}".`, fact.clause);
    case 'unsupported_operator':
      return say(`${shown} is not supported: a clause can only say which values to include, as a range.`);
    case 'flag_value':
      return say('"inc_gce" accepts only the value 1. Write "inc_gce:1", or leave it out.', '1');
    case 'flag_range':
      return say(`"${fact.field}" has no range. Use includeCallExtensions().`);

    // Ranges.
    case 'wrong_bracket':
      return say(`Write "${fact.bracket}" for a bound that is excluded, not ${shown}.`, fact.bracket);
    case 'unclosed_range':
      return say('The range is not closed. Add "]", or "}" to exclude the upper bound.', ']', '}');
    case 'missing_bound':
      return say(
        `The range has no ${fact.side} bound. Write ${kindOf(fact.type)}, or "*" for no limit.`,
        formOf(fact.type),
        '*',
      );
    case 'single_bound':
      return say(
        fact.bound === '*'
          ? 'A range needs two bounds. Write "[* TO *]" for any value.'
          : `A range needs two bounds. Write "[${fact.bound} TO *]" for ${fact.bound} or more, or "[${fact.bound} TO ${fact.bound}]" for exactly ${fact.bound}.`,
        ' TO ',
      );
    case 'wrong_to':
      return say(wrongTo(fact.written, found.slice(0, fact.end - fact.start)), fact.wanted);
    case 'unexpected_in_range':
      return say(`Expected "]" or "}" at the end of the range, found ${shown}.`, ']', '}');
    case 'inverted':
      return say(
        `The lower bound ${fact.lower} is above the upper bound ${fact.upper}.${fact.range === undefined ? '' : ` Write "${fact.range}".`}`,
        ...(fact.range === undefined ? [] : [fact.range]),
      );

    // Numbers.
    case 'not_a_number':
      return say(`Expected a number such as 2 or 2.5, found ${shown}.`, 'decimal', '*');
    case 'number_form':
      return say(`Write the number as "${fact.number}", not ${shown}.`, fact.number);
    case 'number_size':
      return say(`A number may have at most ${fact.most} digits before the decimal point.`, 'decimal', '*');
    case 'decimal_comma':
      return say('Write a decimal point, not a comma.', '.');
    case 'unit':
      return say(`Remove ${shown}; the number alone means minutes.`);
    case 'date_for_number':
      return say(`"${fact.field}" takes numbers, not dates such as ${shown}.`, 'decimal', '*');

    // Dates.
    case 'not_a_date':
      return say(`Expected a date as ${dateForm}, found ${shown}.`, dateForm, '*');
    case 'date_form':
      return say(`Write the date as "${fact.date}" (${dateForm}), not ${shown}.`, fact.date);
    case 'date_without_time':
      return say(withoutTime(fact), fact.bound ?? dateForm);
    case 'date_with_zone':
      return say(
        `A date in a filter has no time zone. Convert it to the time zone of the account and remove ${shown}.`,
        dateForm,
      );
    case 'date_with_fraction':
      return say(`A date in a filter is exact to the second. Remove ${shown}.`, dateForm);
    case 'no_such_date': {
      const { part, value, least, most, year, month } = fact;
      const range = `${twoDigits(least)} to ${twoDigits(most)}`;
      return say(
        part === 'day'
          ? `There is no day ${value}: ${monthName(year, month)} has ${most} days.`
          : `There is no ${part} ${value}: write ${range}.`,
        range,
      );
    }

    // Warnings.
    case 'any_value':
      return say(`This matches every record that has a value in ${fact.field}.`);
    case 'empty_range':
      return say(`This matches nothing, because ${fact.bound} itself is excluded.`);
    case 'undocumented_bracket':
      return say('"{" and "}" are documented for v2, not for v3.');
  }
}

function wrongTo(written: string, found: string): string {
  if (/^\s*to\s*$/i.test(written)) {
    const isCase = !written.includes('TO');
    if (isCase) return `Write "TO" in capital letters, not ${quote(written.trim())}.`;
    return `Write exactly one space before and after "TO"${/^\s+$/.test(found) ? `; found ${quote(found)}` : ''}.`;
  }
  return `Write " TO " between the two bounds${written.trim() === '' ? '' : `, not ${quote(written.trim())}`}.`;
}

const lacking = {
  year: 'is not a full date',
  month: 'is not a full date',
  day: 'has no time of day',
  minute: 'has no seconds',
};

function withoutTime({
  date,
  precision,
  side,
  needsEnd,
  bound,
}: Extract<Fact, { reason: 'date_without_time' }>): string {
  const problem = `"${date}" ${lacking[precision]}.`;
  if (bound === undefined) return `${problem} Write it as ${dateForm}.`;
  if (!needsEnd) return `${problem} Write "${bound}".`;
  return `${problem} To ${side === 'upper' ? 'include' : 'exclude'} all of it, write "${bound}".`;
}

const exampleOf = (type: FieldType): string =>
  type === 'date' ? '[2024-01-01 00:00:00 TO 2024-02-01 00:00:00}' : '[2 TO 5]';

const kindOf = (type: FieldType): string => (type === 'date' ? `a date as ${dateForm}` : 'a number');
const formOf = (type: FieldType): string => (type === 'date' ? dateForm : 'decimal');

const twoDigits = (value: number): string => String(value).padStart(2, '0');

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
  return names[found] ?? quote(found);
}

const quotesAround = /^["'`\u2018\u2019\u201c\u201d]+|["'`\u2018\u2019\u201c\u201d]+$/g;

const mostShown = 40;

/** Text that can be shown in one line: cut when it is long, with characters outside ASCII named as `U+00A0`. */
function visible(text: string): string {
  return text
    .slice(0, mostShown)
    .replace(/[^ -~]/gu, (char) => `U+${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`);
}

const quote = (text: string): string => `"${visible(text)}"`;
