import type { Call } from '@call-attribution/core';
import { finishAnswer } from '../answer/finish.ts';
import { QuestionError } from '../errors.ts';
import { Facts, type ReadCalls, zoneShift } from '../fields/facts.ts';
import type { QuestionField } from '../fields/vocabulary.ts';
import type { AccountStatus, Answer, AnswerValue } from '../question/answer.ts';
import type { KnownField, RowOf } from '../question/names.ts';
import { namedFields, type Plan, planQuestion } from '../question/plan.ts';
import { checkQuestion, type Question } from '../question/question.ts';
import { invalidState } from './cell.ts';
import { Running, type SavedCounts } from './running.ts';
import { recordOf, usualMemory } from './select-calls.ts';

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

/** A question whose names are checked when the program is compiled: an unknown group is a type error. */
export type CheckedQuestion<Q> = Q extends { readonly groupBy: readonly (infer G)[] }
  ? string extends G
    ? unknown
    : [G] extends [KnownField]
      ? unknown
      : { readonly groupBy: readonly KnownField[] }
  : unknown;

/** The calls of a question: any iterable, asynchronous or not. */
export type Calls = AsyncIterable<Call> | Iterable<Call>;

/**
 * Answers a question over calls, in one pass. The answer is exact; when that would need more memory than it may use, the question is
 * refused. Calls are counted as often as they come.
 *
 * @example
 * const { rows } = await answerQuestion({ groupBy: ['campaign', 'week'], measures: ['calls', 'missed_rate'], period: 'last quarter' }, calls);
 */
export async function answerQuestion<const Q extends Question>(
  question: Q & CheckedQuestion<Q>,
  calls: Calls,
  options: AnswerOptions = {},
): Promise<Answer<RowOf<Q>>> {
  const answer = createAnswer<Q>(question, options);
  await answer.addAll(calls);
  return answer.answer();
}

/** Answers several questions in one pass over the calls. */
export async function answerQuestions(
  questions: readonly Question[],
  calls: Calls,
  options: AnswerOptions = {},
): Promise<Answer[]> {
  const { signal } = questions.find((question) => question.signal !== undefined) ?? {};
  const accountOf = accountIn(options);
  const all = questions.map((question) => new OneAnswer(question, options));
  const sets = byZone(all);
  const take = (call: Call) => {
    const record = recordOf(call);
    for (const { facts, own } of sets) {
      facts.set(record, accountOf(call));
      for (const each of own) each.take(facts);
    }
  };
  await eachCall(calls, take, signal);
  return all.map((each) => each.answer());
}

/** Questions in one zone look at a call together. */
function byZone(all: readonly OneAnswer[]): { readonly facts: Facts; readonly own: readonly OneAnswer[] }[] {
  const zones = new Map<string, OneAnswer[]>();
  for (const each of all) zones.set(each.zone, [...(zones.get(each.zone) ?? []), each]);
  return [...zones.values()].map((own) => ({ facts: own[0]?.facts ?? new Facts(), own }));
}

/** Answers to several questions over calls that a database has read. */
export interface ReadAnswers {
  /** Counts calls. */
  add(calls: ReadCalls): void;
  /** The answers over all calls so far. */
  answers(): Answer[];
}

/**
 * Begins answers to several questions over calls of one account of which a database has read the times and numbers, and these fields
 * of text. A question about another field is refused.
 *
 * @example
 * const { add, answers } = answersOfRead([{ groupBy: ['campaign'], measures: ['calls', 'missed'] }], ['ppc_campaign']);
 * add({ at: [1_790_812_800], tenths: [15], isExtension: [false], isFirst: [true], values: [['Brand']] });
 * console.log(answers()[0].rows);
 */
export function answersOfRead(
  questions: readonly Question[],
  fields: readonly string[],
  options: AnswerOptions = {},
): ReadAnswers {
  const all = questions.map((question) => new OneAnswer(question, options, fields));
  const sets = byZone(all);
  const account = typeof options.account === 'string' ? options.account : 'main';
  return {
    add(calls) {
      for (const { facts, own } of sets) {
        for (let place = 0; place < calls.at.length; place += 1) {
          facts.setRead(calls, place, account);
          for (const each of own) each.take(facts);
        }
      }
    },
    answers: () => all.map((each) => each.answer()),
  };
}

/** An answer that is fed in parts. It can be saved, continued and merged. */
export interface RunningAnswer<Row = Readonly<Record<string, AnswerValue>>> {
  /** The period that the question means, as naive times: the end is not included. Null where it is open. */
  readonly period: { readonly from: number | null; readonly to: number | null };
  /** Counts a call. `account` is that of the options unless given. */
  add(call: Call, account?: string): void;
  /** Counts calls. */
  addAll(calls: Calls, account?: string): Promise<void>;
  /** What was counted, as plain JSON. It holds numbers of callers where the question is about callers. */
  save(): SavedAnswer;
  /** Counts in what another answer to the same question has saved: other calls, in any order. */
  merge(saved: SavedAnswer): void;
  /** The answer over all calls so far. More can come after it. */
  answer(accounts?: readonly AccountStatus[]): Answer<Row>;
}

