import type { Call } from '@call-attribution/core';
import type { TimeSlice } from '@call-attribution/node-stream';
import type { CopyVerdict, Removals } from '@call-attribution/node-stream/copies';
import { type Filter, printFilter } from '@call-attribution/query-dsl';
import {
  type AccountStatus,
  type Answer,
  type CallSelection,
  createAnswer,
  type Question,
  selectCalls,
} from '@call-attribution/questions';
import {
  everything,
  openStore,
  type Selection,
  type Store,
  selectionOf,
  storeName,
} from '@call-attribution/store';
import type { NaiveRange } from '../args/time.ts';
import { readServiceSection } from '../config/service-section.ts';
import type { ChosenRows } from '../stores/choose-copy.ts';
import { storeOptions } from '../stores/url.ts';
import { whileWaiting } from '../term/waiting.ts';
import type { CopyContext, CopyCount, Cut, ReadCopy } from './copy-source.ts';
import { whereOf, withinRange } from './filter.ts';
import { neededPeriod } from './needed-period.ts';

/** Opens a row store to read it. */
export async function openRowCopy(
  { url, typed }: ChosenRows,
  { settings, args, io }: CopyContext,
  accounts: readonly string[],
): Promise<RowCopy> {
  const where = whereOf(args);
  const shown = storeName(typed);
  const options = { ...storeOptions(readServiceSection(settings)), readOnly: true };
  const store = await whileWaiting(`waiting for the store ${shown}`, () => openStore(url, options));
  return new RowCopy(store, shown, {
    ...{ accounts, where, signal: io.signal },
    version: settings.apiVersion.value,
  });
}

/** Which calls a command reads. */
interface Scope {
  readonly accounts: readonly string[];
  readonly version: 'v2' | 'v3';
  /** A condition of questions; null for none. */
  readonly where: string | null;
  readonly signal: AbortSignal;
}

/** Calls in SQLite or PostgreSQL. */
class RowCopy implements ReadCopy {
  readonly kind = 'store';
  readonly shown: string;
  readonly address: string;
  readonly #store: Store;
  readonly #scope: Scope;

  constructor(store: Store, shown: string, scope: Scope) {
    this.shown = shown;
    this.address = shown;
    this.#store = store;
    this.#scope = scope;
  }

  async statuses(): Promise<readonly AccountStatus[]> {
    const { accounts } = await this.#store.sizes();
    return accounts.map(({ account, calls, oldest, newest, syncedAt }) => {
      const at = syncedAt === null ? null : new Date(syncedAt).toISOString();
      return { account, calls, first: oldest, last: newest, storedAt: at, syncedAt: at };
    });
  }

  verdict(account: string, period?: TimeSlice): Promise<CopyVerdict | null> {
    return this.#store.verdict(account, period);
  }

  removals(account: string): Promise<Removals> {
    return this.#store.removals(account);
  }

  async get(sid: string, account: string | null): Promise<Call | null> {
    for (const each of account === null ? await this.#accounts() : [account]) {
      const call = await this.#store.get(each, sid);
      if (call !== null) return call;
    }
    return null;
  }

  selection(filter: Filter): CallSelection {
    const { where, version } = this.#scope;
    return {
      q: printFilter(filter),
      ...(where === null ? {} : { where }),
      ...(version === 'v2' ? { calls: 'all' } : {}),
    };
  }

  async count(filter: Filter): Promise<CopyCount> {
    if (this.#scope.where !== null) {
      const [answer] = await this.ask([this.selection(filter)]);
      return answer ?? { calls: 0, extensions: { counted: 0, leftOut: 0 } };
    }
    const selection = this.#rows(filter);
    const [all, website] = await Promise.all([
      this.#total({ ...selection, extensions: true }),
      this.#total({ ...selection, extensions: false }),
    ]);
    const found = all - website;
    const { extensions } = selection;
    return extensions
      ? { calls: all, extensions: { counted: found, leftOut: 0 } }
      : { calls: website, extensions: { counted: 0, leftOut: found } };
  }

