import type { Call } from '@call-attribution/core';
import { everything, type Period, textOf } from '@call-attribution/core/time';
import type { CallStreamOptions, Verdict } from '@call-attribution/node-stream';
import {
  type CopyVerdict,
  describeCopy,
  describeScope,
} from '@call-attribution/node-stream/copies';
import { allOf, type Filter, printFilter, toFilter } from '@call-attribution/query-dsl';
import {
  type AccountStatus,
  type Answer,
  type CallSelection,
  type Plan,
  planCalls,
  planQuestion,
  selectCalls,
} from '@call-attribution/questions';
import type { Settings } from '@call-attribution/settings';
import {
  accountStatus,
  ask,
  printRemovals,
  type Selection,
  type Store,
  selectionOf,
  storeName,
} from '@call-attribution/store';
import type { Args } from '../args.ts';
import { type Io, say } from '../io.ts';
import { type ChosenStore, openChosen } from '../stores/open.ts';
import { plural } from '../terminal/numbers.ts';
import { beginWaiting, whileWaiting } from '../terminal/waiting.ts';
import { type AccountNames, nameIn } from './account-names.ts';
import { type Latest, lastOf, type Source, type Total } from './source.ts';
import type { CopyEnding, Reading } from './verdict.ts';

/** What opening a copy needs. */
interface CopyContext {
  readonly settings: Settings;
  readonly args: Args;
  readonly io: Io;
  /** What else conditions may call it. Default: nothing. */
  readonly namesOf?: AccountNames;
}

/** Opens a store that exists, to read the calls of some accounts, or of all when none is named. */
export async function openCopySource(
  chosen: ChosenStore,
  context: CopyContext,
  accounts: readonly string[] = [],
): Promise<CopySource> {
  const shown = storeName(chosen.typed);
  const open = () => openChosen(chosen, context.settings, { readOnly: true });
  return new CopySource(
    await whileWaiting(`waiting for the store ${shown}`, open),
    shown,
    accounts,
    context,
  );
}

/** Is the source a copy, and not the API? */
export const isCopy = (source: Source): source is CopySource => source instanceof CopySource;

/** A store as a source of calls. Whenever it answers, it says how fresh it is. */
export class CopySource implements Source {
  readonly store: Store;
  /** As messages call it: the URL without a password. */
  readonly address: string;
  incomplete: readonly string[] = [];
  readonly #accounts: readonly string[];
  readonly #version: 'v2' | 'v3';
  readonly #timeZone: string | undefined;
  /** A condition of questions; null for none. */
  readonly #where: string | null;
  readonly #nameOf: (id: string) => string;
  readonly #namesOf: AccountNames;
  readonly #io: Io;
  readonly #endWaiting: () => void;
  #statuses: Promise<readonly AccountStatus[]> | undefined;

  constructor(
    store: Store,
    shown: string,
    accounts: readonly string[],
    { settings, args, io, namesOf = () => [] }: CopyContext,
  ) {
    this.store = store;
    this.address = shown;
    this.#accounts = accounts;
    this.#version = settings.apiVersion.value;
    this.#timeZone = settings.timeZone?.value;
    this.#where = args.text('where');
    this.#nameOf = (id) => nameIn(settings, id);
    this.#namesOf = namesOf;
    this.#io = io;
    this.#endWaiting = beginWaiting(`reading the store ${shown}`);
  }

  /** The accounts that are read. */
  async accounts(): Promise<readonly string[]> {
    return this.#accounts.length > 0
      ? this.#accounts
      : (await this.store.accounts()).map(({ id }) => id);
  }

  /**
   * What was erased and purged from the accounts, which a copy of their calls takes along; null for
   * nothing.
   */
  async removals(): Promise<string | null> {
    return printRemovals(this.store, await this.accounts());
  }

  async count(filter: Filter): Promise<Total> {
    const { calls, extensions } = await this.counted(filter);
    await this.sayAnswered(periodOfFilter(filter));
    if (calls === 0) await this.#explainNone(filter);
    return { total: calls, extensions, source: 'store' };
  }

  async get(sid: string): Promise<Call | null> {
    for (const account of await this.accounts()) {
      const call = await this.store.get(account, sid);
      if (call === null) continue;
      await this.sayAnswered();
      return call;
    }
    return null;
  }

  async latest(filter: Filter, most: number): Promise<Latest> {
    const calls: Call[] = [];
    let total = 0;
    for (const account of await this.accounts()) {
      // Of a condition, all calls that the filter has are read.
      const count = this.#where === null ? await this.store.count(account, this.#rows(filter)) : 0;
      const last = await lastOf(this.callsOf(filter, [account], Math.max(0, count - most)), most);
      calls.push(...last.calls);
      total += this.#where === null ? count : last.total;
    }

    await this.sayAnswered(periodOfFilter(filter));
    if (total === 0) await this.#explainNone(filter);
    calls.sort((a, b) => Number(a.date_added > b.date_added) - Number(a.date_added < b.date_added));
    return { calls: calls.slice(-most), total, isUnordered: false };
  }

  async read({ filter: input, check, onError = 'fail' }: CallStreamOptions): Promise<Reading> {
    const filter = toFilter(input ?? '');
    const { held, copies } = await this.sayAnswered(periodOfFilter(filter));
    let resolve: (ending: CopyEnding) => void = () => {};
    const verdict = new Promise<CopyEnding>((done) => {
      resolve = done;
    });
    const found = this.callsOf(filter, await this.accounts());
    const explainNone = () => this.#explainNone(filter);

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

    const calls = async function* () {
      let count = 0;
      for await (const call of found) {
        if (isLeftOut(call)) continue;
        count += 1;
        yield call;
      }

      if (count + leftOut === 0) await explainNone();
      const lacks = leftOut === 0 ? copies : [...copies, withoutCalls(leftOut)];
      resolve({
        proof: leftOut === 0 ? 'whole' : 'short',
        calls: count,
        leftOut,
        held,
        copies: lacks,
      });
    };

    return { stream: calls(), verdict };
  }

