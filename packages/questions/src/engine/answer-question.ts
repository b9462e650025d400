import type { Call } from '@call-attribution/core';
import { day } from '@call-attribution/core/time';
import { finishAnswer } from '../answer/finish.ts';
import { Facts, zoneShift } from '../fields/facts.ts';
import type { AccountStatus, Answer } from '../question/answer.ts';
import type { Period } from '../question/period.ts';
import { type Plan, planQuestion } from '../question/plan.ts';
import { checkQuestion, type Question } from '../question/question.ts';
import { type CallRecord, type Calls, eachCall, recordOf } from './calls.ts';
import { QuestionCount } from './count.ts';
import { usualMemory } from './parts.ts';
import { neededFields } from './sequences.ts';

/** What a question is answered with. */
export interface AnswerOptions {
  /** The account of the calls, or a function that says it of each. Default `main`. */
  readonly account?: string | ((call: Call) => string) | undefined;
  /**
   * What is known of the accounts, for what the answer says of how fresh they are. Default: how many calls came, from when to when.
   */
  readonly accounts?: readonly AccountStatus[] | undefined;
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
  const [answer] = await answerQuestions([question], calls, options);
  return answer as Answer;
}

/** Answers several questions in one pass over the calls. */
export async function answerQuestions(
  questions: readonly Question[],
  calls: Calls,
  options: AnswerOptions = {},
): Promise<Answer[]> {
  const answers = createAnswers(questions, options);
  await answers.addAll(calls);
  return answers.answers();
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
  readonly #all: readonly { readonly plan: Plan; readonly count: QuestionCount }[];
  /** Questions in one zone look at a call together. */
  readonly #zones: readonly { readonly facts: Facts; readonly counts: readonly QuestionCount[] }[];
  readonly #accountOf: (call: Call) => string;
  readonly #known: readonly AccountStatus[] | undefined;
  readonly #signal: AbortSignal | undefined;

  /** See `createAnswers`. */
  constructor(questions: readonly Question[], options: AnswerOptions) {
    const { account = 'main', memory = usualMemory, now, accounts } = options;
    this.#accountOf = typeof account === 'function' ? account : () => account;
    this.#known = accounts;
    this.#signal = questions.find((question) => question.signal !== undefined)?.signal;
    this.#all = questions.map((question) => {
      checkQuestion(question);
      const plan = planQuestion(question, { now });
      return { plan, count: new QuestionCount(plan, memory) };
    });
    this.needs = needsOf(this.#all.map(({ plan }) => plan));
    const zones = new Map<string, { facts: Facts; counts: QuestionCount[] }>();
    for (const { plan, count } of this.#all) {
      const zone = JSON.stringify(plan.zones);
      const own = zones.get(zone) ?? { facts: factsOf(plan), counts: [] };
      zones.set(zone, own);
      own.counts.push(count);
    }
    this.#zones = [...zones.values()];
  }

  #take(record: CallRecord, account: string, sid: string): void {
    for (const { facts, counts } of this.#zones) {
      facts.set(record, account);
      for (const count of counts) count.add(facts, sid);
    }
  }

  /** Counts a call. `account` is that of the options unless given. */
  add(call: Call, account: string = this.#accountOf(call)): void {
    this.#take(recordOf(call), account, String(call.sid));
  }

  /** Counts calls. */
  addAll(calls: Calls, account?: string): Promise<void> {
    const take = (record: CallRecord, isOrdered: boolean): void => {
      const own = account ?? this.#accountOf(record as unknown as Call);
      this.#take(record, own, isOrdered ? '' : String(record.sid));
    };
    return eachCall(calls, take, this.#signal);
  }

  /** Counts in the calls of other answers to the same questions, which are not used any more. */
  merge(other: RunningAnswers): void {
    for (const [i, { count }] of this.#all.entries()) {
      const theirs = other.#all[i]?.count;
      if (theirs !== undefined) count.merge(theirs);
    }
  }

  /** The answers over all calls so far. More can come after them. */
  answers(accounts: readonly AccountStatus[] | undefined = this.#known): Answer[] {
    return this.#all.map(({ plan, count }) => finishAnswer(plan, count.counted(accounts, factsOf(plan))));
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

/** The facts of calls in the zones of a question. */
export function factsOf(plan: Pick<Plan, 'zones'> | undefined): Facts {
  const { timeZone = null, inZone = null } = plan?.zones ?? {};
  return new Facts(timeZone !== null && inZone !== null ? zoneShift(timeZone, inZone) : null);
}

function needsOf(plans: readonly Plan[]): QuestionNeeds {
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

/** An answer that is fed in parts. */
export interface RunningAnswer extends Pick<RunningAnswers, 'add' | 'addAll'> {
  /** The answer over all calls so far. More can come after it. */
  answer(accounts?: readonly AccountStatus[]): Answer;
}

/** Begins an answer that is fed in parts. */
export function createAnswer(question: Question, options: AnswerOptions = {}): RunningAnswer {
  const running = createAnswers([question], options);
  return {
    add: (call, account) => running.add(call, account),
    addAll: (calls, account) => running.addAll(calls, account),
    answer: (accounts) => running.answers(accounts)[0] as Answer,
  };
}
