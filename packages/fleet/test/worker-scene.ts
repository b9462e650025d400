import { apiKeys, type Call, type Fetch } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { matcher, parse } from '@call-attribution/query-dsl';
import type {
  AccountPlan,
  AccountValue,
  Board,
  CredentialSource,
  JobValue,
  Json,
  LaneValue,
  Parcel,
  ParcelVerdict,
  PinnedJob,
  Target,
} from '../src/index.ts';
import { FleetError } from '../src/index.ts';
import { accountKey, jobKey, laneKey } from '../src/lanes/keys.ts';
import { newLane } from '../src/lanes/lane.ts';

/** A job for tests: files and stores differ in `format`. */
export const testJob = (changes: Partial<PinnedJob> = {}): PinnedJob => ({
  name: 'history',
  baseUrl: 'https://api.example.com',
  version: 'v3',
  filter: 'inc_gce:1',
  from: null,
  to: '2025-01-01 00:00:00',
  into: 'memory',
  format: null,
  columns: null,
  partition: 'none',
  parcel: 5,
  lanes: 2,
  pages: 10,
  requestsPerMinute: null,
  tries: 3,
  skip: false,
  sync: null,
  ...changes,
});

/** Calls of an account, with sids of their own. */
export const callsOf = (account: string, count: number): Call[] =>
  fixtureCalls(count, Number(account)).map((call) => ({ ...call, acct_id: account }));

/** The API over some accounts, without a network. The access key is the account. Answers what `fault` gives instead. */
export function fakeApi(
  accounts: ReadonlyMap<string, readonly Call[]>,
  fault: (
    account: string,
    query: string,
  ) => { status: number; headers?: Record<string, string> } | null = () => null,
): { fetch: Fetch; readonly requests: string[] } {
  const requests: string[] = [];
  const fetch: Fetch = async (url, init) => {
    init.signal.throwIfAborted();
    const { searchParams } = new URL(url);
    const key = init.headers.find(([name]) => name.toLowerCase() === 'access_key')?.[1] ?? '';
    const query = searchParams.get('q') ?? '';
    requests.push(`${key} ${query}`);
    const instead = fault(key, query);
    if (instead !== null) return new Response('{"error":"no"}', { ...json, ...instead });
    const matches = matcher(parse(query, { version: 'v3' }));
    const found = (accounts.get(key) ?? []).filter((call) => matches(call));
    const rows = Number(searchParams.get('rows') ?? 100);
    const from = Number(searchParams.get('start') ?? 0) * rows;
    const part = found.slice(from, from + rows);
    const range =
      part.length === 0 ? `*/${found.length}` : `${from + 1}-${from + part.length}/${found.length}`;
    return new Response(JSON.stringify(part), {
      headers: { 'content-type': 'application/json', 'content-range': range },
    });
  };
  return { fetch, requests };
}
const json = { headers: { 'content-type': 'application/json' } };

/** Credentials that are the account's id. */
export const keysOf: CredentialSource = async (_reference, account) => apiKeys(account, 'secret');

/** The plan of an account, cut after each `size` calls. */
export function planOf(calls: readonly Call[], size: number, to = testJob().to): AccountPlan {
  const times = calls.map(({ date_added }) => date_added).sort();
  const ends = [...new Set(times.filter((_, i) => i > 0 && i % size === 0))];
  const parcels = [...ends, to].map((to, index): Parcel => {
    const from = index === 0 ? null : (ends[index - 1] as string);
    const total = times.filter((time) => (from === null || time >= from) && time < to).length;
    return { index, from, to, total };
  });
  return { bounds: 'half-open', from: null, to, parcels: times.length === 0 ? [] : parcels };
}