  /**
   * Answers plans about the accounts that were chosen, in one pass over the columns that they
   * need.
   */
  async ask(plans: readonly Plan[]): Promise<readonly Answer[]> {
    const copies = (await this.accounts()).map((account) => ({ store: this.store, account }));
    const statuses = await this.#status();
    const options = { statuses, signal: this.#io.signal, namesOf: this.#namesOf };
    return (await ask(plans, copies, options)).answers;
  }

  /** Says that the copy answers, how fresh it is, and what it lacks of a period. */
  async sayAnswered(period: Period = everything) {
    const used = await this.#status();
    const copies: CopyVerdict[] = [];
    const incomplete: string[] = [];
    for (const { account } of used) {
      const verdict = await this.store.verdict(account, period);
      if (verdict === null) continue;
      copies.push(verdict);
      const copy = `the copy of account ${this.#nameOf(account)}`;
      const lacks = describeCopy(verdict);
      const scope = describeScope(verdict);
      if (lacks !== null)
        incomplete.push(`INCOMPLETE, ${copy} is not whole: ${lacks}; calls sync reads them again`);
      if (scope !== null)
        incomplete.push(`${copy} has ${scope}; calls sync without a filter reads the others`);
    }

    this.incomplete = incomplete;
    const text = answeredText(this.address, used, this.#nameOf);
    for (const line of [text, ...this.incomplete]) say(this.#io, line);
    return { text, copies, held: used.reduce((sum, { calls }) => sum + calls, 0) };
  }

  close(): Promise<void> {
    this.#endWaiting();
    return this.store.close();
  }

  /**
   * How many calls match, and how many of them came through call extensions or are left out because
   * of that.
   */
  async counted(filter: Filter): Promise<Pick<Answer, 'calls' | 'extensions'>> {
    if (this.#where !== null) {
      const [answer] = await this.ask([planQuestion(this.#selection(filter))]);
      return answer ?? { calls: 0, extensions: { counted: 0, leftOut: 0 } };
    }

    const selection = this.#rows(filter);
    let all = 0;
    let website = 0;
    for (const account of await this.accounts()) {
      all += await this.store.count(account, { ...selection, extensions: true });
      website += await this.store.count(account, { ...selection, extensions: false });
    }

    return selection.extensions
      ? { calls: all, extensions: { counted: all - website, leftOut: 0 } }
      : { calls: website, extensions: { counted: 0, leftOut: all - website } };
  }

  /** The calls that match, in the order of their time. */
  async *callsOf(filter: Filter, accounts: readonly string[], offset = 0): AsyncGenerator<Call> {
    const selection = this.#rows(filter);
    const plan = this.#where === null ? null : planCalls({ where: this.#where });
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
    for await (const call of this.store.calls(account, selection, { offset })) {
      this.#io.signal.throwIfAborted();
      yield call;
    }
  }

  /**
   * The calls that match, as a question says it. v2 always has the calls through call extensions.
   */
  #selection(filter: Filter): CallSelection {
    return {
      q: printFilter(filter),
      ...(this.#where === null ? {} : { where: this.#where }),
      ...(this.#version === 'v2' ? { calls: 'all' } : {}),
    };
  }

  #rows(filter: Filter): Selection {
    return selectionOf(filter, { extensions: this.#version === 'v2' });
  }

  /** What is known of each account that is read. */
  #status(): Promise<readonly AccountStatus[]> {
    this.#statuses ??= this.store
      .sizes()
      .then((accounts) =>
        accounts
          .filter(({ account }) => this.#accounts.length === 0 || this.#accounts.includes(account))
          .map((size) => accountStatus(size)),
      );
    return this.#statuses;
  }

  /**
   * Says why no call matches, in the words of an answer to the same question: what a field holds
   * instead, when the calls begin.
   */
  async #explainNone(filter: Filter): Promise<void> {
    const { from, to } = textOf(periodOfFilter(filter));
    const isPeriod = from === null || to === null || from < to;
    const question = {
      ...this.#selection(filter),
      ...(this.#timeZone && { timeZone: this.#timeZone }),
      ...(isPeriod && from && { from }),
      ...(isPeriod && to && { to }),
    };
    const [answer] = await this.ask([planQuestion(question)]);
    for (const { message } of answer?.notes ?? []) say(this.#io, message);
  }
}

/** What a file lacks of a copy because so many calls were left out, as a receipt says it. */
const withoutCalls = (missing: number): CopyEnding['copies'][0] => ({
  proof: 'short',
  gaps: [{ from: null, to: null, is: 'short', why: 'unreadable', calls: 0, missing, sids: [] }],
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

/**
 * That the copy answered, with what it covers and when it was last brought up to date, in one line.
 */
function answeredText(
  shown: string,
  statuses: readonly AccountStatus[],
  nameOf: (id: string) => string,
): string {
  const calls = statuses.reduce((sum, status) => sum + status.calls, 0);
  const last = statuses
    .map((status) => status.last ?? '')
    .sort()
    .at(-1);
  const names = statuses.map(({ account }) => nameOf(account));
  let of = '';
  if (names.length === 1) of = ` of account ${names[0]}`;
  if (names.length > 1) of = ` of ${names.length} accounts`;
  const until = last ? `, the latest of ${last.slice(0, 19)}` : '';
  return `answered by the store ${shown}: ${plural(calls, 'call')}${of}${until}; ${syncedText(statuses)}`;
}

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
