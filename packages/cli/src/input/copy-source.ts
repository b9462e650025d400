import type { Call } from '@call-attribution/core';
import {
  day,
  everything,
  type Period,
  parseNaive,
  periodOfText,
  textOf,
} from '@call-attribution/core/time';
import type {
  CallStreamOptions,
  MonthReading,
  Position,
  Span,
  Verdict,
} from '@call-attribution/node-stream';
import { describe, proofOf } from '@call-attribution/node-stream/copies';
import type { Receipt } from '@call-attribution/node-stream/receipts';
import { allOf, type Filter, printFilter, toFilter } from '@call-attribution/query-dsl';
import {
  type AccountStatus,
  type Answer,
  type CallSelection,
  isOfCondition,
  type Plan,
  planCalls,
  planQuestion,
  selectCalls,
} from '@call-attribution/questions';
import type { Settings } from '@call-attribution/settings';
import {
  ask,
  printRemovals,
  type Selection,
  type Store,
  selectionOf,
  statusesOf,
  verdictsOf,
} from '@call-attribution/store';
import { count, plural } from '../terminal/numbers.ts';
import { beginWaiting } from '../terminal/waiting.ts';
import { type AccountNames, nameIn } from './account-names.ts';
import { type ChosenCalls, narrows } from './chosen-calls.ts';
import {
  type AccountMonths,
  type Found,
  type Latest,
  lastOf,
  type Months,
  type Reading,
  type Source,
  type Total,
  withBothEnds,
} from './source.ts';
import type { ReadResult, Remarks } from './verdict.ts';

/** What of a copy is read, and how it is called. */
export interface CopyOptions {
  /** As messages call it: the URL without a password. */
  readonly shown: string;
  readonly settings: Settings;
  /** IDs of the accounts that are read; empty for all. */
  readonly accounts: readonly string[];
  /** Which calls are meant. */
  readonly calls: ChosenCalls;
  /** Only calls that changed after this time, in milliseconds since 1970; null for any. */
  readonly changedSince: number | null;
  /** What else conditions may call the accounts. Default: nothing. */
  readonly namesOf?: AccountNames;
  readonly signal: AbortSignal;
}

/** Answers of a copy, and what is to be said of them. */
export interface CopyAnswers extends Remarks {
  readonly answers: readonly Answer[];
  /** Who answered, and how fresh it is. */
  readonly answered: string;
  /** No sync was asked for all of the period of the first answer. */
  readonly isUnread: boolean;
}

/** A store as a source of calls. Closing it closes the store. */
export class CopySource implements Source {
  readonly address: string;
  readonly startsOver = '--resume is for exports from the API; one from a copy starts over';
  readonly #store: Store;
  readonly #options: CopyOptions;
  readonly #version: 'v2' | 'v3';
  readonly #namesOf: AccountNames;
  readonly #endWaiting: () => void;
  #statuses: Promise<readonly AccountStatus[]> | undefined;

  constructor(store: Store, options: CopyOptions) {
    this.address = options.shown;
    this.#store = store;
    this.#options = options;
    this.#version = options.settings.apiVersion.value;
    this.#namesOf = options.namesOf ?? (() => []);
    this.#endWaiting = beginWaiting(`reading the store ${options.shown}`);
  }

  async about(period: Period = everything): Promise<Remarks> {
    return this.#remarks(await this.#status(), await this.#verdicts(period));
  }

  async count(filter: Filter): Promise<Total> {
    const next = await this.#next();
    const { calls, extensions, notes = [] } = await this.#counted(filter);
    const { said, lacks } = await this.#ofMatches(calls, filter);
    const ofCondition = calls === 0 ? [] : notes.filter(isOfCondition);
    const ofData = calls === 0 ? [] : await this.dataEnds(filter);
    const others = [...ofCondition.map(({ message }) => message), ...ofData];
    return {
      total: calls,
      extensions,
      source: 'store',
      said: [...said, ...others, ...next],
      lacks,
    };
  }

  async get(sid: string): Promise<Found> {
    for (const account of await this.#accounts()) {
      const call = await this.#store.get(account, sid);
      if (call !== null) return { call, ...(await this.about()) };
    }
    return { call: null, said: [], lacks: [] };
  }

