import type { Call } from '@call-attribution/core';
import type { TimeSlice } from '@call-attribution/node-stream';
import type { CopyVerdict, Removals } from '@call-attribution/node-stream/copies';
import type { Filter } from '@call-attribution/query-dsl';
import { type NumericFilter, openStore, type Store, selectionOf, storeName } from '@call-attribution/store';
import { readServiceSection } from '../config/service-section.ts';
import { UsageError } from '../errors.ts';
import type { ChosenRows } from '../stores/choose-copy.ts';
import { storeOptions } from '../stores/url.ts';
import { whileWaiting } from '../term/waiting.ts';
import type { CopyContext, CopyStatus, Cut, ReadCopy } from './copy-source.ts';

/** Opens a row store to read it. */
export async function openRowCopy(
  { url, typed }: ChosenRows,
  { settings, args }: CopyContext,
  accounts: readonly string[],
): Promise<RowCopy> {
  if (args.has('where') && args.text('where') !== null)
    throw new UsageError('--where needs a warehouse: --store duckdb:calls.duckdb', {
      hints: ['calls sql asks any store in SQL'],
    });
  const shown = storeName(typed);
  const options = { ...storeOptions(readServiceSection(settings)), readOnly: true };
  const store = await whileWaiting(`waiting for the store ${shown}`, () => openStore(url, options));
  return new RowCopy(store, shown, { accounts, version: settings.apiVersion.value });
}

/** Which calls a command reads. */
interface Scope {
  readonly accounts: readonly string[];
  readonly version: 'v2' | 'v3';
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

  async statuses(): Promise<readonly CopyStatus[]> {
    const { accounts } = await this.#store.sizes();
    return accounts.map(({ account, calls, newest, syncedAt }) => ({
      ...{ account, calls },
      last: newest,
      syncedAt: syncedAt === null ? null : new Date(syncedAt).toISOString(),
    }));
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

  async count(filter: Filter): Promise<{ readonly calls: number }> {
    const counts = await this.#counts(this.#selection(filter));
    return { calls: counts.reduce((sum, { calls }) => sum + calls, 0) };
  }

  async *calls(
    filter: Filter,
    { offset = 0, limit = Number.POSITIVE_INFINITY }: Cut = {},
  ): AsyncGenerator<Call> {
    const selection = this.#selection(filter);
    const accounts = await this.#accounts();
    const [only] = accounts;
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
    let skip = left - last;
    let most = limit;
    for await (const call of inOrder(parts)) {
      if (skip > 0) {
        skip -= 1;
        continue;
      }
      if (most <= 0) return;
      most -= 1;
      yield call;
    }
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** v2 always has the calls through call extensions. */
  #selection(filter: Filter): NumericFilter {
    return selectionOf(filter, { extensions: this.#scope.version === 'v2' });
  }

  async #accounts(): Promise<readonly string[]> {
    const { accounts } = this.#scope;
    return accounts.length > 0 ? accounts : (await this.#store.accounts()).map(({ id }) => id);
  }

  async #counts(
    selection: NumericFilter,
  ): Promise<readonly { readonly account: string; readonly calls: number }[]> {
    const counts: { readonly account: string; readonly calls: number }[] = [];
    for (const account of await this.#accounts())
      counts.push({ account, calls: await this.#store.count(account, selection) });
    return counts;
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
