import { fields as callFields } from '@call-attribution/core/record';
import type { Condition, Value } from '../conditions/condition.ts';
import { fold } from '../conditions/fold.ts';
import { compileCondition } from '../conditions/holds.ts';
import type { PartValue } from '../question/measures.ts';
import type { ReadQuestion } from '../question/plan.ts';
import { callsOf } from './left-out.ts';

// A condition on a text that no call meets is explained by the texts that there are: most are misspelled.

/** A condition of a question, which may be true of no call. */
export interface AskedCondition {
  /** The condition. */
  readonly condition: Condition;
  /** The part of the plan that counts the calls of which it is true: 0 for the conditions of the question itself. */
  readonly part: number;
}

/** The conditions of a question, and of its measures. */
export function askedConditions({ conditions, parts }: ReadQuestion): readonly AskedCondition[] {
  return [
    ...conditions.flatMap(({ condition, asSent }) => (asSent ? [] : [{ condition, part: 0 }])),
    ...parts.flatMap((part, i) => (part.kind === 'holds' ? [{ condition: part.condition, part: i }] : [])),
  ];
}

/** Most different values of a field that are looked at. Of one that has more it is not said that it never has a value. */
export const mostValues = 20_000;

// What visitors typed may hold their own names and numbers, which a sentence must not pass on unasked.
const privateFields: ReadonlySet<string> = new Set([
  ...callFields.flatMap(({ name, personal, visitorText }) => (personal || visitorText ? [name] : [])),
  'click_id',
]);

/** A test of a text field, and the texts that it wants. */
interface TextTest {
  readonly field: string;
  readonly condition: Condition;
  readonly wanted: readonly string[];
}

function textTests(plan: ReadQuestion, condition: Condition): TextTest[] {
  if (condition.kind === 'and' || condition.kind === 'or')
    return condition.parts.flatMap((part) => textTests(plan, part));
  if (!['compare', 'in', 'like'].includes(condition.kind) || !('field' in condition)) return [];
  const { name = '', type } = plan.fields.get(condition.field) ?? {};
  if (type !== 'text' || (plan.personal !== 'show' && privateFields.has(name))) return [];
  if (condition.kind === 'like') return [{ field: name, condition, wanted: [condition.pattern] }];
  if (condition.kind === 'compare' && !condition.operator.startsWith('=')) return [];
  const values = condition.kind === 'in' ? condition.values : [];
  const literals = condition.kind === 'compare' ? [condition.value] : values;
  const wanted = literals.flatMap((value) => (value.type === 'text' ? [value.text] : []));
  return [{ field: name, condition, wanted }];
}

/** The text fields that a condition compares: what they hold explains why it is true of no call. */
export const comparedFields = (plan: ReadQuestion, condition: Condition): readonly string[] => [
  ...new Set(textTests(plan, condition).map(({ field }) => field)),
];

const unmetConditions = (plan: ReadQuestion, total: readonly PartValue[]): readonly AskedCondition[] =>
  askedConditions(plan).filter(({ part }) => (total[part] ?? 0) === 0);

/** How often each value of a field occurs. */
export type ValueCounts = ReadonlyMap<Value, number>;

const mostSentences = 5;

/** Sentences on conditions that no call meets: which of their texts never occur, and what is nearest. */
export function explainNothing(
  plan: ReadQuestion,
  total: readonly PartValue[],
  values: ReadonlyMap<string, ValueCounts>,
): string[] {
  const tests = unmetConditions(plan, total).flatMap(({ condition }) => textTests(plan, condition));
  const sentences = tests.flatMap(({ field, condition, wanted }) => {
    const known = values.get(field);
    if (known === undefined || known.size >= mostValues) return [];
    const holds = compileCondition<Value>(condition, plan.fields, () => (value) => value);
    if ([...known.keys()].some((value) => holds(value) === true)) return [];
    const texts = wanted
      .slice(0, 3)
      .map((text) => `'${cut(text)}'`)
      .join(', ');
    const never = condition.kind === 'like' ? `No ${field} is like ${texts}` : `${field} is never ${texts}`;
    const near = nearestValues(wanted[0] ?? '', known);
    return [near === '' ? `${never}.` : `${never}; nearest: ${near}.`];
  });
  return [...new Set(sentences)].slice(0, mostSentences);
}

const cut = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** The texts nearest to a text, with how often they occur: those that hold it, then those with the fewest different letters. */
export function nearestValues(text: string, known: ValueCounts): string {
  const wanted = fold(text.replaceAll('%', ''));
  const ranked = [...known].flatMap(([value, calls]) => {
    if (typeof value !== 'string' || value === '') return [];
    const own = fold(value);
    const isPart = wanted !== '' && (own.includes(wanted) || (own.length > 2 && wanted.includes(own)));
    return [{ value, calls, far: isPart ? 0 : distance(own.slice(0, 100), wanted.slice(0, 100)) }];
  });
  ranked.sort((a, b) => a.far - b.far || b.calls - a.calls || (a.value < b.value ? -1 : 1));
  const near = ranked.filter(({ far }) => far === 0);
  return (near.length > 0 ? near : ranked)
    .slice(0, 3)
    .map(({ value, calls }) => `'${cut(value)}' (${callsOf(calls)})`)
    .join(', ');
}

/** How many letters have to change to make one text of another. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
