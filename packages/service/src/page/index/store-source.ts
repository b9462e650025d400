import { setImmediate as nextTurn } from 'node:timers/promises';
import { everything, type Store } from '@call-attribution/store';
import { Refusal } from '../../http/refusal.ts';
import type { PageReading, PageSource } from '../question.ts';
import { CallIndex, indexedFields } from './call-index.ts';
import { newestFirst, summarize } from './summarize.ts';

/** The calls of one account in memory, and how far they follow the store. */
interface Followed {
  index: CallIndex | null;
  position: number;
  reading: PageReading['reading'];
  failure: unknown;
  /** Changes are taken in one after the other. */
  last: Promise<unknown>;
}

/** Calls of the table that are read from the store at a time. */
const rowsAtOnce = 500;
/** Requests wait this long for the first reading of a small account; then they learn how far it is. */
const patienceMs = 400;

/**
 * A store as the source of the page. The fields that the page counts are kept in memory, about 80 bytes for a call: read once,
 * when the page is first asked for an account, and brought up to date before each answer by the keys of the calls that changed.
 */
export function storeSource(store: Store, maxCalls: number): PageSource {
  const indexes = new Indexes(store, maxCalls);
  return {
    ready: (account) => indexes.ready(account),
    async summary(account, question, by) {
      return summarize(await indexes.indexOf(account), question, by);
    },
    async calls(account, question, { fields, offset, limit }) {
      const index = await indexes.indexOf(account);
      const keys: string[] = [];
      let total = 0;
      for (const row of newestFirst(index, question)) {
        if (total >= offset && keys.length < limit) keys.push(index.keys.at(row));
        total += 1;
      }
      return { total, rows: rowsOf(store, account, fields, keys) };
    },
    async call(account, sid) {
      const document = await store.document(account, sid, 'v3');
      return document === null ? null : (JSON.parse(String(document)) as object);
    },
  };
}

/** The indexes of the accounts that were looked at last, as many as there may be calls in memory. */
class Indexes {
  readonly #store: Store;
  readonly #maxCalls: number;
  readonly #accounts = new Map<string, Followed>();

  constructor(store: Store, maxCalls: number) {
    this.#store = store;
    this.#maxCalls = maxCalls;
  }

  async ready(account: string): Promise<PageReading | null> {
    const accounts = this.#accounts;
    const followed = accounts.get(account) ?? this.#start(account);
    // The account that was looked at last is the last in the map.
    accounts.delete(account);
    accounts.set(account, followed);
    if (followed.index === null && !(await within(patienceMs, followed.last)))
      return { reading: followed.reading };
    if (followed.failure !== undefined) {
      accounts.delete(account);
      throw followed.failure;
    }
    const step = followed.last.then(() => this.#follow(account, followed));
    followed.last = step.catch(() => undefined);
    if (await step) return null;
    accounts.delete(account);
    return { reading: this.#start(account).reading };
  }

  /** The calls in memory. */
  async indexOf(account: string): Promise<CallIndex> {
    while ((await this.ready(account)) !== null);
    return this.#accounts.get(account)?.index as CallIndex;
  }

  #start(account: string): Followed {
    const followed: Followed = {
      index: null,
      position: 0,
      reading: { done: 0, of: 0 },
      failure: undefined,
      last: Promise.resolve(),
    };
    followed.last = this.#read(account, followed).catch((error: unknown) => {
      // The next request tries again.
      this.#accounts.delete(account);
      followed.failure = error;
    });
    this.#accounts.set(account, followed);
    return followed;
  }

  async #read(account: string, followed: Followed): Promise<void> {
    const of = await this.#store.count(account, everything);
    if (of > this.#maxCalls) throw tooMany(of, this.#maxCalls);
    this.#makeRoom(account, of);
    const position = await this.#store.position(account);
    const index = new CallIndex();
    for await (const rows of this.#store.columns(account, indexedFields)) {
      for (const row of rows) index.put(row);
      followed.reading = { done: index.keys.size, of: Math.max(of, index.keys.size) };
    }
    index.settle();
    followed.index = index;
    followed.position = position;
  }

  /** Takes in what has changed; false when that was too much. */
  async #follow(account: string, followed: Followed): Promise<boolean> {
    const { index, position } = followed;
    const changes = await this.#store.changes(account, position);
    if (changes === null || index === null) return false;
    const keys = [...new Set(changes.keys)];
    for (let from = 0; from < keys.length; from += rowsAtOnce) {
      const some = keys.slice(from, from + rowsAtOnce);
      const there = await this.#store.columnsOf(account, indexedFields, some);
      const found = new Set(there.map(({ key }) => key));
      for (const key of some) if (!found.has(key)) index.remove(key);
      for (const row of there) index.put(row);
    }
    index.settle();
    // Of this index: the account may have been forgotten and begun again meanwhile.
    followed.position = changes.position;
    return true;
  }

  /** Forgets the accounts that were not looked at for longest. */
  #makeRoom(account: string, calls: number): void {
    const sizeOf = ({ index, reading }: Followed) => index?.size ?? reading.of;
    for (const [other, followed] of this.#accounts) {
      const sum = [...this.#accounts].reduce(
        (all, [name, each]) => all + (name === account ? 0 : sizeOf(each)),
        calls,
      );
      if (sum <= this.#maxCalls) return;
      if (other !== account && followed.index !== null) this.#accounts.delete(other);
    }
  }
}

/** Whether a promise is settled within some milliseconds. */
async function within(ms: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<boolean>((done) => {
    timer = setTimeout(() => done(false), ms);
  });
  const isDone = await Promise.race([promise.then(() => true), patience]);
  clearTimeout(timer);
  return isDone;
}

async function* rowsOf(store: Store, account: string, fields: readonly string[], keys: readonly string[]) {
  for (let from = 0; from < keys.length; from += rowsAtOnce) {
    const some = keys.slice(from, from + rowsAtOnce);
    const rows = await store.columnsOf(account, fields, some);
    const byKey = new Map(rows.map(({ key, values }) => [key, values]));
    yield some.flatMap((key) => {
      const values = byKey.get(key);
      return values === undefined ? [] : [values];
    });
    await nextTurn();
  }
}

function tooMany(calls: number, most: number): Refusal {
  return new Refusal(
    'too_many_calls',
    `This account has ${calls} calls; the page keeps at most ${most} of a row store in memory. The operator can raise page.maxCalls ("maxCalls" of calls serve), or serve the calls from a warehouse.`,
  );
}
