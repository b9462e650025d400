import {
  everything,
  hour,
  instantOf,
  isIn,
  minute,
  naiveAt,
  type Period,
} from '@call-attribution/core/time';
import type { Counted, CountedGroup } from '../answer/counted.ts';
import { comparedFields, mostValues } from '../answer/nothing-found.ts';
import type { Value } from '../conditions/condition.ts';
import { compileCondition, type Judge, type ReaderOf } from '../conditions/holds.ts';
import { Batch, type CallLists, type Sequence, type Shift } from '../fields/batch.ts';
import type { Numbering } from '../fields/numbering.ts';
import { allFields } from '../fields/vocabulary.ts';
import { timeOf } from '../fields/wire-values.ts';
import type { AccountStatus } from '../question/answer.ts';
import { alignmentOf, unmoved } from '../question/buckets.ts';
import type { Zones } from '../question/period.ts';
import type { ReadPlan } from '../question/plan.ts';
import { type AccountNames, GroupTable, memoryOf, testedBy } from './parts.ts';
import type { KeptAccount } from './sequences.ts';
import { type SoldCalls, soldCalls } from './sold-calls.ts';

/** Counts calls for one question. */
export class QuestionCount {
  readonly plan: ReadPlan;
  readonly #shift: Shift;
  readonly #tested: ReaderOf<Batch>;
  readonly #judges: readonly Judge<Batch>[];
  /** The same, but that a negated test is true of a call without a value; null without such tests. */
  readonly #lenient: readonly Judge<Batch>[] | null;
  readonly #isExcluded: Judge<Batch>;
  readonly #now: GroupTable;
  readonly #past: GroupTable | null;
  /** How often each value occurs of the texts that conditions compare. */
  readonly #values: ReadonlyMap<string, Map<Value, number>>;
  /** Calls of the period. */
  #found = 0;
  #extensions = 0;
  #otherChannel = 0;
  #noTime = 0;
  /** Calls of the period that a negation leaves out because they have no value, by the field. */
  readonly #withoutValue = new Map<string, number>();
  #excluded = 0;

  constructor(plan: ReadPlan, bytes: number, namesOf: AccountNames) {
    const { groups, compared, period } = plan;
    this.plan = plan;
    const memory = memoryOf(bytes);
    this.#now = new GroupTable(plan, unmoved, memory, namesOf);
    this.#past =
      compared === null
        ? null
        : new GroupTable(plan, alignmentOf(groups, period, compared), memory, namesOf);
    this.#shift = shiftOf(plan.zones);
    this.#tested = testedBy(namesOf);
    this.#judges = judgesOf(plan, namesOf);
    this.#lenient =
      plan.lenient === null
        ? null
        : judgesOf(
            { ...plan, conditions: [plan.lenient.lenient, ...plan.conditions.slice(1)] },
            namesOf,
          );
    this.#isExcluded = excludedBy(plan, namesOf);
    this.#values = new Map(Array.from(comparedFields(plan, 0), (name) => [name, new Map()]));
  }

