import { dated, minute, naiveAt } from '@call-attribution/core/time';
import { describe } from '@call-attribution/node-stream/copies';
import { printFilter } from '@call-attribution/query-dsl';
import type { AccountStatus, Answer, Question } from '@call-attribution/questions';
import { ask, beginOf, type Store } from '@call-attribution/store';
import {
  causeOf,
  causeQuestions,
  groupsOf,
  isChanged,
  isEmpty,
  keptCalls,
  pageBucket,
  pageGroups,
  pageQuestions,
  pageSummary,
} from './numbers.ts';
import type {
  PageBucket,
  PageCalls,
  PageDimension,
  PageGroup,
  PageNumbers,
  PageQuestion,
} from './question.ts';

/** Answers that are remembered until the calls of their account change. */
const mostKept = 64;
/** Most calls that are turned around in memory. */
const mostTurned = 500;
/** What words such as `last month`, and a period that is not over, are about. */
export interface PageClock {
  /** The time in milliseconds. */
  readonly now: () => number;
  /** The zone of the calls' times; null when nobody has said which it is. */
  readonly timeZone: string | null;
}

/** Values of a field that a file has. */
const mostGroups = 1_000_000;

/**
 * Where the page reads: calls of an account, summed up and listed. Nothing of the calls stays in
 * memory but the last answers.
 */
export class PageSource {
  readonly #store: Store;
  readonly #clock: PageClock;
  readonly #kept = new Map<string, { readonly revision: number; readonly summary: PageNumbers }>();

  constructor(store: Store, clock: PageClock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The numbers of the page. */
  async summary(
    account: string,
    question: PageQuestion,
    by: PageBucket | 'auto',
    signal: AbortSignal,
  ): Promise<PageNumbers> {
    const { filter, chosen, switches, exclude } = question;
    const chosenCalls = [printFilter(filter), [...question.only], chosen, switches, exclude];
    const end = await this.#endOf(account, question);
    const key = JSON.stringify([account, ...chosenCalls, by, end]);
    const revision = await this.#store.revision(account);
    const only = await this.#scopeOf(account, question);
    const known = this.#kept.get(key);
    if (known?.revision === revision) return { ...known.summary, only };
    const counted = await this.#count(account, question, { by, isCut: end !== null }, signal);
    const summary = { ...counted, only };
    this.#kept.delete(key);

    // A sync that finds no calls does not change the revision.
    if (summary.none === null) this.#kept.set(key, { revision, summary });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
    return summary;
  }

  /**
   * Where the calls of a period end that are known: the minute of the last sync, or of now. Null
   * for a period that is over then.
   */
  async #endOf(account: string, { period }: PageQuestion): Promise<number | null> {
    const { machineZone } = await import('@call-attribution/questions');
    const { now, timeZone } = this.#clock;
    const synced = (await this.#store.note(account))?.notedAt ?? Number.POSITIVE_INFINITY;
    const end = naiveAt(Math.min(now(), synced), timeZone ?? machineZone());
    return period.to === null || period.to <= end ? null : Math.floor(end / minute);
  }

  /** Which calls of a period the copy has, where a sync has filled it with a filter. */
  async #scopeOf(account: string, { period }: PageQuestion): Promise<string | null> {
    const verdict = await this.#store.verdict(account, period);
    return verdict && describe(verdict).scope;
  }

  /** All values of a field with their calls, the most frequent first. */
  async groups(
    account: string,
    question: PageQuestion,
    field: PageDimension,
    signal: AbortSignal,
  ): Promise<PageGroup[]> {
    const [answer] = await this.#ask(account, [pageGroups(question, field, mostGroups)], signal);
    return groupsOf(answer, field);
  }

