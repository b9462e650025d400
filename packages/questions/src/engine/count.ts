import { naiveAt } from '@call-attribution/core/time';
import type { Counted, CountedGroup } from '../answer/counted.ts';
import { askedConditions, comparedFields, mostValues } from '../answer/nothing-found.ts';
import { compileCondition, type Judge, type Value } from '../conditions/holds.ts';
import type { Facts } from '../fields/facts.ts';
import type { AccountStatus } from '../question/answer.ts';
import { type Alignment, alignmentOf, keyReader, unmoved } from '../question/buckets.ts';
import { shownMoment } from '../question/measures.ts';
import type { Period } from '../question/period.ts';
import type { Plan, SelectionPlan } from '../question/plan.ts';
import { GroupTable, Memory, readerIn } from './parts.ts';
import { KeptCalls } from './sequences.ts';

/** What was seen of an account. */
interface SeenAccount {
  calls: number;
  /** The first time, in naive milliseconds. */
  first: number | null;
  /** The last time. */
  last: number | null;
}

/** A condition that no counted call has met so far. */
interface Unmet {
  /** Its place among those of the question. */
  readonly at: number;
  readonly fields: readonly string[];
  /** Whether it is true of a call; of the conditions of the question as a whole it is known already. */
  readonly judge: Judge<Facts> | null;
}

/** Values of a field, and how often each was seen. */
type Noted = readonly [name: string, read: (facts: Facts) => Value, counts: Map<Value, number>];

/** Counts calls for one question. */
export class QuestionCount {
  readonly #plan: Plan;
  readonly #bytes: number;
  readonly #judges: readonly Judge<Facts>[];
  readonly #now: GroupTable;
  readonly #past: GroupTable | null;
  readonly #kept: KeptCalls | null;
  readonly #accounts: ReadonlySet<string> | null;
  readonly #seen = new Map<string, SeenAccount>();
  #unmet: readonly Unmet[];
  /** What is noted of the fields of those. */
  #noted: readonly Noted[] = [];
  /** The account of the last call, which that of the next one mostly is. */
  #last: { readonly account: string; readonly seen: SeenAccount } | null = null;
  #otherChannel = 0;
  #noTime = 0;

