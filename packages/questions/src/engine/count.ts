import { instantOf, minute, naiveAt } from '@call-attribution/core/time';
import type { Counted, CountedGroup } from '../answer/counted.ts';
import { comparedFields, mostValues } from '../answer/nothing-found.ts';
import type { Value } from '../conditions/condition.ts';
import { compileCondition, type Judge } from '../conditions/holds.ts';
import type { Batch } from '../fields/batch.ts';
import { allFields } from '../fields/vocabulary.ts';
import type { AccountStatus } from '../question/answer.ts';
import { alignmentOf, keyReader, unmoved } from '../question/buckets.ts';
import { shownMoment } from '../question/measures.ts';
import type { Period } from '../question/period.ts';
import type { ReadQuestion, ReadSelection } from '../question/plan.ts';
import { GroupTable, memoryOf, readerOf } from './parts.ts';
import { KeptCalls } from './sequences.ts';

/** What was seen of an account; times are naive milliseconds. */
interface SeenAccount {
  calls: number;
  first: number;
  last: number;
}

/** Counts calls for one question. */
export class QuestionCount {
  readonly plan: ReadQuestion;
  readonly #bytes: number;
  readonly #judges: readonly Judge<Batch>[];
  readonly #now: GroupTable;
  readonly #past: GroupTable | null;
  readonly #kept: KeptCalls | null;
  readonly #seen = new Map<string, SeenAccount>();
  /** How often each value occurs of the texts that conditions compare. */
  readonly #values: ReadonlyMap<string, Map<Value, number>>;
  #otherChannel = 0;
  #noTime = 0;

  constructor(plan: ReadQuestion, bytes: number) {
    const { groups, compared, period } = plan;
    this.plan = plan;
    this.#bytes = bytes;
    const memory = memoryOf(bytes);
    const table = (moved = unmoved): GroupTable =>
      new GroupTable(
        plan,
        groups.map((group) => keyReader(group, moved)),
        memory,
      );
    this.#now = table();
    this.#past = compared === null ? null : table(alignmentOf(groups, period, compared));
    this.#kept = plan.needsSequence ? new KeptCalls(plan, memory) : null;
    this.#judges = judgesOf(plan);
    this.#values = new Map(Array.from(comparedFields(plan), (name) => [name, new Map()]));
  }

  /** Counts calls. Those that come in order have no ids. */
  add(calls: Batch, sids: readonly string[]): void {
    const seen = this.#seenOf(calls.account);
    seen.calls += calls.length;
    for (const time of calls.sentTimes) {
      if (time < seen.first) seen.first = time;
      if (time > seen.last) seen.last = time;
    }
    if (this.#kept !== null) this.#kept.add(calls, sids);
    else this.#count(calls);
  }

  #seenOf(account: string): SeenAccount {
    const none = { calls: 0, first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY };
    const seen = this.#seen.get(account) ?? none;
    this.#seen.set(account, seen);
    return seen;
  }