/** Puts on a board what is missing of a job, as planning it again does. */
export async function plantJob(
  board: Board,
  job: PinnedJob,
  plans: ReadonlyMap<string, AccountPlan>,
): Promise<void> {
  const create = async (key: string, value: object): Promise<void> => {
    if (board.get(key) === undefined) await board.write(key, value as Json, 0);
  };
  for (const [id, plan] of plans) {
    const parcels = plan.parcels.length;
    const total = plan.parcels.reduce((sum, parcel) => sum + parcel.total, 0);
    for (let k = 0; k < job.lanes; k += 1) await create(laneKey(id, k), newLane(k, parcels));
    await create(accountKey(id), newAccount(id, parcels, total));
  }
  const all = [...plans.values()].flatMap(({ parcels }) => parcels);
  await create(jobKey, {
    format: 1,
    state: 'running',
    now: false,
    job,
    accounts: plans.size,
    parcels: all.length,
    records: all.reduce((sum, parcel) => sum + parcel.total, 0),
  } satisfies JobValue);
}

export const newAccount = (id: string, parcels: number, total: number): AccountValue => ({
  id,
  name: null,
  credential: `file:${id}.json`,
  requestsPerMinute: null,
  phase: 'reading',
  parcels,
  total,
  by: null,
  notBefore: 0,
  tries: 0,
  rounds: 0,
  aside: null,
  verdict: null,
  sync: null,
});

export const accountOn = (board: Board, id: string): AccountValue | undefined =>
  board.get(accountKey(id))?.value as unknown as AccountValue | undefined;
export const laneOn = (board: Board, id: string, k: number): LaneValue | undefined =>
  board.get(laneKey(id, k))?.value as unknown as LaneValue | undefined;

/** Where the records of a target in memory lie, for any number of workers. */
export interface Shelf {
  readonly plans: Map<string, AccountPlan>;
  readonly parcels: Map<string, { token: number; sids: string[]; verdict: ParcelVerdict | null }>;
}

export const newShelf = (plans: ReadonlyMap<string, AccountPlan>): Shelf => ({
  plans: new Map(plans),
  parcels: new Map(),
});

/** All sids that count, as a reader of the target sees them. */
export const sidsOn = ({ parcels }: Shelf): string[] =>
  [...parcels.values()].flatMap(({ sids, verdict }) => (verdict === null ? [] : sids)).sort();

/** A target in memory, fenced by tokens. Without them two workers of one parcel would write its records twice. */
export function shelfTarget(shelf: Shelf, job: PinnedJob): Target {
  const at = (account: string, { index }: Parcel) => {
    const key = `${account} ${index}`;
    const place = shelf.parcels.get(key) ?? { token: 0, sids: [], verdict: null };
    shelf.parcels.set(key, place);
    return place;
  };
  return {
    name: 'memory',
    pin: async () => job,
    async plan({ id }, make) {
      const plan = shelf.plans.get(id) ?? (await make());
      shelf.plans.set(id, plan);
      return plan;
    },
    planOf: async (account) => shelf.plans.get(account) ?? null,
    continuePlan: async (_account, _before, after) => after,
    async claim(account, parcel) {
      const place = at(account, parcel);
      if (place.verdict !== null) return claimed(place.verdict);
      const token = ++place.token;
      place.sids = [];
      const check = (): void => {
        if (place.token !== token) throw new FleetError('claim_lost', 'It was claimed again.');
      };
      return {
        done: null,
        async put(page) {
          check();
          place.sids.push(...page.records.map(({ sid }) => sid));
        },
        async commit(reading) {
          check();
          place.verdict = { ...reading, leftOut: 0, bytes: 0, sha256: '' };
          return place.verdict;
        },
        async drop() {},
      };
    },
    reopen: async (account, parcel) => {
      at(account, parcel).verdict = null;
    },
    async *verdicts(account) {
      for (const { verdict } of shelf.parcels.values()) if (verdict?.account === account) yield verdict;
    },
    count: async () => null,
    sync: () => null,
    inspect: async () => null,
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

const claimed = (done: ParcelVerdict) => ({
  done,
  put: async () => {},
  commit: async () => done,
  drop: async () => {},
});
