import type { Condition, Test } from './condition.ts';

/** What a condition leaves out because it has no value: a negated test is not true of nothing. */
export interface LeavesWithoutValue {
  /** The fields of its negated tests. */
  readonly fields: readonly string[];
  /** The same condition, but that these tests are true of a call without a value. */
  readonly lenient: Condition;
}

/**
 * The calls without a value that a condition leaves out by a negation, such as `state <> 'TX'` or
 * `NOT campaign LIKE '%brand%'`. Null when there are no such tests, or the condition says itself
 * what is to be done with calls without a value (`IS NULL`, `IS NOT NULL`).
 */
export function leavesWithoutValue(condition: Condition): LeavesWithoutValue | null {
  const isNamed = new Set(fieldsOfNull(condition));
  const fields = new Set<string>();

  const made = (part: Condition, isNegated: boolean): Condition => {
    if ('parts' in part)
      return { kind: part.kind, parts: part.parts.map((each) => made(each, isNegated)) };
    if (part.kind === 'not') return { kind: 'not', part: made(part.part, !isNegated) };
    if (part.kind === 'null' || isNamed.has(part.field)) return part;
    if (isNegation(part.kind === 'judged' ? part.test : part) === isNegated) return part;
    fields.add(part.field);
    const isNull: Condition = { kind: 'null', field: part.field };

    // Within a NOT the test has to be false of such a call, otherwise true.
    if (!isNegated) return { kind: 'or', parts: [part, isNull] };
    return { kind: 'and', parts: [part, { kind: 'not', part: isNull }] };
  };

  const lenient = made(condition, false);
  return fields.size === 0 ? null : { fields: [...fields], lenient };
}

/** Is a test by itself the opposite of one: `state <> 'TX'`, `missed = FALSE`? */
function isNegation(test: Test): boolean {
  if (test.kind !== 'compare') return false;
  const isFalse = test.value.type === 'boolean' && !test.value.value;
  return (test.operator === '<>') !== isFalse;
}

/** The fields of which a condition says whether they have a value. */
function fieldsOfNull(condition: Condition): string[] {
  if ('parts' in condition) return condition.parts.flatMap(fieldsOfNull);
  if (condition.kind === 'not') return fieldsOfNull(condition.part);
  return condition.kind === 'null' ? [condition.field] : [];
}