  async latest(filter: Filter, most: number): Promise<Latest> {
    const calls: Call[] = [];
    const next = await this.#next();
    let total = 0;
    for (const account of await this.#accounts()) {
      // Of a condition, all calls that the filter has are read.
      const isNarrow = narrows(this.#options.calls);
      const count = isNarrow ? 0 : await this.#store.count(account, this.#rows(filter));
      const last = await lastOf(this.#calls(filter, [account], Math.max(0, count - most)), most);
      calls.push(...last.calls);
      total += isNarrow ? last.total : count;
    }

    calls.sort(byTime);
    const { said, lacks } = await this.#ofMatches(total, filter);
    const latest = calls.slice(-most);
    return { calls: latest, total, isUnordered: false, said: [...said, ...next], lacks };
  }

  async read({ filter: input, check, onError = 'fail' }: CallStreamOptions): Promise<Reading> {
    const filter = toFilter(input ?? '');
    const next = await this.#next();
    const statuses = await this.#status();
    const copies = await this.#verdicts(periodOfFilter(filter));
    const remarks = this.#remarks(statuses, copies);
    const matching = this.#calls(filter, await this.#accounts());
    const whyNone = () => this.#whyNone(filter);
    const excluded = () => this.#excluded(filter);
    let leftOut = 0;

    const isLeftOut = (call: Call): boolean => {
      if (onError === 'fail') return false;
      try {
        check?.(call);
        return false;
      } catch (error) {
        const bytes = Buffer.from(JSON.stringify(call));
        const slice = { from: null, to: null };
        if (onError !== 'skip') onError({ bytes, error, slice, page: 0, index: leftOut });
        leftOut += 1;
        return true;
      }
    };

    let resolve: (result: ReadResult) => void = () => {};
    const result = new Promise<ReadResult>((done) => {
      resolve = done;
    });

    const calls = async function* () {
      let read = 0;
      for await (const call of matching) {
        if (isLeftOut(call)) continue;
        read += 1;
        yield call;
      }

      const why = read + leftOut === 0 ? await whyNone() : [];
      const said = [...(await excluded()), ...why, ...next];
      const ended = resultOfCopies({ read, leftOut, held: heldIn(statuses), copies });
      resolve({ ...ended, said, lacks: remarks.lacks });
    };

    return { ...remarks, stream: calls(), result };
  }

  async months({ filter: input }: CallStreamOptions): Promise<Months> {
    const filter = toFilter(input ?? '');
    const period = periodOfFilter(filter);
    const statuses = await this.#status();
    const remarks = this.#remarks(statuses, await this.#verdicts(period));
    const accounts: AccountMonths[] = [];
    for (const account of await this.#accounts()) {
      const verdict = await this.#store.verdict(account, period);
      const own = verdict === null ? filter : withScope(filter, verdict);
      const removals = await printRemovals(this.#store, [account]);
      accounts.push({
        account,
        filter: own,
        removals,
        read: (month) => this.#month(account, own, month),
        isCurrent: (receipt) => this.#isCurrent(account, own, receipt),
      });
    }

    const result: Months['result'] = async (read) => {
      const ended = resultOfCopies({ read, leftOut: 0, held: heldIn(statuses), copies: [] });
      return { ...ended, said: [], lacks: remarks.lacks };
    };
    return { ...remarks, accounts, result };
  }

  /** Some calls of an account, which says nothing each time it is read. */
  async #month(account: string, filter: Filter, month: Span): Promise<MonthReading> {
    const store = this.#store;
    const ofMonth = withBothEnds(filter, month);
    const last = await store.changedAt(account);
    const found = this.#calls(ofMonth, [account]);
    const rows = this.#rows(ofMonth);
    let read = 0;

    const calls = async function* () {
      for await (const call of found) {
        read += 1;
        yield call;
      }
    };

    const verdict = async () => {
      const copy = await store.verdict(account, periodOfText(month));
      return copy === null ? null : provedOf(read, [copy]);
    };

    const changes = async () => {
      const held = await store.count(account, rows);
      if ((await store.changedAt(account)) !== last) return null;
      return { until: last === null ? null : new Date(last).toISOString(), calls: held };
    };

    return { calls: calls(), verdict, changes };
  }

  /**
   * Whether a file still has what the copy holds of its period: no call there has changed since,
   * there are as many as then, so that none was removed, and as much is proved of them.
   */
  async #isCurrent(account: string, filter: Filter, receipt: Receipt): Promise<boolean> {
    const chosen = this.#options.calls;
    const { changes, verdict, from, to } = receipt;
    if (changes === undefined) return false;

    // What follows from the other calls of a caller changes with these.
    if (narrows(chosen) && planCalls(chosen).otherCalls !== 'none') return false;

    const rows = this.#rows(withBothEnds(filter, { from, to }));
    const changedSince = changes.until === null ? 0 : Date.parse(changes.until);
    if ((await this.#store.count(account, { ...rows, changedSince })) > 0) return false;
    if ((await this.#store.count(account, rows)) !== changes.calls) return false;
    const copy = await this.#store.verdict(account, periodOfText({ from, to }));
    return proofText(verdict) === proofText(copy && provedOf(0, [copy]));
  }

  async removals(): Promise<string | null> {
    return printRemovals(this.#store, await this.#accounts());
  }

  /**
   * Answers plans about the accounts that were chosen, in one pass over the columns that they
   * need.
   */
  async ask(plans: readonly Plan[]): Promise<CopyAnswers> {
    const copies = await this.#copies();
    const statuses = await this.#status();
    const answers = await this.#answers(plans, statuses);
    const remarks = this.#remarks(statuses, await verdictsOf(plans, copies));
    const [main] = plans;
    const own = main === undefined ? [] : await this.#verdicts(main.period);
    const isUnread = own.some((verdict) => verdict !== null && verdict.unasked.length > 0);
    return { answers, answered: this.#answered(statuses), isUnread, ...remarks };
  }

  async #answers(
    plans: readonly Plan[],
    statuses: readonly AccountStatus[],
  ): Promise<readonly Answer[]> {
    const { signal } = this.#options;
    return ask(plans, await this.#copies(), { signal, namesOf: this.#namesOf, statuses });
  }

  close(): Promise<void> {
    this.#endWaiting();
    return this.#store.close();
  }

  /** The accounts that are read. */
  async #accounts(): Promise<readonly string[]> {
    const { accounts } = this.#options;
    return accounts.length > 0 ? accounts : (await this.#store.accounts()).map(({ id }) => id);
  }

  async #copies() {
    return (await this.#accounts()).map((account) => ({ store: this.#store, account }));
  }

  /** What is proved of each account that is read. */
  async #verdicts(period: Period): Promise<readonly (Verdict | null)[]> {
    const accounts = await this.#accounts();
    return Promise.all(accounts.map((account) => this.#store.verdict(account, period)));
  }

  /** That the copy answered, how fresh it is, and what it lacks. */
  #remarks(statuses: readonly AccountStatus[], verdicts: readonly (Verdict | null)[]): Remarks {
    const lacks: string[] = [];
    for (const [at, { account }] of statuses.entries()) {
      const verdict = verdicts[at] ?? null;
      if (verdict === null) continue;
      const copy = `the copy of account ${nameIn(this.#options.settings, account)}`;
      const { lacks: missing, scope } = describe(verdict);
      if (missing !== null)
        lacks.push(`INCOMPLETE, ${copy} is not whole: ${missing}; calls sync reads them again`);
      if (scope !== null)
        lacks.push(`${copy} has ${scope}; calls sync without a filter reads the others`);
    }

    return { said: [this.#answered(statuses), ...lacks], lacks };
  }

  /**
   * That the copy answered, with what it covers and when it was last brought up to date, in one
   * line.
   */
  #answered(statuses: readonly AccountStatus[]): string {
    const last = statuses
      .map((status) => status.last ?? '')
      .sort()
      .at(-1);
    const names = statuses.map(({ account }) => nameIn(this.#options.settings, account));
    let of = '';
    if (names.length === 1) of = ` of account ${names[0]}`;
    if (names.length > 1) of = ` of ${names.length} accounts`;
    const until = last ? `, the latest of ${last.slice(0, 19)}` : '';
    const held = plural(heldIn(statuses), 'call');
    return `answered by the store ${this.address}: ${held}${of}${until}; ${syncedText(statuses)}`;
  }

  /** The same for so many calls that match a filter; where there are none, also why. */
  async #ofMatches(calls: number, filter: Filter): Promise<Remarks> {
    const { said, lacks } = await this.about(periodOfFilter(filter));
    const excluded = await this.#excluded(filter);
    const why = calls > 0 ? [] : await this.#whyNone(filter);
    return { said: [...said, ...excluded, ...why], lacks };
  }

  /** How many calls of a filter the configuration excludes, as a sentence; none where it does not. */
  async #excluded(filter: Filter): Promise<readonly string[]> {
    if (this.#options.calls.exclude === undefined) return [];
    const answers = await this.#answers(
      [planQuestion(this.#question(filter))],
      await this.#status(),
    );
    const leftOut = answers.flatMap((answer) => answer.leftOut);
    return leftOut.filter(({ code }) => code === 'excluded').map(({ message }) => message);
  }

  /** How the next command goes on from the changes that there were before this one read. */
  async #next(): Promise<readonly string[]> {
    if (this.#options.changedSince === null) return [];
    const changed = (await this.#accounts()).map((account) => this.#store.changedAt(account));
    const known = (await Promise.all(changed)).filter((each) => each !== null);
    return known.length === 0 ? [] : [nextChangedSince(Math.min(...known))];
  }

  /**
   * Why no call matches, in the words of an answer to the same question: what a field holds
   * instead, when the calls begin.
   */
  async #whyNone(filter: Filter): Promise<readonly string[]> {
    return (await this.#notes(filter)).map(({ message }) => message);
  }

  async dataEnds(filter: Filter): Promise<readonly string[]> {
    const { from, to } = periodOfFilter(filter);
    const goesBeyond = (await this.#status()).some(
      ({ first, last }) =>
        (from !== null && first !== null && parseNaive(first) - from >= day) ||
        (to !== null && last !== null && to - parseNaive(last) >= day),
    );
    if (!goesBeyond) return [];
    const ends: readonly string[] = ['first_call', 'last_call'];
    const notes = await this.#notes(filter);
    return notes.filter(({ code }) => ends.includes(code)).map(({ message }) => message);
  }

  /** What an answer to the question about a filter and its period says beside its numbers. */
  async #notes(filter: Filter): Promise<Answer['notes']> {
    if (this.#options.changedSince !== null) return [];
    const { from, to } = textOf(periodOfFilter(filter));
    const isPeriod = from === null || to === null || from < to;
    const timeZone = this.#options.settings.timeZone?.value;
    const question = {
      ...this.#question(filter),
      ...(timeZone && { timeZone }),
      ...(isPeriod && from && { from }),
      ...(isPeriod && to && { to }),
    };
    const [answer] = await this.#answers([planQuestion(question)], await this.#status());
    return answer?.notes ?? [];
  }

  /**
   * How many calls match, and how many of them came through call extensions or are left out because
   * of that.
   */
  async #counted(
    filter: Filter,
  ): Promise<Pick<Answer, 'calls' | 'extensions'> & Partial<Pick<Answer, 'notes'>>> {
    if (narrows(this.#options.calls) && this.#options.changedSince !== null) {
      let calls = 0;
      for await (const _ of this.#calls(filter, await this.#accounts())) calls += 1;
      return { calls, extensions: { counted: 0, leftOut: 0 } };
    }

    if (narrows(this.#options.calls)) {
      const [answer] = await this.#answers(
        [planQuestion(this.#question(filter))],
        await this.#status(),
      );
      return answer ?? { calls: 0, extensions: { counted: 0, leftOut: 0 } };
    }

    const selection = this.#rows(filter);
    let all = 0;
    let website = 0;
    for (const account of await this.#accounts()) {
      all += await this.#store.count(account, { ...selection, extensions: true });
      website += await this.#store.count(account, { ...selection, extensions: false });
    }

    return selection.extensions
      ? { calls: all, extensions: { counted: all - website, leftOut: 0 } }
      : { calls: website, extensions: { counted: 0, leftOut: all - website } };
  }

  /** The calls that match, in the order of their time. */
  async *#calls(filter: Filter, accounts: readonly string[], offset = 0): AsyncGenerator<Call> {
    const chosen = this.#options.calls;
    const selection = this.#rows(filter);
    const plan = narrows(chosen) ? planCalls(chosen) : null;
    const selector = plan && selectCalls(plan, { namesOf: this.#namesOf });
    if (selector && plan.otherCalls !== 'none')
      for (const account of accounts)
        for await (const call of this.#read(account)) selector.learn(call, account);

    const read = (account: string) => this.#read(account, selection, offset);
    const lists = accounts.map(async function* (account) {
      for await (const call of read(account))
        if (selector === null || selector.judge(call, account) === 'selected') yield call;
    });
    yield* inOrder(lists);
  }

  async *#read(account: string, selection: Selection = {}, offset = 0): AsyncGenerator<Call> {
    for await (const call of this.#store.calls(account, selection, { offset })) {
      this.#options.signal.throwIfAborted();
      yield call;
    }
  }

  /**
   * The calls that match, as a question says it. v2 always has the calls through call extensions.
   */
  #question(filter: Filter): CallSelection {
    return {
      q: printFilter(filter),
      ...this.#options.calls,
      ...(this.#version === 'v2' ? { calls: 'all' } : {}),
    };
  }

  #rows(filter: Filter): Selection {
    const { changedSince } = this.#options;
    const selection = selectionOf(filter, { extensions: this.#version === 'v2' });
    return changedSince === null ? selection : { ...selection, changedSince };
  }

  /** What is known of each account that is read, in their order. */
  #status(): Promise<readonly AccountStatus[]> {
    this.#statuses ??= this.#copies().then(statusesOf);
    return this.#statuses;
  }
}

/** How the next command goes on from the latest change that this one knew of. */
function nextChangedSince(millis: number): string {
  const text = new Date(millis).toISOString().replace('T', ' ').slice(0, -1);
  return `changes up to ${text} UTC are included; --changed-since "${text}" goes on from there`;
}

/** What is proved, apart from how many calls it is proved of. */
const proofText = (verdict: Verdict<Position> | null): string =>
  JSON.stringify(verdict && [verdict.proof, verdict.gaps, verdict.only ?? []]);

function byTime({ date_added: one }: Call, { date_added: other }: Call): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** How many calls copies have, whether they match or not. */
const heldIn = (statuses: readonly AccountStatus[]): number =>
  statuses.reduce((sum, { calls }) => sum + calls, 0);

/** What reading all calls of copies that match came to; some may have been left out. */
function resultOfCopies({
  read,
  leftOut,
  held,
  copies,
}: {
  readonly read: number;
  readonly leftOut: number;
  readonly held: number;
  readonly copies: readonly (Verdict | null)[];
}): Omit<ReadResult, keyof Remarks> {
  const known = copies.filter((copy) => copy !== null);
  const verdict = provedOf(read, leftOut === 0 ? known : [...known, withoutCalls(leftOut)]);
  const { scope } = describe({ only: verdict.only });
  const only = scope === null ? '' : `; it has ${scope}`;
  const calls = plural(read, 'call');
  if (leftOut > 0)
    return {
      isWhole: false,
      verdict,
      text: `INCOMPLETE: ${calls} of ${count(held)} in the store; ${plural(leftOut, 'call')} could not be written and ${leftOut === 1 ? 'was' : 'were'} left out${only}`,
    };

  const which =
    read === held ? ', all that the store has' : ` of ${count(held)} in the store, all that match`;
  return { isWhole: true, verdict, text: `complete: ${calls}${which}${only}` };
}

/** What is proved of calls of copies that were read: no more than of the copies. */
function provedOf(read: number, copies: readonly Pick<Verdict, 'gaps' | 'only'>[]): Verdict {
  // All that was read counts as proved, so the gaps have none of it.
  const gaps = copies.flatMap((copy) => copy.gaps.map((gap) => ({ ...gap, calls: 0 })));
  return {
    proof: proofOf(gaps),
    asked: textOf(everything),
    proved: read,
    gaps,
    notes: [],
    only: copies.flatMap(({ only }) => only),
    unasked: [],
  };
}

/** What a file lacks of a copy because so many calls were left out, as a receipt says it. */
const withoutCalls = (missing: number): Pick<Verdict, 'gaps' | 'only'> => ({
  gaps: [{ ...textOf(everything), is: 'short', why: 'unreadable', calls: 0, missing, sids: [] }],
  only: [],
});

/**
 * A filter with that of copies which were filled with one: it then says by itself which calls these
 * are.
 */
export function withScope(filter: Filter, { only = [] }: Pick<Verdict, 'only'>): Filter {
  const [first, ...more] = only;
  const isOfAll = first !== undefined && first.from === null && first.to === null;
  return isOfAll && more.length === 0 ? allOf(filter, toFilter(first.filter)) : filter;
}

/** The period that a filter is about. */
export const periodOfFilter = (filter: Filter): Period =>
  selectionOf(filter, { extensions: true }).period ?? everything;

function syncedText(statuses: readonly AccountStatus[]): string {
  const unsynced = statuses
    .filter(({ syncedAt }) => syncedAt === null)
    .map(({ account }) => account);
  if (unsynced.length > 0 || statuses.length === 0)
    return `nothing was synced yet${unsynced.length < statuses.length ? ` of ${unsynced.join(', ')}` : ''}`;
  const [oldest = ''] = statuses.map(({ syncedAt }) => syncedAt ?? '').sort();
  return `last sync ${oldest.slice(0, 19).replace('T', ' ')} UTC`;
}

/**
 * The calls of several lists, each in the order of time, in the order of time. Those of one moment
 * are in the order of the lists.
 */
async function* inOrder(lists: readonly AsyncGenerator<Call>[]): AsyncGenerator<Call> {
  try {
    const heads = await Promise.all(lists.map(async (rest) => ({ rest, head: await rest.next() })));
    for (;;) {
      let first: (typeof heads)[0] | undefined;
      for (const each of heads)
        if (
          !each.head.done &&
          !(first && first.head.value.date_added <= each.head.value.date_added)
        )
          first = each;
      if (first === undefined) return;
      yield first.head.value;
      first.head = await first.rest.next();
    }
  } finally {
    for (const list of lists) await list.return(undefined);
  }
}
