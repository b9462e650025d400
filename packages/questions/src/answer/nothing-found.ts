import { fields as callFields } from '@call-attribution/core/record';
import type { Condition, Literal } from '../conditions/condition.ts';
import { fold } from '../conditions/fold.ts';
import { compileCondition } from '../conditions/holds.ts';
import type { SelectionPlan } from '../question/plan.ts';
import { distance } from './distance.ts';

/** The fields of text that a selection compares with values: what they hold explains an answer without calls. */
export function comparedFields({ conditions, fields }: SelectionPlan): readonly string[] {
  const tests = conditions.flatMap(({ condition, asSent }) => (asSent ? [] : textTests(condition)));
  return [...new Set(tests.map(({ field }) => fields.get(field)?.name ?? field))].filter(
    (name) => !isPrivate(name),
  );
}

// What visitors typed may hold their own names and numbers, which a sentence must not pass on.
const privateFields: ReadonlySet<string> = new Set(
  callFields.flatMap(({ name, personal, visitorText }) => (personal || visitorText ? [name] : [])),
);
const isPrivate = (name: string): boolean => privateFields.has(name) || name === 'click_id';

type TextTest = Extract<Condition, { kind: 'compare' | 'in' | 'like' }>;

function textTests(condition: Condition): TextTest[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.parts.flatMap(textTests);
    case 'compare':
      return condition.value.type === 'text' && ['=', '=='].includes(condition.operator) ? [condition] : [];
    case 'in':
      return condition.values[0]?.type === 'text' ? [condition] : [];
    case 'like':
      return [condition];
    default:
      return [];
  }
}

const mostTests = 5;
const mostLength = 60;

/** Sentences on a condition that no call meets: which of its values never occur, and what is nearest. */
export function explainNothing(
  plan: SelectionPlan,
  values: ReadonlyMap<string, ReadonlyMap<string, number>>,
): string[] {
  const tests = plan.conditions.flatMap(({ condition, asSent }) => (asSent ? [] : textTests(condition)));
  return tests.slice(0, mostTests).flatMap((test) => {
    const name = plan.fields.get(test.field)?.name ?? test.field;
    const known = values.get(name);
    if (known === undefined) return [];
    const holds = compileCondition(test, plan.fields, () => (value: string) => value);
    if ([...known.keys()].some((value) => holds(value) === true)) return [];
    const wanted = wantedOf(test);
    const shown = wanted
      .slice(0, 3)
      .map((text) => `'${cut(text)}'`)
      .join(', ');
    const never = test.kind === 'like' ? `No ${name} is like ${shown}` : `${name} is never ${shown}`;
    const near = nearestValues(wanted[0] ?? '', known);
    return [near === '' ? `${never}.` : `${never}; nearest: ${near}.`];
  });
}

const cut = (text: string): string => (text.length > mostLength ? `${text.slice(0, mostLength)}…` : text);

const textOf = (literal: Literal): string[] => (literal.type === 'text' ? [literal.text] : []);

function wantedOf(test: TextTest): string[] {
  if (test.kind === 'like') return [test.pattern];
  return test.kind === 'in' ? test.values.flatMap(textOf) : textOf(test.value);
}

/** The values nearest to a text, with how often they occur: those that hold it, then those with the fewest different letters. */
export function nearestValues(text: string, known: ReadonlyMap<string, number>, most = 3): string {
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
    .slice(0, most)
    .map(
      ({ value, calls }) =>
        `'${cut(value)}' (${calls.toLocaleString('en')} ${calls === 1 ? 'call' : 'calls'})`,
    )
    .join(', ');
}
