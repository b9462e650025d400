import { fields as callFields } from '@call-attribution/core/record';
import type { Condition, Literal, Term } from '../conditions/condition.ts';
import { fold } from '../conditions/fold.ts';
import { compileCondition, type Value } from '../conditions/holds.ts';
import type { QuestionField } from '../fields/vocabulary.ts';
import { type PartValue, shownMoment } from '../question/measures.ts';
import type { Plan } from '../question/plan.ts';
import { distance } from './distance.ts';

/** A condition of a question, which may be true of no call. */
export interface AskedCondition {
  /** The condition. */
  readonly condition: Condition;
  /** The part of the plan that counts the calls of which it is true: 0 for the conditions of the question itself. */
  readonly part: number;
}

/** The conditions of a question, and of its measures. */
export function askedConditions({ conditions, parts }: Plan): readonly AskedCondition[] {
  return [
    ...conditions.flatMap(({ condition, asSent }) => (asSent ? [] : [{ condition, part: 0 }])),
    ...parts.flatMap((part, i) => (part.kind === 'holds' ? [{ condition: part.condition, part: i }] : [])),
  ];
}

/** The fields that a condition compares: what they hold explains why it is true of no call. */
export function comparedFields(
  plan: Plan,
  { condition }: Pick<AskedCondition, 'condition'>,
): readonly string[] {
  const names = testsIn(condition).map((test) => fieldOf(plan, test).name);
  return [...new Set(names)].filter((name) => plan.personal === 'show' || !isPrivate(name));
}

/** The fields of the conditions that no counted call meets. `total`: what the parts of the plan count in all. */
export const unmetFields = (plan: Plan, total: readonly PartValue[]): readonly string[] => [
  ...new Set(unmetConditions(plan, total).flatMap((each) => comparedFields(plan, each))),
];

const unmetConditions = (plan: Plan, total: readonly PartValue[]): readonly AskedCondition[] =>
  askedConditions(plan).filter(({ part }) => (total[part] ?? 0) === 0);

/** Most different values of a field that are looked at. Of one that has more it is not said that it never has a value. */
export const mostValues = 20_000;

// What visitors typed may hold their own names and numbers, which a sentence must not pass on unasked.
const privateFields: ReadonlySet<string> = new Set(
  callFields.flatMap(({ name, personal, visitorText }) => (personal || visitorText ? [name] : [])),
);
const isPrivate = (name: string): boolean => privateFields.has(name) || name === 'click_id';

type FieldTest = Exclude<Condition, { kind: 'and' | 'or' | 'not' }>;
/** A test of one field; of those that begin with NOT only the one for any value. */
type AskedTest = FieldTest | { readonly kind: 'not'; readonly part: Extract<FieldTest, { kind: 'null' }> };

function testsIn(condition: Condition): AskedTest[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.parts.flatMap(testsIn);
    case 'not':
      return condition.part.kind === 'null' ? [{ kind: 'not', part: condition.part }] : [];
    default:
      return [condition];
  }
}

function fieldOf({ fields }: Plan, test: AskedTest): QuestionField {
  const field = fields.get(test.kind === 'not' ? test.part.field : test.field);
  // Conditions are checked before anything is counted.
  if (field === undefined) throw new TypeError('There is no such field.');
  return field;
}

const mostSentences = 5;
const mostLength = 60;

/** How often each value of a field occurs. */
export type ValueCounts = ReadonlyMap<Value, number>;

/** Sentences on conditions that no call meets: which of their values never occur, and what is nearest. */
export function explainNothing(
  plan: Plan,
  total: readonly PartValue[],
  values: ReadonlyMap<string, ValueCounts>,
): string[] {
  const tests = unmetConditions(plan, total).flatMap(({ condition }) => testsIn(condition));
  const sentences = tests.flatMap((test) => {
    const field = fieldOf(plan, test);
    const known = values.get(field.name);
    if (known === undefined || known.size >= mostValues) return [];
    const holds = compileCondition<Value>(test, plan.fields, () => (value) => value);
    if ([...known.keys()].some((value) => holds(value) === true)) return [];
    const wanted = wantedOf(test);
    const near = wanted.length === 0 ? '' : nearestOf(field, wanted[0], known);
    return [near === '' ? `${never(field, test)}.` : `${never(field, test)}; nearest: ${near}.`];
  });
  return [...new Set(sentences)].slice(0, mostSentences);
}

