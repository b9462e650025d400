import type { Call } from '@call-attribution/core';
import { day } from '@call-attribution/core/time';
import { finishAnswer } from '../answer/finish.ts';
import { type ColumnBatch, readLists } from '../fields/batch.ts';
import { Numbering } from '../fields/numbering.ts';
import type { AccountStatus, Answer } from '../question/answer.ts';
import type { Period } from '../question/period.ts';
import { type ReadQuestion, readQuestion } from '../question/plan.ts';
import { checkQuestion, type Question } from '../question/question.ts';
import { QuestionCount } from './count.ts';
import { memoryOf, usualMemory } from './parts.ts';
import { type Calls, isColumns, Records } from './records.ts';
import { SeenAccounts } from './seen.ts';
import { KeptCalls, neededFields } from './sequences.ts';

/** What a question is answered with. */
export interface AnswerOptions {
  /**
   * About how many bytes the exact state may take: different callers, groups, sequences of callers.
   * Default 512,000,000.
   */
  readonly memory?: number | undefined;
  /** The instant that words such as `yesterday` are about, in milliseconds. Default: now. */
  readonly now?: number | undefined;
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
  options: AnswerOptions = {},
): Promise<Answer> {
  const running = createAnswers([question], options);
  await running.addAll(calls);
  return running.answers()[0] as Answer;
}

/** What questions need of the calls. */
export interface QuestionNeeds {
  /** The fields of the records. */
  readonly fields: readonly string[];
  /**
   * The period that the calls may be left out before and after, on the clock of the records. It has
   * no ends where something follows from the other calls of a caller: then all calls of the
   * accounts are needed, and the answer tells which of them count.
   */
  readonly period: Period;
}

/**
 * Answers to several questions that are fed in parts, such as the calls of one account after those
 * of another.
 */
export class RunningAnswers {
  /** What the questions need of the calls. */
  readonly needs: QuestionNeeds;
  readonly #all: readonly QuestionCount[];
  readonly #callers = new Numbering();
  readonly #records: Records;
  readonly #seen = new SeenAccounts();
  /** What questions on the other calls of a caller are answered of. */
  readonly #kept: KeptCalls | null;
  readonly #memory: number;

  /** See `createAnswers`. */
  constructor(questions: readonly Question[], options: AnswerOptions) {
    const { memory = usualMemory, now } = options;
    this.#all = questions.map((question) => {
      checkQuestion(question);
      return new QuestionCount(readQuestion(question, { now }), memory);
    });
    this.needs = needsOf(this.#all.map(({ plan }) => plan));
    const late = this.#all.filter(isLate).map(({ plan }) => plan);
    this.#kept = late.length === 0 ? null : new KeptCalls(late, memoryOf(memory));
    this.#memory = memory;
    this.#records = new Records(this.needs.fields, (columns, of) => this.#count(columns, of));
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
    const late = new Map(
      this.#all.filter(isLate).map((count) => [count, new QuestionCount(count.plan, this.#memory)]),
    );
    for (const { calls, sequenceOf } of this.#kept?.accounts() ?? [])
      for (const [{ plan }, count] of late) {
        const end = this.#seen.endOf(calls.account, known, plan.zones.timeZone);
        count.add(calls, (batch) => sequenceOf(batch, end));
      }

    return this.#all.map((count) =>
      finishAnswer(count.plan, (late.get(count) ?? count).counted(known)),
    );
  }
}

/** Can calls only be counted when all are there? */
const isLate = ({ plan }: QuestionCount): boolean => plan.needsSequence;

/**
 * Begins answers to several questions.
 *
 * @example
 * const running = createAnswers([{ groupBy: ['campaign'], measures: ['calls', 'callers'] }]);
 * for (const account of ['101', '102'])
 *   await running.addAll(store.columns(account, everything, running.needs.fields), account);
 * console.log(running.answers()[0]?.rows);
 */
export const createAnswers = (
  questions: readonly Question[],
  options: AnswerOptions = {},
): RunningAnswers => new RunningAnswers(questions, options);

function needsOf(plans: readonly ReadQuestion[]): QuestionNeeds {
  const fields = [...new Set(plans.flatMap(neededFields))];
  if (plans.some(({ needsSequence }) => needsSequence))
    return { fields, period: { from: null, to: null } };

  // No two zones are further apart than 27 hours.
  const stretches = plans.flatMap(({ period, compared, zones }) => {
    const apart = zones.inZone === null || zones.inZone === zones.timeZone ? 0 : 1.125 * day;
    return [period, ...(compared === null ? [] : [compared])].map(({ from, to }) => ({
      from: from === null ? Number.NEGATIVE_INFINITY : from - apart,
      to: to === null ? Number.POSITIVE_INFINITY : to + apart,
    }));
  });
  const from = Math.min(...stretches.map((each) => each.from));
  const to = Math.max(...stretches.map((each) => each.to));
  return {
    fields,
    period: { from: Number.isFinite(from) ? from : null, to: Number.isFinite(to) ? to : null },
  };
}
