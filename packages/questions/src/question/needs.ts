import {
  intersect,
  merge,
  type Period,
  padded,
  periodOf,
  undated,
} from '@call-attribution/core/time';
import { type Condition, fieldsOf, judgedField } from '../conditions/condition.ts';
import type { ReadField } from '../fields/derived.ts';
import { allFields } from '../fields/vocabulary.ts';
import type { Part } from './measures.ts';
import type { Zones } from './period.ts';

/** Calls that have to be read, and the fields of them. */
export interface Need {
  /** Which calls, on the clock of the records. */
  readonly period: Period;
  /** The fields of a record. */
  readonly fields: readonly string[];
}

/** What decides which calls and fields a plan needs. */
export interface Named {
  readonly groups: readonly ReadField[];
  readonly conditions: readonly Condition[];
  readonly parts: readonly Part[];
}

/** The fields that a question names, those that follow from others included. */
export function namedFields({ groups, conditions, parts }: Named): readonly string[] {
  const namesIn = (about: Part['about']): readonly string[] => {
    if (about === null) return [];
    if (typeof about === 'string') return [about];
    const tested = fieldsOf(about);

    // A condition may name an account by the ID that its calls have.
    return [...tested, ...(tested.has('account') ? ['acct_id'] : [])];
  };

  const names = [
    ...groups.map(({ name }) => name),
    ...conditions.flatMap(namesIn),
    ...parts.flatMap(({ about }) => namesIn(about)),
  ];
  return names.map((name) => allFields.get(name)?.name ?? name);
}

/** The fields of a record that it names. */
export const recordFields = (named: Named): readonly string[] => [
  ...new Set(namedFields(named).flatMap(neededFor)),
];

/** The fields of a record that a field is read of. */
const neededFor = (name: string): readonly string[] =>
  name === judgedField ? [judgedField] : (allFields.get(name)?.needs ?? []);

/**
 * Which other calls of a caller it depends on: none, those before, or all of them. Only what comes
 * before a call decides which call of the caller it is.
 */
export function otherCallsOf(named: Named): 'none' | 'earlier' | 'all' {
  const fields = namedFields(named).map((name) => allFields.get(name)?.otherCalls ?? 'none');
  const parts = named.parts.map(({ needs }) =>
    needs === 'earlier' || needs === 'all' ? needs : 'none',
  );
  const all = [...fields, ...parts];
  if (all.includes('all')) return 'all';
  return all.includes('earlier') ? 'earlier' : 'none';
}

/** Does it depend on who has called before, such as first-time callers do? */
export function dependsOnEarlier(named: Named): boolean {
  return (
    namedFields(named).some((name) => allFields.get(name)?.otherCalls === 'earlier') ||
    named.parts.some(({ needs }) => needs === 'earlier')
  );
}

/** What it needs of the calls of its own period. */
function ownFields(named: Named): readonly string[] {
  const needsCaller =
    otherCallsOf(named) !== 'none' || named.parts.some(({ needs }) => needs === 'caller');
  const always = ['date_added', 'is_extension', ...(needsCaller ? ['ani'] : [])];
  return [...new Set([...always, ...recordFields(named)])];
}

/** What it needs of the other calls of its callers. */
function otherFields(named: Named): readonly string[] {
  const names = namedFields({
    groups: [],
    conditions: [],
    parts: named.parts.filter(({ needs }) => needs === 'earlier' || needs === 'all'),
  });
  const touched = namedFields(named).filter(
    (name) => (allFields.get(name)?.otherCalls ?? 'none') !== 'none',
  );
  const fields = [...names, ...touched].flatMap((name) => allFields.get(name)?.needs ?? []);
  return [...new Set(['date_added', 'is_extension', 'ani', ...fields])];
}

/** The calls around a period that it needs, too: their condition, and how far they may lie. */
interface Around {
  readonly window: number;
  readonly conditions: readonly Condition[];
}

/**
 * What a plan about some periods needs. Calls without a time are read too: an answer says how many
 * there are.
 */
export function needsOf(
  named: Named,
  periods: readonly Period[],
  { timeZone, inZone }: Zones,
  around: Around | null = null,
): readonly Need[] {
  const isMoved = inZone !== null && inZone !== timeZone;
  const dated = periods.map((each) => (isMoved ? padded(each) : each));
  const asked = merge([...dated, undated]);
  const own: Need[] = asked.map((period) => ({ period, fields: ownFields(named) }));
  if (around !== null) {
    // Of what became of a call another one may be the cause, before it or after it.
    const { window, conditions } = around;
    const fields = ['sid', 'date_added', 'is_extension', 'ani'];
    const tested = recordFields({ groups: [], conditions, parts: [] });
    const wider = dated.map(({ from, to }) =>
      periodOf(from === null ? null : from - window, to === null ? null : to + window),
    );
    for (const period of wider) own.push({ period, fields: [...new Set([...fields, ...tested])] });
  }
  const others = otherCallsOf(named);
  if (others === 'none') return joinNeeds(own);
  const end = others === 'all' ? null : (asked.at(-1)?.to ?? null);
  return joinNeeds([...own, { period: periodOf(null, end), fields: otherFields(named) }]);
}

/** The needs of several plans as one list in the order of time, in which no call is read twice. */
export function joinNeeds(needs: readonly Need[]): readonly Need[] {
  const edges = needs
    .flatMap(({ period: { from, to } }) => [from, to])
    .filter((edge) => edge !== null)
    .sort((a, b) => a - b);
  const cuts = [null, ...new Set(edges), null];
  const joined: Need[] = [];
  for (const [i, from] of cuts.slice(0, -1).entries()) {
    const part = periodOf(from, cuts[i + 1] ?? null);
    const fields = fieldsIn(needs, part);
    const last = joined.at(-1);
    if (fields.length === 0) continue;
    const isSame =
      last !== undefined &&
      last.period.to === from &&
      last.fields.length === fields.length &&
      last.fields.every((name) => fields.includes(name));
    if (isSame)
      joined[joined.length - 1] = { ...last, period: periodOf(last.period.from, part.to) };
    else joined.push({ period: part, fields });
  }

  const withoutTime = fieldsIn(needs, undated);
  return withoutTime.length === 0 ? joined : [{ period: undated, fields: withoutTime }, ...joined];
}

/** The fields that are needed of the calls of a period. */
const fieldsIn = (needs: readonly Need[], part: Period): readonly string[] => [
  ...new Set(
    needs.filter(({ period }) => intersect(period, part) !== null).flatMap(({ fields }) => fields),
  ),
];
