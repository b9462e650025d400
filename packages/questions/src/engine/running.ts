import { naiveAt } from '@call-attribution/core/time';
import { MemoryLimit } from '@call-attribution/node-stream/accumulators';
import type { Counted, CountedGroup } from '../answer/counted.ts';
import { askedConditions, comparedFields, mostValues } from '../answer/nothing-found.ts';
import { compileCondition, type Judge, type Value } from '../conditions/holds.ts';
import { QuestionError } from '../errors.ts';
import type { Facts } from '../fields/facts.ts';
import type { AccountStatus } from '../question/answer.ts';
import { alignmentOf, keyReader, unmoved } from '../question/buckets.ts';
import { shownMoment } from '../question/measures.ts';
import type { Plan } from '../question/plan.ts';
import { invalidState, partCounters, readerIn, type SavedCell } from './cell.ts';
import { CellTable } from './cell-table.ts';
import { judgesOf, tooMuch, within } from './select-calls.ts';
import { type KeptCall, KeptCalls } from './sequences.ts';

/** What a running answer saves, as plain JSON. */
export interface SavedCounts {
  /** Groups of the period. */
  readonly now: readonly SavedCell[];
  /** Groups of the compared period. */
  readonly past: readonly SavedCell[];
  /** Calls that sequences of callers need. */
  readonly kept: readonly KeptCall[];
  /** Calls that `calls` leaves out. */
  readonly otherChannel: number;
  /** Calls without a readable time. */
  readonly noTime: number;
  /** Of each condition of the question: whether a counted call met it. */
  readonly met: readonly boolean[];
  /** Values that explain a condition nothing met. */
  readonly values: readonly (readonly [string, readonly (readonly [Value, number])[]])[];
  /** What was seen of each account. */
  readonly accounts: readonly (readonly [string, SeenAccount])[];
}

/** What was seen of an account. */
export interface SeenAccount {
  /** How many calls. */
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

/** Counts calls for one question. */
export class Running {
  readonly plan: Plan;
  readonly #memory: MemoryLimit;
  readonly #judges: readonly Judge<Facts>[];
  readonly #now: CellTable;
  readonly #past: CellTable | null;
  readonly #kept: KeptCalls | null;
  readonly #accounts: ReadonlySet<string> | null;
  readonly #seen = new Map<string, SeenAccount>();
  #unmet: readonly Unmet[] = [];
  /** What is noted of the fields of those. */
  #noted: readonly (readonly [name: string, read: (facts: Facts) => Value, counts: Map<Value, number>])[] =
    [];
  readonly #conditions: number;
  /** The account of the last call, which that of the next one mostly is. */
  #last: { readonly account: string; readonly seen: SeenAccount } | null = null;
  #otherChannel = 0;
  #noTime = 0;