  async ask(questions: readonly Question[]): Promise<readonly Answer[]> {
    const accounts = await this.#accounts();
    const statuses = (await this.statuses()).filter(({ account }) => accounts.includes(account));
    const running = questions.map((question) =>
      createAnswer<Question>({ ...question, accounts }, { accounts: statuses }),
    );
    const period = neededPeriod(questions);
    for (const account of accounts) {
      for (const selection of needed(period)) {
        for await (const call of this.#read(account, selection))
          for (const each of running) each.add(call, account);
      }
    }
    return running.map((each) => each.answer());
  }

  async *calls(
    filter: Filter,
    { offset = 0, limit = Number.POSITIVE_INFINITY }: Cut = {},
  ): AsyncGenerator<Call> {
    const selection = this.#rows(filter);
    const accounts = await this.#accounts();
    const [only] = accounts;
    const { where } = this.#scope;
    if (where !== null) {
      const lists = await this.#matching(accounts, selection, where);
      yield* part(inOrder(lists), offset, limit);
      return;
    }
    if (accounts.length === 1 && only !== undefined) {
      yield* this.#store.calls(only, selection, { offset, limit });
      return;
    }
    // The last calls of all are among the last ones of each account.
    const counts = await this.#counts(selection);
    const total = counts.reduce((sum, { calls }) => sum + calls, 0);
    const last = Math.max(0, total - offset);
    const parts = counts.map(({ account, calls }) =>
      this.#store.calls(account, selection, { offset: Math.max(0, calls - last) }),
    );
    const left = counts.reduce((sum, { calls }) => sum + Math.min(calls, last), 0);
    yield* part(inOrder(parts), left - last, limit);
  }

  /** The calls of each account that meet a condition. */
  async #matching(
    accounts: readonly string[],
    selection: Selection,
    where: string,
  ): Promise<readonly AsyncIterable<Call>[]> {
    const selector = selectCalls({ where });
    if (selector.needsSequence) {
      for (const account of accounts)
        for await (const call of this.#read(account, everything)) selector.learn(call, account);
    }
    const read = (account: string) => this.#read(account, selection);
    return accounts.map(async function* (account) {
      for await (const call of read(account)) if (selector.judge(call, account) === 'selected') yield call;
    });
  }

  async *#read(account: string, selection: Selection): AsyncGenerator<Call> {
    for await (const call of this.#store.calls(account, selection)) {
      this.#scope.signal.throwIfAborted();
      yield call;
    }
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** v2 always has the calls through call extensions. */
  #rows(filter: Filter): Selection {
    return selectionOf(filter, { extensions: this.#scope.version === 'v2' });
  }

  async #accounts(): Promise<readonly string[]> {
    const { accounts } = this.#scope;
    return accounts.length > 0 ? accounts : (await this.#store.accounts()).map(({ id }) => id);
  }

  async #total(selection: Selection): Promise<number> {
    return (await this.#counts(selection)).reduce((sum, { calls }) => sum + calls, 0);
  }

  async #counts(
    selection: Selection,
  ): Promise<readonly { readonly account: string; readonly calls: number }[]> {
    const counts: { readonly account: string; readonly calls: number }[] = [];
    for (const account of await this.#accounts())
      counts.push({ account, calls: await this.#store.count(account, selection) });
    return counts;
  }
}

/** The calls of a period with those that have no time, which are in no period; all without one. */
function needed(period: NaiveRange | null): readonly Selection[] {
  if (period === null || (period.from === null && period.to === null)) return [everything];
  const dated = selectionOf(withinRange({ clauses: [] }, period), { extensions: true });
  return [{ ...everything, to: everything.from + 1 }, dated];
}

/** So many of the calls, after those that are skipped. */
async function* part(calls: AsyncIterable<Call>, offset: number, limit: number): AsyncGenerator<Call> {
  let at = 0;
  if (limit <= 0) return;
  for await (const call of calls) {
    at += 1;
    if (at <= offset) continue;
    yield call;
    if (at >= offset + limit) return;
  }
}

/** The calls of several lists, each in the order of time, in the order of time. Those of one moment are in the order of the lists. */
async function* inOrder(lists: readonly AsyncIterable<Call>[]): AsyncGenerator<Call> {
  const heads: { readonly rest: AsyncIterator<Call>; next: Call }[] = [];
  for (const list of lists) {
    const rest = list[Symbol.asyncIterator]();
    const { done, value } = await rest.next();
    if (!done) heads.push({ rest, next: value });
  }
  for (;;) {
    const [head, ...others] = heads;
    if (head === undefined) return;
    let first = head;
    for (const other of others) if (other.next.date_added < first.next.date_added) first = other;
    yield first.next;
    const { done, value } = await first.rest.next();
    if (done) heads.splice(heads.indexOf(first), 1);
    else first.next = value;
  }
}
