import { fold, type Value } from '../conditions/condition.ts';
import { groupValue } from '../question/buckets.ts';
import type { ReadPlan } from '../question/plan.ts';
import type { CountedGroup } from './counted.ts';
import { explainLeftOut, shownValue } from './left-out.ts';
import { nearestValues } from './nothing-found.ts';

/**
 * Finds the group that each name means: the one of that value, otherwise the one that differs only
 * by case, or `(none)`.
 */
export function spendOf(
  { groups: [field], spend = {} }: ReadPlan,
  groups: readonly CountedGroup[],
) {
  const named = new Map<string, { readonly text: string; readonly group: CountedGroup }[]>();
  const known = new Map<string, number>();
  for (const group of groups) {
    const value = field === undefined ? null : groupValue(field, group.key[0] ?? null);
    const name = fold(shownValue(value));
    named.set(name, [...(named.get(name) ?? []), { text: String(value), group }]);
    if (value !== null) known.set(String(value), group.now?.[0] ?? 0);
  }

  const amounts = new Map<Value, number>();
  const unmatched: string[] = [];
  let amount = 0;
  let counted = 0;
  for (const [name, spent] of Object.entries(spend)) {
    const alike = named.get(fold(name)) ?? [];
    const exact = alike.filter(({ text }) => text === name);
    const found = exact.length > 0 ? exact : alike;
    const [own] = found;
    if (own === undefined || found.length > 1) {
      const near = field?.personal ? '' : nearestValues(name, known);
      let hint = near === '' ? 'no group' : `nearest: ${near}`;
      const others = found.map(({ text }) => (text === '' ? "''" : text)).sort();
      if (found.length > 1) hint = `means ${others.join(' and ')}`;
      unmatched.push(`'${name.slice(0, 60)}' (${spent}; ${hint})`);
      continue;
    }
    const [key = null] = own.group.key;
    if (!amounts.has(key)) counted += own.group.now?.[0] ?? 0;
    amounts.set(key, (amounts.get(key) ?? 0) + spent);
    amount += spent;
  }

  const more = unmatched.length > 5 ? ` and ${unmatched.length - 5} more` : '';
  const said = `There was spend but no call for ${unmatched.slice(0, 5).join(', ')}${more}. The total leaves it out.`;
  return {
    /** What was spent on a group; null when nobody said. */
    of: (key: Value) => amounts.get(key) ?? null,
    /** What was spent on groups that are there, and their calls. */
    total: { amount, calls: counted },
    leftOut:
      unmatched.length === 0 ? [] : [explainLeftOut('spend_without_calls', unmatched.length, said)],
  };
}

/** What was spent, laid on the groups of an answer. */
export type SpendFound = ReturnType<typeof spendOf>;
