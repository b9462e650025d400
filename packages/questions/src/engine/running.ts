import { MemoryLimit } from '@call-attribution/node-stream/accumulators';
import type { Counted, CountedGroup } from '../answer/counted.ts';
import { comparedFields } from '../answer/nothing-found.ts';
import type { Judge, Value } from '../conditions/holds.ts';
import { QuestionError } from '../errors.ts';
import type { Facts } from '../fields/facts.ts';
import type { AccountStatus } from '../question/answer.ts';
import { alignmentOf, keyReader, unmoved } from '../question/buckets.ts';
import { shownMoment } from '../question/measures.ts';
import type { Plan } from '../question/plan.ts';
import { invalidState, partCounters, type SavedCell } from './cell.ts';
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
  /** A call met the conditions. */
  readonly matched: boolean;
  /** Values that explain a condition nothing met. */
  readonly values: readonly (readonly [string, readonly (readonly [string, number])[]])[];
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

const mostValues = 20_000;

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
  readonly #compared: readonly string[];
  readonly #values = new Map<string, Map<string, number>>();
  /** The account of the last call, which that of the next one mostly is. */
  #last: { readonly account: string; readonly seen: SeenAccount } | null = null;
  #otherChannel = 0;
  #noTime = 0;
  #matched = false;

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
    this.#compared = comparedFields(plan);
    for (const name of this.#compared) this.#values.set(name, new Map());
    this.#judges = judgesOf(plan);
  }

  /** Takes a call. */
  add(facts: Facts): void {
    if (this.#accounts !== null && !this.#accounts.has(facts.account)) return;
    this.#look(facts);
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
    if (!this.#matched && this.#compared.length > 0) this.#note(facts);
    for (const judge of this.#judges) if (judge(facts) !== true) return;
    const isOther = plan.calls !== 'all' && (plan.calls === 'extensions') !== isExtension;
    const isNow = within(time, plan.period);
    if (isOther) {
      if (isNow) this.#otherChannel += 1;
      return;
    }
    if (time === null) this.#noTime += 1;
    if (isNow) {
      this.#matched = true;
      this.#now.add(facts);
    }
    if (this.#past !== null && plan.compared !== null && within(time, plan.compared)) this.#past.add(facts);
  }

  /** Notes what the fields hold that the condition compares, until a call meets it. */
  #note(facts: Facts): void {
    for (const name of this.#compared) {
      const value = this.plan.fields.get(name)?.read(facts) ?? null;
      if (typeof value !== 'string') continue;
      let known = this.#values.get(name);
      if (known === undefined) {
        known = new Map();
        this.#values.set(name, known);
      }
      if (known.size < mostValues || known.has(value)) known.set(value, (known.get(value) ?? 0) + 1);
    }
  }

  save(): SavedCounts {
    return {
      now: this.#now.save(),
      past: this.#past?.save() ?? [],
      kept: this.#kept?.save() ?? [],
      otherChannel: this.#otherChannel,
      noTime: this.#noTime,
      matched: this.#matched,
      values: [...this.#values].map(([name, values]) => [name, [...values]] as const),
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
      this.#matched ||= saved.matched;
      for (const [name, values] of saved.values) {
        const known = this.#values.get(name) ?? new Map<string, number>();
        this.#values.set(name, known);
        for (const [value, count] of values) known.set(value, (known.get(value) ?? 0) + count);
      }
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
      values: this.#matched ? new Map() : this.#values,
      accounts: accounts ?? this.#statuses(),
    };
  }

  /** Counts the calls that were kept. They stay, so that more can come. */
  #countedLate(kept: KeptCalls, accounts: readonly AccountStatus[] | undefined, facts: Facts): Counted {
    const late = new Running({ ...this.plan, needsSequence: false }, this.#memory.bytes);
    kept.each(facts, (each) => late.add(each));
    facts.sequence = null;
    return late.counted(accounts ?? this.#statuses(), facts);
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
