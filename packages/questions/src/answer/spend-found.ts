import { fold, type Value } from '../conditions/condition.ts';
import { amountText } from '../fields/batch.ts';
import type { ReadField } from '../fields/derived.ts';
import { type PartValue, spentPart } from '../question/measures.ts';
import type { ReadPlan } from '../question/plan.ts';
import type { PlannedSpend } from '../question/spend.ts';
import type { Counted, CountedGroup } from './counted.ts';
import { shownValue } from './left-out.ts';
import { nearestValues } from './nothing-found.ts';

/** Spend that was laid on groups. */
export interface SpendFound {
  /** Groups with calls, with spend, or both. */
  readonly groups: readonly CountedGroup[];
  /** What measures of spend are made of in all: the groups of names that something was spent on. */
  readonly total: Pick<CountedGroup, 'now' | 'past'>;
  /** The names that no call has, as a sentence; empty when there are none. */
  readonly unknown: string;
}

/**
 * Finds the groups that the names of spend mean: those of that value, otherwise of the one value
 * that differs only by case or, of a keyword, by the marks of its match type. Another name is a
 * group of its own.
 */
export function findSpend(plan: ReadPlan, spend: PlannedSpend, counted: Counted): SpendFound {
  const at = plan.groups.findIndex(({ isTime }) => !isTime);
  const field = plan.groups[at] as ReadField;
  const place = plan.parts.findIndex(({ id }) => id === spentPart.id);
  const nameOf = ({ key }: Pick<CountedGroup, 'key'>): Value => key[at] ?? null;
  const likeness = (value: Value) => fold(plainName(field, shownValue(value)));
  const nothing = plan.parts.map(({ result }) => (result === 'sum' ? 0 : null));
  const groups = new Map<string, { -readonly [Name in keyof CountedGroup]: CountedGroup[Name] }>();
  const alike = new Map<string, Set<Value>>();
  const calls = new Map<Value, number>();
  for (const group of counted.groups) {
    const name = nameOf(group);
    const without = (parts: CountedGroup['now']) => parts?.with(place, null) ?? null;
    const own = { ...group, now: without(group.now), past: without(group.past) };
    groups.set(JSON.stringify(group.key), own);
    alike.set(likeness(name), (alike.get(likeness(name)) ?? new Set()).add(name));
    calls.set(name, (calls.get(name) ?? 0) + (group.now?.[0] ?? 0));
  }

  const unknown = new Map<Value, { amount: number; readonly why: string }>();

  const meaningOf = (name: string | null): Value => {
    const found = alike.get(likeness(name)) ?? new Set<Value>();
    if (found.has(name)) return name;
    const [only = null] = found;
    if (found.size === 1) return only;
    const own = name === null ? null : plainName(field, name);
    const others = [...found].map((each) => (each === '' ? "''" : String(each))).sort();
    const near = field.personal ? '' : nearestValues(own ?? '', calls);
    let why = near === '' ? '' : `; nearest: ${near}`;
    if (others.length > 0) why = `; means ${others.join(' and ')}`;
    alike.set(likeness(name), found.add(own));
    unknown.set(own, { amount: 0, why });
    return own;
  };

  const names = { now: new Set<Value>(), past: new Set<Value>() };
  for (const side of ['now', 'past'] as const)
    for (const { name, bucket, amount } of spend[side] ?? []) {
      const value = meaningOf(name);
      const key = plan.groups.map((_, i) => (i === at ? value : bucket));
      const id = JSON.stringify(key);
      const group = groups.get(id) ?? { key, now: null, past: null };
      const parts = group[side] ?? [...nothing].with(place, null);
      group[side] = parts.with(place, (parts[place] ?? 0) + amount);
      groups.set(id, group);
      names[side].add(value);
      const own = unknown.get(value);
      if (own !== undefined && side === 'now') own.amount += amount;
    }

  const all = [...groups.values()];
  const totalOf = (side: 'now' | 'past'): readonly PartValue[] | null => {
    const own = all.filter((group) => names[side].has(nameOf(group)));
    if (own.length === 0) return null;
    return nothing.map((none, part) =>
      none === null ? null : own.reduce((sum, group) => sum + (group[side]?.[part] ?? 0), 0),
    );
  };
  return {
    groups: all,
    total: { now: totalOf('now'), past: totalOf('past') },
    unknown: unknownSentence(unknown),
  };
}

/** A keyword without the marks of its match type: `[exact]`, `"phrase"`, `+modified +broad`. */
const plainName = ({ name }: ReadField, text: string): string =>
  name === 'ppc_keywords'
    ? text.replace(/^\[(.*)\]$|^"(.*)"$/, '$1$2').replace(/(^|\s)\+/g, '$1')
    : text;

function unknownSentence(
  unknown: ReadonlyMap<Value, { readonly amount: number; readonly why: string }>,
): string {
  if (unknown.size === 0) return '';
  const named = [...unknown]
    .sort(([, one], [, other]) => other.amount - one.amount)
    .map(
      ([name, { amount, why }]) =>
        `'${shownValue(name).slice(0, 60)}' (${amountText(amount)}${why})`,
    );
  const more = named.length > 5 ? ` and ${named.length - 5} more` : '';
  return `There was spend but no call for ${named.slice(0, 5).join(', ')}${more}. Each is a row with 0 calls, and counts in the total.`;
}