  constructor(plan: Plan, bytes: number) {
    const { groups, settings, compared, period, accounts } = plan;
    this.#plan = plan;
    this.#bytes = bytes;
    const memory = new Memory(bytes);
    const table = (moved: Alignment): GroupTable =>
      new GroupTable(
        plan,
        groups.map((group) => keyReader(group, moved, settings)),
        memory,
      );
    this.#now = table(unmoved);
    this.#past = compared === null ? null : table(alignmentOf(groups, period, compared, settings));
    this.#kept = plan.needsSequence ? new KeptCalls(plan, memory) : null;
    this.#accounts = accounts === null ? null : new Set(accounts);
    this.#judges = judgesOf(plan);
    this.#unmet = askedConditions(plan).map((asked, at) => ({
      at,
      fields: comparedFields(plan, asked),
      judge: asked.part === 0 ? null : compileCondition(asked.condition, plan.fields, readerIn(plan)),
    }));
    this.#note();
  }

  /** Takes a call. One that comes in order has no `sid`. */
  add(facts: Facts, sid: string): void {
    this.#look(facts);
    if (this.#accounts !== null && !this.#accounts.has(facts.account)) return;
    if (this.#kept !== null) this.#kept.add(facts, sid);
    else this.#count(facts);
  }

  #look({ account, sentAt }: Facts): void {
    if (this.#last?.account !== account) this.#last = { account, seen: this.#seenOf(account) };
    const { seen } = this.#last;
    seen.calls += 1;
    if (sentAt !== null) seeTime(seen, sentAt);
  }

  #seenOf(account: string): SeenAccount {
    const seen = this.#seen.get(account) ?? { calls: 0, first: null, last: null };
    this.#seen.set(account, seen);
    return seen;
  }

  /** Counts in the calls that another one of the same question has taken. */
  merge(other: QuestionCount): void {
    this.#now.merge(other.#now);
    if (other.#past !== null) this.#past?.merge(other.#past);
    if (other.#kept !== null) this.#kept?.merge(other.#kept);
    this.#otherChannel += other.#otherChannel;
    this.#noTime += other.#noTime;
    this.#unmet = this.#unmet.filter(({ at }) => other.#unmet.some((each) => each.at === at));
    this.#note();
    for (const [name, , counts] of this.#noted)
      for (const [value, count] of other.#noted.find(([known]) => known === name)?.[2] ?? [])
        counts.set(value, (counts.get(value) ?? 0) + count);
    for (const [account, { calls, first, last }] of other.#seen) {
      const seen = this.#seenOf(account);
      seen.calls += calls;
      for (const time of [first, last]) if (time !== null) seeTime(seen, time);
    }
  }

  /** Counts a call in its groups, if the question is about it. */
  #count(facts: Facts): void {
    const { period, compared, calls } = this.#plan;
    const { time, isExtension } = facts;
    for (const [, read, counts] of this.#noted) {
      const value = read(facts);
      if (counts.size < mostValues || counts.has(value)) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    for (const judge of this.#judges) if (judge(facts) !== true) return;
    const isNow = within(time, period);
    if (calls !== 'all' && (calls === 'extensions') !== isExtension) {
      if (isNow) this.#otherChannel += 1;
      return;
    }
    if (time === null) this.#noTime += 1;
    if (isNow) {
      if (this.#unmet.length > 0) this.#meet(facts);
      this.#now.add(facts);
    }
    if (this.#past !== null && compared !== null && within(time, compared)) this.#past.add(facts);
  }

  /** A counted call, of which some conditions may be the first time true. */
  #meet(facts: Facts): void {
    const left = this.#unmet.filter(({ judge }) => judge !== null && judge(facts) !== true);
    if (left.length === this.#unmet.length) return;
    this.#unmet = left;
    this.#note();
  }

  /** What the fields hold that conditions compare is noted until a counted call meets them. */
  #note(): void {
    const names = new Set(this.#unmet.flatMap(({ fields }) => fields));
    this.#noted = [...names].map(
      (name) =>
        this.#noted.find(([known]) => known === name) ?? [name, readerIn(this.#plan)(name), new Map()],
    );
  }

  /** What was counted, for `finishAnswer`. More calls can come after it. */
  counted(known: readonly AccountStatus[] | undefined, facts: Facts): Counted {
    const seen = this.#statuses();
    const isAsked = ({ account }: AccountStatus): boolean => this.#accounts?.has(account) ?? true;
    const accounts = {
      accounts: known ?? seen.filter(isAsked),
      otherAccounts: seen.filter((each) => !isAsked(each)).map(({ account }) => account),
    };
    if (this.#kept !== null) {
      const all = new QuestionCount({ ...this.#plan, needsSequence: false }, this.#bytes);
      this.#kept.each(facts, (sid) => all.add(facts, sid), this.#ends(known));
      return { ...all.counted(undefined, facts), ...accounts };
    }
    const groups = new Map<string, CountedGroup>();
    const idOf = (key: readonly Value[]): string => JSON.stringify(key);
    for (const { key, parts } of this.#now.cells()) groups.set(idOf(key), { key, now: parts, past: null });
    for (const { key, parts } of this.#past?.cells() ?? [])
      groups.set(idOf(key), { key, now: groups.get(idOf(key))?.now ?? null, past: parts });
    return {
      total: { now: this.#now.whole(), past: this.#past?.whole() ?? null },
      groups: [...groups.values()],
      otherChannel: this.#otherChannel,
      noTime: this.#noTime,
      values: new Map(this.#noted.map(([name, , counts]) => [name, counts])),
      ...accounts,
    };
  }

  /** Until when the calls of each account are known, on the clock of its records: its last sync, otherwise its last call. */
  #ends(accounts: readonly AccountStatus[] = []): Map<string, number> {
    const { timeZone } = this.#plan.zones;
    const ends = new Map<string, number>();
    for (const [account, { last }] of this.#seen) if (last !== null) ends.set(account, last);
    for (const { account, syncedAt } of accounts)
      if (syncedAt !== null && timeZone !== null) ends.set(account, naiveAt(Date.parse(syncedAt), timeZone));
    return ends;
  }

  #statuses(): AccountStatus[] {
    const text = (millis: number | null) => (millis === null ? null : shownMoment(millis));
    return [...this.#seen]
      .map(([account, { calls, first, last }]) => ({
        ...{ account, calls, first: text(first), last: text(last) },
        ...{ storedAt: null, syncedAt: null },
      }))
      .sort((a, b) => (a.account < b.account ? -1 : 1));
  }
}

function seeTime(seen: SeenAccount, time: number): void {
  if (seen.first === null || time < seen.first) seen.first = time;
  if (seen.last === null || time > seen.last) seen.last = time;
}

/** The conditions of a selection as functions. A filter of the API is about the times as they were sent. */
export const judgesOf = (plan: SelectionPlan): readonly Judge<Facts>[] =>
  plan.conditions.map(({ condition, asSent }) => {
    const read = readerIn(plan);
    return compileCondition(condition, plan.fields, (field) =>
      asSent && field === 'date_added' ? ({ sentAt }: Facts) => sentAt : read(field),
    );
  });

/** Is a time in a period? */
export function within(time: number | null, { from, to }: Period): boolean {
  if (from === null && to === null) return true;
  return time !== null && (from === null || time >= from) && (to === null || time < to);
}