  constructor(plan: Plan, bytes: number) {
    this.plan = plan;
    this.#memory = new MemoryLimit(bytes, tooMuch);
    const counters = partCounters(plan, this.#memory);
    const { groups, settings, compared, period } = plan;
    const table = (moved: typeof unmoved) =>
      new CellTable(
        groups.map((group) => ({ read: keyReader(group, moved, settings), isTime: group.isTime })),
        counters,
        this.#memory,
      );
    this.#now = table(unmoved);
    this.#past = compared === null ? null : table(alignmentOf(groups, period, compared, settings));
    this.#kept = plan.needsSequence ? new KeptCalls(plan, this.#memory) : null;
    this.#accounts = plan.accounts === null ? null : new Set(plan.accounts);
    const asked = askedConditions(plan);
    this.#conditions = asked.length;
    const unmet = asked.map((each, at) => ({
      at,
      fields: comparedFields(plan, each),
      judge: each.part === 0 ? null : compileCondition(each.condition, plan.fields, readerIn(plan)),
    }));
    this.#wait(unmet);
    this.#judges = judgesOf(plan);
  }

  /** Takes a call. */
  add(facts: Facts): void {
    this.#look(facts);
    if (this.#accounts !== null && !this.#accounts.has(facts.account)) return;
    if (this.#kept !== null) this.#kept.add(facts);
    else this.#count(facts);
  }

  #look({ account, sentAt }: Facts): void {
    if (this.#last?.account !== account) {
      const seen = this.#seen.get(account) ?? { calls: 0, first: null, last: null };
      this.#seen.set(account, seen);
      this.#last = { account, seen };
    }
    const { seen } = this.#last;
    seen.calls += 1;
    if (sentAt === null) return;
    if (seen.first === null || sentAt < seen.first) seen.first = sentAt;
    if (seen.last === null || sentAt > seen.last) seen.last = sentAt;
  }

  /** Counts a call in its groups, if the question is about it. */
  #count(facts: Facts): void {
    const { plan } = this;
    const { time, isExtension } = facts;
    if (this.#noted.length > 0) this.#note(facts);
    for (const judge of this.#judges) if (judge(facts) !== true) return;
    const isOther = plan.calls !== 'all' && (plan.calls === 'extensions') !== isExtension;
    const isNow = within(time, plan.period);
    if (isOther) {
      if (isNow) this.#otherChannel += 1;
      return;
    }
    if (time === null) this.#noTime += 1;
    if (isNow) {
      if (this.#unmet.length > 0) this.#meet(facts);
      this.#now.add(facts);
    }
    if (this.#past !== null && plan.compared !== null && within(time, plan.compared)) this.#past.add(facts);
  }

  /** A counted call, of which some conditions may be the first time true. */
  #meet(facts: Facts): void {
    const isMet = ({ judge }: Unmet): boolean => judge === null || judge(facts) === true;
    if (this.#unmet.some(isMet)) this.#wait(this.#unmet.filter((each) => !isMet(each)));
  }

  /** Notes what the fields hold that conditions compare, until a counted call meets them. */
  #note(facts: Facts): void {
    for (const [, read, counts] of this.#noted) {
      const value = read(facts);
      if (counts.size < mostValues || counts.has(value)) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
  }

  /** Goes on noting what these conditions compare, and nothing else. */
  #wait(unmet: readonly Unmet[]): void {
    const known = new Map(this.#noted.map((each) => [each[0], each]));
    this.#unmet = unmet;
    this.#noted = [...new Set(unmet.flatMap(({ fields }) => fields))].map(
      (name) => known.get(name) ?? [name, readerIn(this.plan)(name), new Map()],
    );
  }

  save(): SavedCounts {
    return {
      now: this.#now.save(),
      past: this.#past?.save() ?? [],
      kept: this.#kept?.save() ?? [],
      otherChannel: this.#otherChannel,
      noTime: this.#noTime,
      met: this.#met(),
      values: this.#noted.map(([name, , counts]) => [name, [...counts]] as const),
      accounts: [...this.#seen],
    };
  }

  merge(saved: SavedCounts): void {
    try {
      this.#now.merge(saved.now);
      this.#past?.merge(saved.past);
      for (const call of saved.kept) this.#kept?.restore(call);
      this.#otherChannel += saved.otherChannel;
      this.#noTime += saved.noTime;
      this.#wait(this.#unmet.filter(({ at }) => saved.met[at] === false));
      for (const [name, , counts] of this.#noted)
        for (const [value, count] of saved.values.find(([of]) => of === name)?.[1] ?? [])
          counts.set(value, (counts.get(value) ?? 0) + count);
      for (const [account, { calls, first, last }] of saved.accounts) {
        const seen = this.#seen.get(account) ?? { calls: 0, first: null, last: null };
        this.#seen.set(account, {
          calls: seen.calls + calls,
          first: least(seen.first, first),
          last: most(seen.last, last),
        });
      }
      this.#last = null;
    } catch (error) {
      if (error instanceof QuestionError) throw error;
      throw invalidState();
    }
  }

  /** What was counted, for `finishAnswer`. */
  counted(accounts: readonly AccountStatus[] | undefined, facts: Facts): Counted {
    if (this.#kept !== null) return this.#countedLate(this.#kept, accounts, facts);
    const { now, past } = { now: this.#now, past: this.#past };
    let groups: CountedGroup[] = now.cells().map(({ key, parts }) => ({ key, now: parts, past: null }));
    if (past !== null) {
      const byKey = new Map(groups.map((group) => [idOf(group.key), group]));
      for (const { key, parts } of past.cells()) {
        const own = byKey.get(idOf(key));
        byKey.set(idOf(key), { key, now: own?.now ?? null, past: parts });
      }
      groups = [...byKey.values()];
    }
    return {
      total: { now: now.whole(), past: past?.whole() ?? null },
      groups,
      otherChannel: this.#otherChannel,
      noTime: this.#noTime,
      values: new Map(this.#noted.map(([name, , counts]) => [name, counts])),
      ...this.#accountsSeen(accounts),
    };
  }

  /** The accounts of the question, and those of other calls that came. */
  #accountsSeen(known: readonly AccountStatus[] | undefined): Pick<Counted, 'accounts' | 'otherAccounts'> {
    const seen = this.#statuses();
    const isAsked = ({ account }: AccountStatus) => this.#accounts?.has(account) ?? true;
    return {
      accounts: known ?? seen.filter(isAsked),
      otherAccounts: seen.filter((each) => !isAsked(each)).map(({ account }) => account),
    };
  }

  #met(): boolean[] {
    const unmet = new Set(this.#unmet.map(({ at }) => at));
    return Array.from({ length: this.#conditions }, (_, at) => !unmet.has(at));
  }

  /** Counts the calls that were kept. They stay, so that more can come. */
  #countedLate(kept: KeptCalls, accounts: readonly AccountStatus[] | undefined, facts: Facts): Counted {
    const late = new Running({ ...this.plan, needsSequence: false }, this.#memory.bytes);
    kept.each(facts, (each) => late.add(each), this.#ends(accounts));
    facts.sequence = null;
    return { ...late.counted(undefined, facts), ...this.#accountsSeen(accounts) };
  }

  /** Until when the calls of each account are known, on the clock of its records: its last sync, otherwise its last call. */
  #ends(accounts: readonly AccountStatus[] = []): Map<string, number> {
    const { timeZone } = this.plan.zones;
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
        account,
        calls,
        first: text(first),
        last: text(last),
        storedAt: null,
        syncedAt: null,
      }))
      .sort((a, b) => (a.account < b.account ? -1 : 1));
  }
}

const idOf = (key: readonly Value[]): string => JSON.stringify(key);

const least = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);
const most = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);