  /**
   * Counts in the calls that another one of the same question has taken. Its callers have these
   * numbers here.
   */
  merge(other: QuestionCount, callerOf: Int32Array): void {
    this.#now.merge(other.#now, callerOf);
    if (other.#past !== null) this.#past?.merge(other.#past, callerOf);
    this.#extensions += other.#extensions;
    this.#otherChannel += other.#otherChannel;
    this.#noTime += other.#noTime;
    this.#excluded += other.#excluded;
    this.#found += other.#found;
    for (const [field, calls] of other.#withoutValue) this.#leave(field, calls);
    for (const [name, counts] of this.#values)
      for (const [value, count] of other.#values.get(name) ?? [])
        counts.set(value, (counts.get(value) ?? 0) + count);
  }

  /**
   * Counts those calls that the question is about in their groups. `sequenceOf` says what follows
   * from the others of their callers.
   */
  add(lists: CallLists, sequenceOf?: (calls: Batch) => Sequence): void {
    const calls = new Batch(lists, this.#shift, sequenceOf);
    const { period, compared } = this.plan;
    const isOfPeriod = timesIn(period);
    const isOfCompared = compared === null ? () => false : timesIn(compared);
    const { length } = lists;
    const now = new Int32Array(length);
    const past = new Int32Array(compared === null ? 0 : length);
    let nowSize = 0;
    let pastSize = 0;
    for (let at = 0; at < length; at += 1) {
      calls.at = at;
      const time = calls.times[at] as number;
      const isNow = isOfPeriod(time);
      const isPast = isOfCompared(time);
      if (!isNow && !isPast && !Number.isNaN(time)) continue;
      if (!this.#judges.every((judge) => judge(calls) === true)) {
        if (isNow && this.#isLeftByNegation(calls)) this.#leaveWithoutValue(calls);
        continue;
      }
      if (isOfOtherChannel(this.plan, calls)) {
        if (isNow) this.#otherChannel += 1;
        continue;
      }
      if (this.#isExcluded(calls) === true) {
        if (isNow) this.#excluded += 1;
        continue;
      }
      if (Number.isNaN(time)) this.#noTime += 1;
      if (isNow) {
        now[nowSize] = at;
        this.#extensions += lists.extensions[at] as number;
        nowSize += 1;
      }
      if (isPast) {
        past[pastSize] = at;
        pastSize += 1;
      }
    }

    this.#now.count(calls, now.subarray(0, nowSize));
    this.#past?.count(calls, past.subarray(0, pastSize));
    this.#found += nowSize;
    for (const name of comparedFields(this.plan, this.#found)) {
      const read = this.#tested(name);
      const counts = this.#values.get(name) as Map<Value, number>;
      for (calls.at = 0; calls.at < length; calls.at += 1)
        for (const value of [read(calls) ?? null].flat())
          if (counts.size < mostValues || counts.has(value))
            counts.set(value, (counts.get(value) ?? 0) + 1);
    }
  }

  /** Would a call be counted, but that it has no value where a test is negated? */
  #isLeftByNegation(calls: Batch): boolean {
    if (this.#lenient === null || isOfOtherChannel(this.plan, calls)) return false;
    if (this.#isExcluded(calls) === true) return false;
    return this.#lenient.every((judge) => judge(calls) === true);
  }

  #leaveWithoutValue(calls: Batch): void {
    for (const field of this.plan.lenient?.fields ?? [])
      if ((this.#tested(field)(calls) ?? null) === null) this.#leave(field, 1);
  }

  #leave(field: string, calls: number): void {
    this.#withoutValue.set(field, (this.#withoutValue.get(field) ?? 0) + calls);
  }

  /** Which of all calls its outcomes belong to; null where it measures nothing of that. */
  soldCalls(accounts: Iterable<KeptAccount>, callers: Numbering): SoldCalls | null {
    const { outcomes } = this.plan;
    if (outcomes === null) return null;
    return soldCalls(outcomes, accounts, callers, this.#shift, this.#isExcluded);
  }

  /** What was counted, for `finishAnswer`. More calls can come after it. */
  counted(
    accounts: readonly AccountStatus[],
    seenHours: ReadonlyMap<number, number>,
    sold: SoldCalls | null,
  ): Counted {
    const now = this.#now.results();
    const past = this.#past?.results();
    const groups = new Map<string, CountedGroup>();
    for (const { key, parts } of now.groups)
      groups.set(JSON.stringify(key), { key, now: parts, past: null });
    for (const { key, parts } of past?.groups ?? []) {
      const id = JSON.stringify(key);
      groups.set(id, { key, now: groups.get(id)?.now ?? null, past: parts });
    }

    return {
      total: { now: now.whole, past: past?.whole ?? null },
      groups: [...groups.values()],
      extensions: this.#extensions,
      otherChannel: this.#otherChannel,
      noTime: this.#noTime,
      withoutValue: this.#withoutValue,
      excluded: this.#excluded,
      values: this.#values,
      matches: sold?.matches ?? [],
      accounts,
      ...this.#known(accounts, seenHours),
    };
  }

  /** What is known of all calls, in the zone of the answer. */
  #known(
    accounts: readonly AccountStatus[],
    seenHours: ReadonlyMap<number, number>,
  ): Pick<Counted, 'hours' | 'first' | 'last' | 'since' | 'until'> {
    const shift = this.#shift ?? ((naive: number) => naive);
    const hours = new Map<number, number>();
    for (const [at, calls] of seenHours) {
      const shown = Math.floor(shift(at * hour) / hour);
      hours.set(shown, (hours.get(shown) ?? 0) + calls);
    }

    const momentsOf = (end: 'first' | 'last' | 'since'): number[] =>
      accounts
        .filter(({ calls }) => calls > 0)
        .map((status) => timeOf(status[end]))
        .filter((time) => time !== null)
        .map(shift);
    const firsts = momentsOf('first');
    const lasts = momentsOf('last');
    const begins = momentsOf('since');
    const isSince = begins.length > 0 && begins.length === firsts.length;
    const [readAt] = accounts
      .flatMap(({ syncedAt, storedAt }) => syncedAt ?? storedAt ?? [])
      .sort();
    const zone = this.plan.zones.inZone ?? this.plan.zones.timeZone;
    return {
      hours,
      first: firsts.length === 0 ? null : Math.min(...firsts),
      last: lasts.length === 0 ? null : Math.max(...lasts),
      since: isSince ? Math.min(...begins) : null,
      until: readAt === undefined || zone === null ? null : naiveAt(Date.parse(readAt), zone),
    };
  }
}

/** The conditions of a selection as functions. */
export function judgesOf(plan: ReadPlan, namesOf: AccountNames): readonly Judge<Batch>[] {
  const tested = testedBy(namesOf);
  const judges = plan.conditions.map((condition) => compileCondition(condition, allFields, tested));
  if (plan.sent === everything) return judges;
  return [({ sentAt }) => isIn(plan.sent, sentAt), ...judges];
}

/** Whether a call came through the channel that a plan leaves out. */
export const isOfOtherChannel = ({ calls: channel }: ReadPlan, call: Batch): boolean =>
  channel !== 'all' && (channel === 'extensions') !== call.isExtension;

/** Whether a call is left out by `exclude`. */
export function excludedBy({ exclude }: ReadPlan, namesOf: AccountNames): Judge<Batch> {
  if (exclude === null) return () => false;
  return compileCondition(exclude.condition, allFields, testedBy(namesOf));
}

/** How times are moved into the zone of an answer. */
export function shiftOf({ timeZone, inZone }: Zones): Shift {
  if (timeZone === null || inZone === null) return null;
  const shown = (naive: number): number => naiveAt(instantOf(naive, timeZone).epochMs, inZone);

  // Between two clock changes the shift is the same, and no zone changes its clocks twice within a
  // quarter of an hour.
  const block = 15 * minute;
  const shifts = new Map<number, number>();
  return (naive) => {
    const at = Math.floor(naive / block);
    let shift = shifts.get(at);
    if (shift === undefined) {
      const start = at * block;
      const end = (at + 1) * block - 1;
      shift = shown(start) - start === shown(end) - end ? shown(start) - start : Number.NaN;
      shifts.set(at, shift);
    }

    return Number.isNaN(shift) ? shown(naive) : naive + shift;
  };
}

/** Judges times, of which NaN is that of a call without one. */
function timesIn({ from, to, undated }: Period): (time: number) => boolean {
  const first = from ?? Number.NEGATIVE_INFINITY;
  const end = to ?? Number.POSITIVE_INFINITY;
  const withoutTime = undated === 'with';
  return (time) => (time >= first && time < end) || (withoutTime && Number.isNaN(time));
}
