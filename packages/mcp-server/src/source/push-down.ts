import type { Clause } from '@call-attribution/query-dsl';
import type { Condition } from '@call-attribution/questions';

// Conditions that the API itself can check, so that fewer calls are read: it compares talk minutes.

type Compare = Extract<Condition, { kind: 'compare' }>;

const isMinutes = (condition: Condition): condition is Compare =>
  condition.kind === 'compare' &&
  condition.field === 'talk_minutes' &&
  ['<', '<=', '>', '>='].includes(condition.operator) &&
  condition.value.type === 'number' &&
  // The API counts in tenths, and does not know signs.
  /^\d+(?:\.\d)?$/.test(condition.value.text);

const partsOf = (condition: Condition): readonly Condition[] =>
  condition.kind === 'and' ? condition.parts.flatMap(partsOf) : [condition];

/** What the API can check of conditions that must all hold. */
export function clausesOf(conditions: readonly Condition[]): Clause[] {
  return conditions
    .flatMap(partsOf)
    .filter(isMinutes)
    .map(({ operator, value }) => {
      const bound = { text: value.type === 'number' ? value.text : '', inclusive: operator.endsWith('=') };
      const isLower = operator.startsWith('>');
      return {
        kind: 'range',
        field: 'talk_minutes',
        lower: isLower ? bound : null,
        upper: isLower ? null : bound,
      };
    });
}

/** Can the API check all of them? */
export const coversAll = (conditions: readonly Condition[]): boolean =>
  conditions.flatMap(partsOf).every(isMinutes);
