import type { Call } from '@call-attribution/core';
import { finishAnswer } from '../answer/finish.ts';
import { type ColumnBatch, readLists } from '../fields/batch.ts';
import { Numbering } from '../fields/numbering.ts';
import type { AccountStatus, Answer } from '../question/answer.ts';
import { joinNeeds, type Need } from '../question/needs.ts';
import {
  type Plan,
  planQuestion,
  type ReadOptions,
  type ReadPlan,
  readPlan,
} from '../question/plan.ts';
import type { Question } from '../question/question.ts';
import { QuestionCount } from './count.ts';
import { memoryOf, usualMemory } from './parts.ts';
import { type Calls, isColumns, Records } from './records.ts';
import { SeenAccounts } from './seen.ts';
import { type KeptAccount, KeptCalls } from './sequences.ts';

/** What a question is answered with. */
export interface AnswerOptions {
  /**
   * About how many bytes the exact state may take: different callers, groups, sequences of callers.
   * Default 512,000,000.
   */
  readonly memory?: number | undefined;
  /**
   * What else an account is called. A condition may name it like that, too, as well as by the
   * `acct_id` of its calls. Default: nothing.
   */
  readonly namesOf?: ((account: string) => readonly string[]) | undefined;
}

/**
 * Answers a question over calls, in one pass. The answer is exact; when that would need more memory
 * than it may use, the question is refused. Calls are counted as often as they come.
 *
 * @example
 * const { rows } = await answerQuestion({ groupBy: ['campaign', 'week'], measures: ['calls',
 * 'missed_rate'], period: 'last quarter' }, calls);
 */
export async function answerQuestion(
  question: Question,
  calls: Calls,
  { now, ...options }: AnswerOptions & ReadOptions = {},
): Promise<Answer> {
  const running = createAnswers([planQuestion(question, { now })], options);
  await running.addAll(calls);
  return running.answers()[0] as Answer;
}

/**
 * Answers to several questions that are fed in parts, such as the calls of one account after those
 * of another.
 */
export class RunningAnswers {
  /** The calls that have to be read, in the order of time. */
  readonly needs: readonly Need[];
  /**
   * The same, with the times of calls beside the periods that show what a day usually has: where
   * these cost little, they are worth reading.
   */
  readonly reads: readonly Need[];
  readonly #all: readonly QuestionCount[];
  readonly #callers = new Numbering();
  readonly #records: Records;
  readonly #seen = new SeenAccounts();
  /** What questions on the other calls of a caller are answered of. */
  readonly #kept: KeptCalls | null;
  readonly #countOf: (plan: ReadPlan) => QuestionCount;

  /** See `createAnswers`. */
  constructor(plans: readonly Plan[], { memory = usualMemory, namesOf = () => [] }: AnswerOptions) {
    this.#countOf = (plan) => new QuestionCount(plan, memory, namesOf);
    this.#all = plans.map((plan) => this.#countOf(readPlan(plan)));
    const needs = plans.flatMap((plan) => plan.needs);
    this.needs = joinNeeds(needs);
    const beside = this.#all.flatMap(({ plan }) => plan.beside);
    const times = beside.map((period): Need => ({ period, fields: ['date_added'] }));
    this.reads = joinNeeds([...needs, ...times]);
    const late = this.#all.filter(isLate).map(({ plan }) => plan);
    this.#kept = late.length === 0 ? null : new KeptCalls(late, memoryOf(memory));
    const fields = new Set(this.needs.flatMap((need) => need.fields));
    this.#records = new Records([...fields], (columns, of) => this.#count(columns, of));
  }

  #count(columns: ColumnBatch, account: string): void {
    const lists = readLists(columns, account, this.#callers);
    this.#seen.add(account, lists.length, lists.sentTimes);
    this.#kept?.add(lists);
    for (const count of this.#all) if (!isLate(count)) count.add(lists);
  }

  /** Counts a call of an account. */
  add(call: Call, account = 'main'): void {
    this.#records.add(call, account);
  }

  /** Counts calls of an account. */
  async addAll(calls: Calls, account = 'main'): Promise<void> {
    for await (const item of calls) {
      if (isColumns(item)) this.#count(item, account);
      else this.#records.add(item, account);
    }
  }

  /** Counts in the calls of other answers to the same questions, which are not used any more. */
  merge(other: RunningAnswers): void {
    this.#records.flush();
    other.#records.flush();
    const callerOf = Int32Array.from(other.#callers.keys, (key) => this.#callers.of(key));
    for (const [i, count] of this.#all.entries()) {
      const theirs = other.#all[i];
      if (theirs !== undefined) count.merge(theirs, callerOf);
    }

    this.#seen.merge(other.#seen);
    if (other.#kept !== null) this.#kept?.merge(other.#kept, callerOf);
  }

  /**
   * The answers over all calls so far. More can come after them. `accounts` is what is known of
   * them, for what the answers say of how fresh they are: otherwise how many calls came, from when
   * to when.
   */
  answers(accounts?: readonly AccountStatus[]): Answer[] {
    this.#records.flush();
    const known = accounts ?? this.#seen.statuses();
    const kept = (): Iterable<KeptAccount> => this.#kept?.accounts() ?? [];
    const late = new Map(
      this.#all.filter(isLate).map((count) => {
        // A call of one account may be what an outcome is thought of in another.
        const sold = count.soldCalls(kept(), this.#callers);
        return [count, { count: this.#countOf(count.plan), sold }];
      }),
    );
    for (const { calls, sequenceOf } of kept())
      for (const [{ plan }, { count, sold }] of late) {
        const end = this.#seen.endOf(calls.account, known, plan.zones.timeZone);
        const became = sold?.of(calls.account);
        count.add(calls, (batch) => sequenceOf(batch, end, became));
      }

    return this.#all.map((own) => {
      const { count, sold } = late.get(own) ?? { count: own, sold: null };
      return finishAnswer(own.plan, count.counted(known, this.#seen.hours, sold));
    });
  }
}

/** Can calls only be counted when all are there? */
const isLate = ({ plan }: QuestionCount): boolean =>
  plan.otherCalls !== 'none' || plan.outcomes !== null;

/**
 * Begins answers to several planned questions.
 *
 * @example
 * const plan = planQuestion({ groupBy: ['campaign'], measures: ['calls', 'callers'] });
 * const running = createAnswers([plan]);
 * for (const { period, fields } of running.needs)
 *   await running.addAll(store.columns('101', fields, { period }), '101');
 * console.log(running.answers()[0]?.rows);
 */
export const createAnswers = (
  plans: readonly Plan[],
  options: AnswerOptions = {},
): RunningAnswers => new RunningAnswers(plans, options);