  /** The calls of the table, newest first. */
  async calls(
    account: string,
    question: PageQuestion,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): Promise<PageCalls> {
    const store = this.#store;
    const { selection, only, chosen, exclude } = question;
    if (chosen.length > 0 || exclude !== null)
      return { total: null, calls: this.#judged(account, question, { offset, limit }) };
    if (only.size > 0 || limit > mostTurned) {
      const part = { offset, limit, newestFirst: true, only };
      return { total: null, calls: store.calls(account, selection, part) };
    }

    const total = await store.count(account, selection);
    const end = Math.max(0, total - offset);
    const part = { offset: Math.max(0, end - limit), limit: Math.min(limit, end) };
    const calls: object[] = [];
    if (part.limit > 0)
      for await (const call of store.calls(account, selection, part)) calls.unshift(call);
    return { total, calls };
  }

  /** The calls that meet the definitions, newest first: a part of them. */
  async *#judged(
    account: string,
    question: PageQuestion,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): AsyncGenerator<object> {
    const { planCalls, selectCalls } = await import('@call-attribution/questions');
    const names = (await this.#store.accounts()).filter(({ id }) => id === account);
    const namesOf = () => names.map(({ name }) => name);
    const plan = planCalls(keptCalls(question));
    const selector = selectCalls(plan, { namesOf });
    if (plan.otherCalls !== 'none')
      for await (const call of this.#store.calls(account)) selector.learn(call, account);

    let at = 0;
    const { selection, only } = question;
    for await (const call of this.#store.calls(account, selection, { newestFirst: true, only })) {
      if (selector.judge(call, account) !== 'selected') continue;
      at += 1;
      if (at > offset) yield call;
      if (at >= offset + limit) return;
    }
  }

  /** The answer to a question with a period in words. */
  async report(account: string, question: Question, signal: AbortSignal): Promise<Answer> {
    const [answer] = await this.#ask(account, [question], signal);
    return answer as Answer;
  }

  /** One call as a record of v3, or null. */
  readonly call = (account: string, sid: string) => this.#store.document(account, sid, 'v3');

  /**
   * Counts the calls of the period. Those before it are read as well, for whose first calls are in
   * it and in the period before.
   */
  async #count(
    account: string,
    question: PageQuestion,
    { by, isCut }: { readonly by: PageBucket | 'auto'; readonly isCut: boolean },
    signal: AbortSignal,
  ): Promise<Omit<PageNumbers, 'only'>> {
    const store = this.#store;
    let none: string | null = null;
    const calls = await store.count(account);
    const note = await store.note(account);
    if (calls === 0)
      none = note === null ? 'Nothing was synced yet.' : 'This account has no calls yet.';

    const earliest = await this.#timeOf(account, false);
    const latest = await this.#timeOf(account, true);
    const bucket = pageBucket(question, by, { earliest, latest });
    const asking = isEmpty(question.period) ? null : account;
    const syncedAt = note && new Date(note.notedAt).toISOString();
    const since = await beginOf(store, account);
    const known = { calls, first: earliest, last: latest, since, storedAt: syncedAt, syncedAt };
    const statuses = [{ account, ...known }];
    const questions = pageQuestions(question, { by: bucket, isCut });
    const answers = await this.#ask(asking, questions, signal, statuses);
    const summary = pageSummary(question, bucket, answers, { none, earliest, latest });
    const { comparedWith } = summary;
    if (!isChanged(summary) || comparedWith === null) return { ...summary, cause: null };
    const asked = causeQuestions(question, comparedWith);
    const past = await this.#ask(asking, asked, signal, statuses);
    return { ...summary, cause: causeOf(question, summary, answers, past) };
  }

  /** Answers questions about the calls of an account, or about no calls at all. */
  async #ask(
    account: string | null,
    questions: readonly Question[],
    signal: AbortSignal,
    statuses: readonly AccountStatus[] = [],
  ): Promise<readonly Answer[]> {
    // A service whose page nobody opens starts without it.
    const { planQuestion } = await import('@call-attribution/questions');
    const { now, timeZone } = this.#clock;
    const zone = timeZone === null ? {} : { timeZone };
    const plans = questions.map((each) => planQuestion({ ...each, ...zone }, { now: now() }));
    const copies = account === null ? [] : [{ store: this.#store, account }];
    return ask(plans, copies, { signal, statuses });
  }

  /**
   * The time of the first call of an account, or of the last one; null without calls that have a
   * time.
   */
  async #timeOf(account: string, newestFirst: boolean): Promise<string | null> {
    for await (const { date_added } of this.#store.calls(
      account,
      { period: dated },
      { limit: 1, newestFirst },
    ))
      return date_added;
    return null;
  }
}
