import { formatCounted } from '@call-attribution/core/errors';
import { fields as callFields } from '@call-attribution/core/record';
import { nearest } from '@call-attribution/query-dsl';
import { type Condition, fold, type Value } from '../conditions/condition.ts';
import { compileCondition } from '../conditions/holds.ts';
import { allFields } from '../fields/vocabulary.ts';
import type { PartValue } from '../question/measures.ts';
import type { ReadPlan } from '../question/plan.ts';

// A condition on a text that no call meets is explained by the texts that there are: most are
// misspelled.

/**
 * Most different values of a field that are looked at. Of one that has more it is not said that it
 * never has a value.
 */
export const mostValues = 20_000;

// What visitors typed may hold their own names and numbers, which a sentence must not pass on
// unasked.
const privateFields: ReadonlySet<string> = new Set([
  ...callFields
    .filter(({ personal, visitorText }) => personal || visitorText)
    .map(({ name }) => name),
  'click_id',
]);

/** A test of a text field, and the texts that it wants. */
interface TextTest {
  readonly field: string;
  readonly condition: Condition;
  readonly wanted: readonly string[];
}

/** The tests of those conditions of a question and of its measures that no call meets. */
function textTests(plan: ReadPlan, total: readonly PartValue[]): TextTest[] {
  const isUnmet = (part: number): boolean => (total[part] ?? 0) === 0;

  const testsOf = (condition: Condition): TextTest[] => {
    if ('parts' in condition) return condition.parts.flatMap(testsOf);
    if (!('field' in condition)) return [];
    const { name = '', type } = allFields.get(condition.field) ?? {};
    if (type !== 'text' || (plan.personal !== 'show' && privateFields.has(name))) return [];
    if (condition.kind === 'like') return [{ field: name, condition, wanted: [condition.pattern] }];
    const values = condition.kind === 'in' ? condition.values : [];
    const isEqual = condition.kind === 'compare' && condition.operator.startsWith('=');
    const literals = isEqual ? [condition.value] : values;
    const wanted = literals.filter((value) => value.type === 'text').map(({ text }) => text);
    return wanted.length === 0 ? [] : [{ field: name, condition, wanted }];
  };

  return [
    ...(isUnmet(0) ? plan.conditions.flatMap(testsOf) : []),
    ...plan.parts.flatMap(({ about }, at) =>
      about !== null && typeof about === 'object' && isUnmet(at) ? testsOf(about) : [],
    ),
  ];
}

/**
 * The text fields that conditions compare: what they hold explains why a condition is true of no
 * call. Of so many calls it is true.
 */
export const comparedFields = (plan: ReadPlan, calls: number): ReadonlySet<string> =>
  new Set(textTests(plan, [calls]).map(({ field }) => field));

/** How often each value of a field occurs. */
export type ValueCounts = ReadonlyMap<Value, number>;

/**
 * Sentences on conditions that no call meets: which of their texts never occur, and what is
 * nearest.
 */
export function explainNothing(
  plan: ReadPlan,
  total: readonly PartValue[],
  values: ReadonlyMap<string, ValueCounts>,
): string[] {
  const sentences = textTests(plan, total).flatMap(({ field, condition, wanted }) => {
    const known = values.get(field);
    if (known === undefined || known.size >= mostValues) return [];
    const holds = compileCondition<Value>(condition, allFields, () => (value) => value);
    if ([...known.keys()].some((value) => holds(value) === true)) return [];
    const texts = wanted.slice(0, 3).map(quoted).join(', ');
    const never =
      condition.kind === 'like' ? `No ${field} is like ${texts}` : `${field} is never ${texts}`;
    const near = nearestValues(wanted[0] ?? '', known);
    return [near === '' ? `${never}.` : `${never}; nearest: ${near}.`];
  });
  return [...new Set(sentences)].slice(0, 5);
}

const quoted = (text: string): string => `'${text.length > 60 ? `${text.slice(0, 60)}…` : text}'`;

/**
 * Texts that hold a text, or are spelled nearly so, with how often they occur; otherwise the most
 * frequent ones.
 */
export function nearestValues(text: string, known: ValueCounts): string {
  const wanted = fold(text.replaceAll('%', ''));
  const texts: { readonly value: string; readonly calls: number }[] = [];
  for (const [value, calls] of known)
    if (typeof value === 'string' && value !== '') texts.push({ value, calls });
  const spelled = nearest(
    wanted,
    texts.map(({ value }) => value),
  );
  const near = texts.filter(({ value }) => {
    const own = fold(value);
    const isPart =
      wanted !== '' && (own.includes(wanted) || (own.length > 2 && wanted.includes(own)));
    return isPart || value === spelled;
  });
  return (near.length > 0 ? near : texts)
    .sort((a, b) => b.calls - a.calls || (a.value < b.value ? -1 : 1))
    .slice(0, 3)
    .map(({ value, calls }) => `${quoted(value)} (${formatCounted(calls, 'call')})`)
    .join(', ');
}
