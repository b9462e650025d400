import type { Call } from '@call-attribution/core';
import { day } from '@call-attribution/core/time';
import { finishAnswer } from '../answer/finish.ts';
import { Batch, type ColumnBatch } from '../fields/batch.ts';
import { Numbering } from '../fields/numbering.ts';
import type { AccountStatus, Answer } from '../question/answer.ts';
import type { Period } from '../question/period.ts';
import { type ReadQuestion, readQuestion } from '../question/plan.ts';
import { checkQuestion, type Question } from '../question/question.ts';
import { QuestionCount, shiftOf } from './count.ts';
import { usualMemory } from './parts.ts';
import { type Calls, isColumns, Records } from './records.ts';
import { neededFields } from './sequences.ts';

/** What a question is answered with. */
export interface AnswerOptions {
  /** About how many bytes the exact state may take: different callers, groups, sequences of callers. Default 512,000,000. */
  readonly memory?: number | undefined;
  /** The instant that words such as `yesterday` are about, in milliseconds. Default: now. */
  readonly now?: number | undefined;
}

/**
 * Answers a question over calls, in one pass. The answer is exact; when that would need more memory than it may use, the question is
 * refused. Calls are counted as often as they come.
 *
 * @example
 * const { rows } = await answerQuestion({ groupBy: ['campaign', 'week'], measures: ['calls', 'missed_rate'], period: 'last quarter' }, calls);
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
   * The period that the calls may be left out before and after, on the clock of the records. It has no ends where something follows from
   * the other calls of a caller: then all calls of the accounts are needed, and the answer tells which of them count.
   */
  readonly period: Period;
}

/** Answers to several questions that are fed in parts, such as the calls of one account after those of another. */
export class RunningAnswers {
  /** What the questions need of the calls. */
  readonly needs: QuestionNeeds;
  readonly #all: readonly QuestionCount[];
  /** Questions in one zone look at calls together. */
  readonly #zones: readonly { readonly batch: Batch; readonly counts: readonly QuestionCount[] }[];
  readonly #callers = new Numbering();
  readonly #records: Records;

  /** See `createAnswers`. */
  constructor(questions: readonly Question[], options: AnswerOptions) {
    const { memory = usualMemory, now } = options;
    this.#all = questions.map((question) => {
      checkQuestion(question);
      return new QuestionCount(readQuestion(question, { now }), memory);
    });
    this.needs = needsOf(this.#all.map(({ plan }) => plan));
    const { fields } = this.needs;
    const numbers = fields.includes('ani') ? this.#callers : null;
    const zones = new Map<string, { batch: Batch; counts: QuestionCount[] }>();
    for (const count of this.#all) {
      const zone = JSON.stringify(count.plan.zones);
      const own = zones.get(zone) ?? { batch: new Batch(shiftOf(count.plan), numbers), counts: [] };
      zones.set(zone, own);
      own.counts.push(count);
    }
    this.#zones = [...zones.values()];
    this.#records = new Records(fields, (columns, of, sids) => this.#count(columns, of, sids));
  }

  #count(columns: ColumnBatch, account: string, sids: readonly string[]): void {
    for (const { batch, counts } of this.#zones) {
      batch.fill(columns, account);
      for (const count of counts) count.add(batch, sids);
    }
  }

  /** Counts a call of an account. */
  add(call: Call, account = 'main'): void {
    this.#records.add(call, account);
  }

  /** Counts calls of an account. */
  async addAll(calls: Calls, account = 'main'): Promise<void> {
    for await (const item of calls) {
      if (isColumns(item)) this.#count(item, account, []);
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
  }

  /**
   * The answers over all calls so far. More can come after them. `accounts` is what is known of them, for what the answers say of how fresh
   * they are: otherwise how many calls came, from when to when.
   */
  answers(accounts?: readonly AccountStatus[]): Answer[] {
    this.#records.flush();
    return this.#all.map((count) => finishAnswer(count.plan, count.counted(accounts)));
  }
}

/**
 * Begins answers to several questions.
 *
 * @example
 * const running = createAnswers([{ groupBy: ['campaign'], measures: ['calls', 'callers'] }]);
 * for (const account of ['101', '102'])
 *   await running.addAll(store.columns(account, everything, running.needs.fields), account);
 * console.log(running.answers()[0]?.rows);
 */
export const createAnswers = (questions: readonly Question[], options: AnswerOptions = {}): RunningAnswers =>
  new RunningAnswers(questions, options);

function needsOf(plans: readonly ReadQuestion[]): QuestionNeeds {
  const fields = [...new Set(plans.flatMap(neededFields))];
  if (plans.some(({ needsSequence }) => needsSequence)) return { fields, period: { from: null, to: null } };
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