const cut = (text: string): string => (text.length > mostLength ? `${text.slice(0, mostLength)}…` : text);

/** The values that a test is about. */
function wantedOf(test: AskedTest): readonly Literal[] {
  if (test.kind === 'like') return [{ type: 'text', text: test.pattern }];
  if (test.kind === 'in') return test.values;
  return test.kind === 'compare' && test.value.type !== 'boolean' ? [test.value] : [];
}

/** What is not so. */
function never({ name, type }: Term, test: AskedTest): string {
  const wanted = wantedOf(test)
    .slice(0, 3)
    .map((value) => shownLiteral(value, type))
    .join(', ');
  switch (test.kind) {
    case 'null':
      return `${name} is never missing`;
    case 'not':
      return `No call has ${name}`;
    case 'flag':
      return `${name} is never true`;
    case 'like':
      return `No ${name} is like ${wanted}`;
    case 'in':
      return `${name} is never ${wanted}`;
    case 'compare':
      if (test.value.type === 'boolean')
        return `${name} is never ${test.value.value === (test.operator !== '<>')}`;
      return test.operator.startsWith('=')
        ? `${name} is never ${wanted}`
        : `No ${name} is ${test.operator} ${wanted}`;
  }
}

function shownLiteral(literal: Literal, type: Term['type']): string {
  switch (literal.type) {
    case 'text':
      return `'${cut(literal.text)}'`;
    case 'time':
      return shownTime(literal.millis, type === 'time' && literal.isWholeDay ? 'day' : type);
    case 'number':
      return literal.text;
    case 'boolean':
      return String(literal.value);
  }
}

const lengths: Partial<Readonly<Record<Term['type'], number>>> = { day: 10, week: 10, month: 7 };

const shownTime = (millis: number, type: Term['type']): string => shownMoment(millis).slice(0, lengths[type]);

/** The values of a field nearest to what is wanted. */
function nearestOf(field: Term, wanted: Literal | undefined, known: ValueCounts): string {
  if (wanted?.type === 'text') {
    const texts = [...known].flatMap(([value, calls]) =>
      typeof value === 'string' ? [[value, calls] as const] : [],
    );
    return nearestValues(wanted.text, new Map(texts));
  }
  let aim = 0;
  if (wanted?.type === 'time') aim = wanted.millis;
  if (wanted?.type === 'number') aim = Number(wanted.text);
  return [...known]
    .flatMap(([value, calls]) =>
      typeof value === 'number' ? [{ value, calls, far: Math.abs(value - aim) }] : [],
    )
    .sort((a, b) => a.far - b.far || a.value - b.value)
    .slice(0, mostNear)
    .map(({ value, calls }) =>
      withCalls(
        field.type === 'number' ? String(Number(value.toFixed(3))) : shownTime(value, field.type),
        calls,
      ),
    )
    .join(', ');
}

/** The values nearest to a text, with how often they occur: those that hold it, then those with the fewest different letters. */
export function nearestValues(text: string, known: ReadonlyMap<string, number>): string {
  const wanted = fold(text.replaceAll('%', ''));
  const ranked = [...known]
    .filter(([value]) => value !== '')
    .map(([value, calls]) => {
      const own = fold(value);
      const isPart = wanted !== '' && (own.includes(wanted) || (own.length > 2 && wanted.includes(own)));
      return { value, calls, far: isPart ? 0 : distance(own.slice(0, 100), wanted.slice(0, 100)) };
    });
  ranked.sort((a, b) => a.far - b.far || b.calls - a.calls || (a.value < b.value ? -1 : 1));
  const near = ranked.filter(({ far }) => far === 0);
  return (near.length > 0 ? near : ranked)
    .slice(0, mostNear)
    .map(({ value, calls }) => withCalls(`'${cut(value)}'`, calls))
    .join(', ');
}

const mostNear = 3;

const withCalls = (value: string, calls: number): string =>
  `${value} (${calls.toLocaleString('en')} ${calls === 1 ? 'call' : 'calls'})`;
