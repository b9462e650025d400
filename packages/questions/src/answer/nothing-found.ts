import { fields as callFields } from '@call-attribution/core/record';
import { nearest } from '@call-attribution/query-dsl';
import { type Condition, compareValues, fold, type Value } from '../conditions/condition.ts';
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
    if (near !== '') return [`${never}; nearest: ${near}.`];
    const usual = usualValues(known);
    return [usual === '' ? `${never}.` : `${never}; its values: ${usual}.`];
  });
  return [...new Set(sentences)].slice(0, 5);
}

const quoted = (text: string): string => `'${text.length > 60 ? `${text.slice(0, 60)}…` : text}'`;

/** Most values that a sentence names. */
const mostNamed = 3;

/** The texts that are most like a text, the nearest first; none where none is. */
export function nearestValues(text: string, known: ValueCounts): string {
  const wanted = fold(text.replaceAll('%', ''));
  const texts = textsOf(known);
  const alike = texts.filter((value) => likeness(fold(value), wanted) < unlike);
  const spelled = alike.length > 0 ? alike : nearlySpelled(wanted, texts);
  const near = spelled.length > 0 ? spelled : texts.filter((value) => isShortFor(value, wanted));
  const order = (value: string): readonly number[] => [
    likeness(fold(value), wanted),
    Math.abs(value.length - wanted.length),
    -(known.get(value) ?? 0),
  ];
  return inOrder(near, order).slice(0, mostNamed).map(quoted).join(', ');
}

const textsOf = (known: ValueCounts): string[] =>
  [...known.keys()].filter((value): value is string => typeof value === 'string' && value !== '');

/** The texts that occur most. */
const usualValues = (known: ValueCounts): string => {
  const most = inOrder(textsOf(known), (value) => [-(known.get(value) ?? 0)]);
  return most.slice(0, mostNamed).map(quoted).join(', ');
};

/** Texts by some numbers, the least first; where these are the same, by the alphabet. */
function inOrder(texts: readonly string[], order: (text: string) => readonly number[]): string[] {
  const keyed = texts.map((text) => ({ text, by: order(text) }));
  keyed.sort((a, b) => {
    const at = a.by.findIndex((number, i) => number !== b.by[i]);
    return at < 0 ? compareValues(a.text, b.text) : (a.by[at] ?? 0) - (b.by[at] ?? 0);
  });
  return keyed.map(({ text }) => text);
}

const lettersOf = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '');
const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];
const unlike = 3;

/** How like a text is to the one that is wanted: `Brand` is a part of `Harbor Dental | Brand`. */
function likeness(text: string, wanted: string): number {
  if (lettersOf(wanted) === '') return unlike;
  if (lettersOf(text) === lettersOf(wanted)) return 0;
  if (text.includes(wanted)) return 1;
  return text.length > 2 && wanted.includes(text) ? 2 : unlike;
}

/** Is a text of a letter or two short for another one, as TX is for Texas? */
function isShortFor(value: string, wanted: string): boolean {
  const [first, second = '', ...others] = fold(value);
  return others.length === 0 && first === wanted[0] && wanted.includes(second, 1);
}

/** The texts in which some words are spelled nearly so. */
function nearlySpelled(wanted: string, texts: readonly string[]): readonly string[] {
  const count = wordsOf(wanted).length;
  const runs = (text: string): readonly string[] => {
    const words = wordsOf(fold(text));
    return words.map((_, at) => words.slice(at, at + count).join(' '));
  };
  const spelled = nearest(wanted, texts.flatMap(runs));
  return spelled === undefined ? [] : texts.filter((text) => runs(text).includes(spelled));
}
