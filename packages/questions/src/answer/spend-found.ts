import type { Value } from '../conditions/condition.ts';
import { compareText, fold } from '../conditions/fold.ts';
import type { LeftOut } from '../question/answer.ts';
import { groupValue } from '../question/buckets.ts';
import type { ReadQuestion } from '../question/plan.ts';
import type { CountedGroup } from './counted.ts';
import { explainLeftOut, shownValue } from './left-out.ts';
import { nearestValues } from './nothing-found.ts';

/** What was spent, laid on the groups of an answer. */
export interface SpendFound {
  /** What was spent on a group; null when nobody said. */
  readonly of: (key: Value) => number | null;
  /** What was spent on groups that are there, and their calls. */
  readonly total: { readonly amount: number; readonly calls: number };
  readonly leftOut: readonly LeftOut[];
}

/** The groups that a name may stand for, and how many calls each value has. */
function groupsByName({ groups: [group], settings }: ReadQuestion, groups: readonly CountedGroup[]) {
  const byText = new Map<string, CountedGroup[]>();
  const byFolded = new Map<string, CountedGroup[]>();
  const without: CountedGroup[] = [];
  const calls = new Map<string, number>();
  const put = (map: Map<string, CountedGroup[]>, text: string, each: CountedGroup) =>
    map.set(text, [...(map.get(text) ?? []), each]);
  for (const each of groups) {
    const value = group === undefined ? null : groupValue(group, each.key[0] ?? null, settings);
    if (value === null || value === '') without.push(each);
    if (value === null) continue;
    put(byText, String(value), each);
    put(byFolded, fold(String(value)), each);
    calls.set(String(value), each.now?.[0] ?? 0);
  }
  const find = (name: string): readonly CountedGroup[] =>
    byText.get(name) ?? byFolded.get(fold(name)) ?? (name === shownValue(null) ? without : []);
  return { find, calls };
}

/**
 * Finds the group that each name means: the one of that value, otherwise the one that differs only by case. `(none)` is the one of
 * calls without a value.
 */
export function spendOf(plan: ReadQuestion, groups: readonly CountedGroup[]): SpendFound {
  const [group] = plan.groups;
  const { find, calls } = groupsByName(plan, groups);
  const amounts = new Map<Value, number>();
  const unmatched: string[] = [];
  let [amount, counted] = [0, 0];
  for (const [name, spent] of plan.spend ?? []) {
    const found = find(name);
    const [own] = found;
    if (own === undefined || found.length > 1) {
      const others = found
        .map(({ key: [value = null] }) => (value === '' ? "''" : String(value)))
        .sort(compareText)
        .join(' and ');
      const near = group?.personal ? '' : nearestValues(name, calls);
      let hint = near === '' ? 'no group' : `nearest: ${near}`;
      if (found.length > 1) hint = `means ${others}`;
      unmatched.push(`'${name.slice(0, 60)}' (${spent}; ${hint})`);
      continue;
    }
    const key = own.key[0] ?? null;
    if (!amounts.has(key)) counted += own.now?.[0] ?? 0;
    amounts.set(key, (amounts.get(key) ?? 0) + spent);
    amount += spent;
  }
  const more = unmatched.length > 5 ? ` and ${unmatched.length - 5} more` : '';
  return {
    of: (key) => amounts.get(key) ?? null,
    total: { amount, calls: counted },
    leftOut:
      unmatched.length === 0
        ? []
        : [
            explainLeftOut(
              'spend_without_calls',
              unmatched.length,
              `There was spend but no call for ${unmatched.slice(0, 5).join(', ')}${more}. The total leaves it out.`,
            ),
          ],
  };
}