  /** Counts in the calls that another one of the same question has taken. Its callers have these numbers here. */
  merge(other: QuestionCount, callerOf: Int32Array): void {
    this.#now.merge(other.#now, callerOf);
    if (other.#past !== null) this.#past?.merge(other.#past, callerOf);
    if (other.#kept !== null) this.#kept?.merge(other.#kept, callerOf);
    this.#otherChannel += other.#otherChannel;
    this.#noTime += other.#noTime;
    for (const [name, counts] of this.#values)
      for (const [value, count] of other.#values.get(name) ?? [])
        counts.set(value, (counts.get(value) ?? 0) + count);
    for (const [account, { calls, first, last }] of other.#seen) {
      const seen = this.#seenOf(account);
      seen.calls += calls;
      seen.first = Math.min(seen.first, first);
      seen.last = Math.max(seen.last, last);
    }
  }

  /** Counts those calls that the question is about in their groups. */
  #count(calls: Batch): void {
    const { period, compared, calls: channel } = this.plan;
    for (const [name, counts] of this.#values) {
      const read = readerOf(name);
      for (calls.at = 0; calls.at < calls.length; calls.at += 1) {
        const value = read(calls);
        if (counts.size < mostValues || counts.has(value)) counts.set(value, (counts.get(value) ?? 0) + 1);
      }
    }
    const [now, past] = [new Int32Array(calls.length), new Int32Array(compared === null ? 0 : calls.length)];
    let [nowSize, pastSize] = [0, 0];
    for (let at = 0; at < calls.length; at += 1) {
      calls.at = at;
      if (!this.#judges.every((judge) => judge(calls) === true)) continue;
      const { time } = calls;
      const isNow = within(time, period);
      if (channel !== 'all' && (channel === 'extensions') !== calls.isExtension) {
        if (isNow) this.#otherChannel += 1;
        continue;
      }
      if (time === null) this.#noTime += 1;
      if (isNow) {
        now[nowSize] = at;
        nowSize += 1;
      }
      if (compared !== null && within(time, compared)) {
        past[pastSize] = at;
        pastSize += 1;
      }
    }
    this.#now.count(calls, now.subarray(0, nowSize));
    this.#past?.count(calls, past.subarray(0, pastSize));
  }

  /** What was counted, for `finishAnswer`. More calls can come after it. */
  counted(known?: readonly AccountStatus[]): Counted {
    const accounts = known ?? this.#statuses();
    if (this.#kept !== null) {
      const all = new QuestionCount({ ...this.plan, needsSequence: false }, this.#bytes);
      for (const { calls, sids } of this.#kept.accounts(shiftOf(this.plan), this.#ends(known)))
        all.add(calls, sids);
      return { ...all.counted(), accounts };
    }
    const [now, past] = [this.#now.results(), this.#past?.results()];
    const groups = new Map<string, CountedGroup>();
    for (const { key, parts } of now.groups) groups.set(JSON.stringify(key), { key, now: parts, past: null });
    for (const { key, parts } of past?.groups ?? []) {
      const id = JSON.stringify(key);
      groups.set(id, { key, now: groups.get(id)?.now ?? null, past: parts });
    }
    return {
      total: { now: now.whole, past: past?.whole ?? null },
      groups: [...groups.values()],
      otherChannel: this.#otherChannel,
      noTime: this.#noTime,
      values: this.#values,
      accounts,
    };
  }

  /** Until when the calls of each account are known, on the clock of its records: its last sync, otherwise its last call. */
  #ends(accounts: readonly AccountStatus[] = []): Map<string, number> {
    const { timeZone } = this.plan.zones;
    const ends = new Map<string, number>();
    for (const [account, { last }] of this.#seen) if (Number.isFinite(last)) ends.set(account, last);
    for (const { account, syncedAt } of accounts)
      if (syncedAt !== null && timeZone !== null) ends.set(account, naiveAt(Date.parse(syncedAt), timeZone));
    return ends;
  }

  #statuses(): AccountStatus[] {
    const text = (millis: number) => (Number.isFinite(millis) ? shownMoment(millis) : null);
    return [...this.#seen]
      .map(([account, { calls, first, last }]) => ({
        ...{ account, calls, first: text(first), last: text(last) },
        ...{ storedAt: null, syncedAt: null },
      }))
      .sort((a, b) => (a.account < b.account ? -1 : 1));
  }
}

/** The conditions of a selection as functions. A filter of the API is about the times as they were sent. */
export const judgesOf = (plan: ReadSelection): readonly Judge<Batch>[] =>
  plan.conditions.map(({ condition, asSent }) =>
    compileCondition(condition, allFields, (field) =>
      asSent && field === 'date_added' ? ({ sentAt }: Batch) => sentAt : readerOf(field),
    ),
  );

/** How times are moved into the zone of an answer; null when they are not. */
export function shiftOf({ zones: { timeZone, inZone } }: Pick<ReadSelection, 'zones'>): Batch['shift'] {
  if (timeZone === null || inZone === null) return null;
  const shown = (naive: number): number => naiveAt(instantOf(naive, timeZone).epochMs, inZone);
  // Between two clock changes the shift is the same, and no zone changes its clocks twice within a quarter of an hour.
  const block = 15 * minute;
  const shifts = new Map<number, number>();
  return (naive) => {
    const at = Math.floor(naive / block);
    let shift = shifts.get(at);
    if (shift === undefined) {
      const [start, end] = [at * block, (at + 1) * block - 1];
      shift = shown(start) - start === shown(end) - end ? shown(start) - start : Number.NaN;
      shifts.set(at, shift);
    }
    return Number.isNaN(shift) ? shown(naive) : naive + shift;
  };
}

/** Is a time in a period? */
export function within(time: number | null, { from, to }: Period): boolean {
  if (from === null && to === null) return true;
  return time !== null && (from === null || time >= from) && (to === null || time < to);
}