/** What an answer saves: plain JSON. */
export interface SavedAnswer {
  /** The version of this form. */
  readonly version: 1;
  /** What tells the question from others. */
  readonly question: string;
  /** What was counted. */
  readonly counts: SavedCounts;
}

/**
 * Begins an answer that is fed in parts. To go on with a saved one, merge it into a new answer to the same question.
 *
 * @example
 * const answer = createAnswer({ groupBy: ['campaign'], measures: ['calls', 'callers'] });
 * answer.merge(JSON.parse(await readFile('part.json', 'utf8')));
 * await answer.addAll(calls);
 * console.log(answer.answer().rows);
 */
export function createAnswer<const Q extends Question>(
  question: Q & CheckedQuestion<Q>,
  options: AnswerOptions = {},
): RunningAnswer<RowOf<Q>> {
  const one = new OneAnswer(question, options);
  const accountOf = accountIn(options);
  const { signal } = question as Question;
  return {
    period: one.plan.period,
    add(call, account = accountOf(call)) {
      one.facts.set(recordOf(call), account);
      one.take(one.facts);
    },
    async addAll(calls, account) {
      await eachCall(
        calls,
        (call) => {
          one.facts.set(recordOf(call), account ?? accountOf(call));
          one.take(one.facts);
        },
        signal,
      );
    },
    save: () => ({ version: 1, question: one.id, counts: one.running.save() }),
    merge(saved) {
      if (saved?.version !== 1 || saved.question !== one.id) throw invalidState();
      one.running.merge(saved.counts);
    },
    answer: (accounts) => one.answer(accounts) as Answer<RowOf<Q>>,
  };
}

/** One question at work. */
class OneAnswer {
  readonly plan: Plan;
  readonly running: Running;
  readonly facts: Facts;
  /** The zones of the question. */
  readonly zone: string;
  readonly id: string;
  readonly #accounts: readonly AccountStatus[] | undefined;

  /** `read` names the fields of calls that a database has read. */
  constructor(question: Question, options: AnswerOptions, read?: readonly string[]) {
    checkQuestion(question);
    const { memory = usualMemory, now, accounts } = options;
    const plan = planQuestion(question, { now });
    this.plan = read === undefined ? plan : planOfRead(plan, read);
    this.running = new Running(this.plan, memory);
    const { timeZone, inZone } = this.plan.zones;
    this.zone = `${timeZone} ${inZone}`;
    this.facts = new Facts(timeZone !== null && inZone !== null ? zoneShift(timeZone, inZone) : null);
    this.#accounts = accounts;
    this.id = idOf(plan);
  }

  take(facts: Facts): void {
    this.running.add(facts);
  }

  answer(accounts = this.#accounts): Answer {
    return finishAnswer(this.plan, this.running.counted(accounts, this.facts));
  }
}

/** What tells a question from others: what it means, however it was written. */
function idOf(plan: Plan): string {
  const { accounts, calls, conditions, settings, zones, period, compared } = plan;
  const { groups, measures, parts, having, order, limit, topPer, spend } = plan;
  return JSON.stringify([
    ...[accounts && [...new Set(accounts)].sort(), calls, conditions, settings.weekStart ?? 'monday'],
    ...[zones, period, compared, groups.map(({ name }) => name), parts],
    measures.map(({ column, spec, parts: of }) => [column, spec.unit, of]),
    ...[having?.condition, order, limit, topPer, spend && [...spend].sort()],
  ]);
}

function accountIn({ account = 'main' }: AnswerOptions): (call: Call) => string {
  return typeof account === 'function' ? account : () => account;
}

async function eachCall(
  calls: Calls,
  take: (call: Call) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  if (Symbol.iterator in calls) {
    let count = 0;
    for (const call of calls) {
      count += 1;
      if (count % 1024 === 0) signal?.throwIfAborted();
      take(call);
    }
  } else
    for await (const call of calls) {
      signal?.throwIfAborted();
      take(call);
    }
}

/** What follows from the time, the talk and the channel of a call. */
const alwaysRead = ['date_added', 'talk_minutes', 'missed', 'answered', 'is_extension', 'account'];
const timeFields = ['day', 'week', 'month', 'weekday', 'hour'];
const callerParts = ['callers', 'repeat_callers', 'lag_median'];

/** The plan over calls that a database has read: they have some fields only, and do not say which of them have no caller. */
function planOfRead(plan: Plan, read: readonly string[]): Plan {
  const known = new Set([...alwaysRead, ...timeFields, ...read]);
  const unread =
    namedFields(plan).find((name) => !known.has(name)) ??
    plan.parts.find(({ kind }) => callerParts.includes(kind))?.kind;
  if (unread !== undefined)
    throw new QuestionError(
      'invalid_question',
      `The question needs ${unread}, which was not read of the calls. They have ${[...known].join(', ')}.`,
    );
  const asRead = (field: QuestionField): QuestionField => {
    const at = read.indexOf(field.name);
    return at < 0 ? field : { ...field, read: ({ read: values, place }) => values[at]?.[place] ?? null };
  };
  return {
    ...plan,
    fields: new Map([...plan.fields].map(([name, field]) => [name, asRead(field)])),
    groups: plan.groups.map(asRead),
    measures: plan.measures.map((measure) => ({ ...measure, counted: null })),
    needsSequence: false,
  };
}
