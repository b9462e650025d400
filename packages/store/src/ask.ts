import { hull, intersect, periodOf } from '@call-attribution/core/time';
import type { Verdict } from '@call-attribution/node-stream/copies';
import type {
  AccountStatus,
  Answer,
  AnswerOptions,
  Plan,
  RunningAnswers,
} from '@call-attribution/questions';
import type { AccountSize, Store } from './store.ts';

/** An account that is asked, and where its calls are kept. */
export interface AskedCopy {
  /** The store, which is only read. */
  readonly store: Pick<Store, 'accounts' | 'sizes' | 'verdict' | 'columns'>;
  /** The account, as the store knows it. */
  readonly account: string;
  /** The account, as the answers call it. Default: the same. */
  readonly name?: string | undefined;
  /**
   * Where the calls begin of which all are there, in naive milliseconds: those before are left out.
   * Default: all are read.
   */
  readonly from?: number | null | undefined;
}

/** How copies are asked. */
export interface AskOptions {
  /** Ends the reading. */
  readonly signal?: AbortSignal | undefined;
  /** What is known of the accounts. Default: what their stores know. */
  readonly statuses?: readonly AccountStatus[] | undefined;
  /** What else conditions may call an account. Default: the names that the stores give accounts. */
  readonly namesOf?: AnswerOptions['namesOf'];
}

/**
 * Answers plans from the calls of one or more copies, in one pass over the calls and fields that
 * the plans need.
 *
 * @example
 * const plan = planQuestion({ groupBy: ['campaign'], period: 'last month' });
 * const [answer] = await ask([plan], [{ store, account: '101' }]);
 */
export async function ask(
  plans: readonly Plan[],
  copies: readonly AskedCopy[],
  { signal, statuses, namesOf }: AskOptions = {},
): Promise<readonly Answer[]> {
  // A program that asks nothing starts without it.
  const { createAnswers, planUpTo } = await import('@call-attribution/questions');
  const known = statuses ?? (await statusesOf(copies));
  const asOf = knownUpTo(known);
  const running = createAnswers(
    plans.map((plan) => planUpTo(plan, asOf)),
    { namesOf: namesOf ?? (await namesIn(copies)) },
  );
  for (const copy of copies) await feed(running, copy, signal);

  return running.answers(known);
}

/** Up to which instant the calls of all accounts are known, as far as that is known. */
const knownUpTo = (statuses: readonly AccountStatus[]): number =>
  Math.min(...statuses.flatMap(({ syncedAt }) => (syncedAt === null ? [] : Date.parse(syncedAt))));

/** What is proved of each copy about the time that plans need; null where none was synced. */
export function verdictsOf(
  plans: readonly Plan[],
  copies: readonly Pick<AskedCopy, 'store' | 'account'>[],
): Promise<readonly (Verdict | null)[]> {
  const period = hull(plans.flatMap(({ needs }) => needs.map((need) => need.period)));
  return Promise.all(copies.map(({ store, account }) => store.verdict(account, period)));
}

/** Counts the calls of a copy that the plans need. */
async function feed(
  running: RunningAnswers,
  { store, account, name = account, from = null }: AskedCopy,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const need of running.reads) {
    const period = from === null ? need.period : intersect(need.period, periodOf(from, null));
    if (period === null) continue;
    await running.addAll(store.columns(account, need.fields, { period }, signal), name);
  }
}

/** The names that stores give to accounts, where these differ from their IDs. */
async function namesIn(copies: readonly AskedCopy[]) {
  const named = new Map<string, string>();
  for (const store of new Set(copies.map((copy) => copy.store)))
    for (const { id, name } of await store.accounts()) named.set(id, name);

  return (account: string): readonly string[] => {
    const name = named.get(account);
    return name === undefined || named.has(name) ? [] : [name];
  };
}

/** What the stores know of the accounts, in their order. */
export async function statusesOf(
  copies: readonly Pick<AskedCopy, 'store' | 'account' | 'name'>[],
): Promise<readonly AccountStatus[]> {
  const stores = [...new Set(copies.map(({ store }) => store))];
  const sizes = new Map(
    await Promise.all(stores.map(async (store) => [store, await store.sizes()] as const)),
  );
  const begins = await Promise.all(copies.map(({ store, account }) => beginOf(store, account)));
  return copies.map(({ store, account, name = account }, at) => {
    const none: AccountSize = { account, calls: 0, oldest: null, newest: null, syncedAt: null };
    const size = sizes.get(store)?.find((each) => each.account === account) ?? none;
    return accountStatus(size, name, begins[at] ?? null);
  });
}

/**
 * Where a copy begins that was filled from a time on; null for one that has all calls, or that no
 * sync has filled.
 */
export async function beginOf(
  store: Pick<Store, 'verdict'>,
  account: string,
): Promise<string | null> {
  const verdict = await store.verdict(account);
  const before = verdict?.unasked.find(({ from }) => from === null);
  return before?.to ?? null;
}

/** The size of an account, as answers say it. */
function accountStatus(
  { calls, oldest, newest, syncedAt }: AccountSize,
  name: string,
  since: string | null,
): AccountStatus {
  const at = syncedAt === null ? null : new Date(syncedAt).toISOString();
  return { account: name, calls, first: oldest, last: newest, since, storedAt: at, syncedAt: at };
}
