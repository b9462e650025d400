import {
  checkOption,
  checkOptions,
  either,
  group,
  kinds,
  type OptionKind,
  type OptionShape,
} from '@call-attribution/core/errors';
import type { CallSelection, Measure, Question, QuestionLimits, WorthRule, WorthRules } from './question.ts';

// An option that does not exist, or that has a value of another type, would otherwise be an answer to another question.
// What a value says is checked where it is read, with better messages.

const finite: OptionKind = {
  expected: 'a number',
  accepts: (value) => Number.isFinite(value),
  isShown: true,
};
const count: OptionKind = { ...finite, expected: 'a whole number', accepts: Number.isSafeInteger };
const listOf = (what: string, kind: OptionKind): OptionKind => ({
  expected: `an array of ${what}`,
  accepts: (value) => Array.isArray(value) && Array.from(value).every((each) => kind.accepts(each)),
});
const condition: OptionKind = {
  expected: "a condition such as 'talk_minutes >= 2', or one as an object",
  accepts: either(kinds.string, kinds.object).accepts,
};
const time: OptionKind = { ...kinds.string, expected: "a time such as '2026-11-20'" };
const measure: OptionKind = {
  expected: "the name of a measure such as 'calls', or { distinct: field }",
  accepts: either(kinds.string, kinds.object).accepts,
};
const distinctShape = { distinct: kinds.string };

/** The options of a selection. */
export const selectionShape = {
  from: time,
  to: time,
  timeZone: kinds.string,
  inZone: kinds.string,
  accounts: listOf('names', kinds.string),
  calls: kinds.string,
  where: condition,
  q: kinds.string,
} satisfies OptionShape & Record<keyof CallSelection, OptionKind>;

const limitShape = {
  signal: kinds.signal,
  timeLimit: kinds.milliseconds,
} satisfies OptionShape & Record<keyof QuestionLimits, OptionKind>;

const countShape = { ...selectionShape, ...limitShape };

const ruleShape = {
  where: condition,
  minMinutes: finite,
  maxMinutes: finite,
  campaign: kinds.string,
  label: kinds.string,
  value: finite,
} satisfies OptionShape & Record<keyof WorthRule, OptionKind>;

const questionShape = {
  ...countShape,
  groupBy: listOf('names of fields', kinds.string),
  measures: kinds.list,
  having: kinds.string,
  order: kinds.string,
  limit: count,
  topPer: count,
  compare: {
    expected: "'previous', 'year' or { from, to }",
    accepts: either(kinds.string, kinds.object).accepts,
    inner: { from: time, to: time },
  },
  spend: { ...kinds.object, expected: "an object such as { 'Brand': 90 }" },
  values: group({ rules: kinds.list, otherwise: finite } satisfies OptionShape &
    Record<keyof WorthRules, OptionKind>),
  personal: {
    expected: "'show' or a function",
    accepts: (value) => value === 'show' || typeof value === 'function',
    isShown: true,
  },
} satisfies OptionShape & Record<keyof Question, OptionKind>;

/** Refuses a question with unknown options or values of another type. */
export function checkQuestion(question: Question): Question {
  checkNamed('question', question, questionShape);
  const { measures = [], spend = {}, values } = question;
  measures.forEach(checkMeasure);
  for (const [name, amount] of Object.entries(spend))
    checkOption(`spend[${JSON.stringify(name.slice(0, 40))}]`, finite, amount);
  if (values !== undefined) {
    checkOption('values.rules', kinds.list, values.rules);
    values.rules.forEach(checkRule);
  }
  return question;
}

/** The same for what `count` takes. */
export function checkCount(selection: CallSelection & QuestionLimits): CallSelection & QuestionLimits {
  checkNamed('selection', selection, countShape);
  return selection;
}

function checkRule(rule: WorthRule, i: number): void {
  checkOption(`values.rules[${i}]`, kinds.object, rule);
  checkOptions(rule, ruleShape, `values.rules[${i}].`);
  checkOption(`values.rules[${i}].value`, finite, rule.value);
}

function checkMeasure(given: Measure, i: number): void {
  checkOption(`measures[${i}]`, measure, given);
  if (typeof given !== 'object') return;
  checkOptions(given, distinctShape, `measures[${i}].`);
  checkOption(`measures[${i}].distinct`, kinds.string, given.distinct);
}

/** Refuses unknown options of the argument `name`, and values of another type. */
export function checkNamed(name: string, given: unknown, shape: OptionShape): void {
  checkOption(name, kinds.object, given);
  checkOptions(given, shape);
}
