import { apiKeys, type Call, type Client, createClient } from '@call-attribution/core';
import { startHostileServer } from '@call-attribution/core/testing';
import type { SyncState, UpsertSink } from '@call-attribution/node-stream';
import {
  type AccountPlan,
  type AccountValue,
  type Board,
  BoardMemory,
  FleetError,
  type JobValue,
  type LaneValue,
  memoryBoard,
  type Parcel,
  type ParcelVerdict,
  type PinnedJob,
  type Target,
  type WorkerEvent,
} from '../src/index.ts';
import { takeToClose, takeToSync } from '../src/lanes/account-entry.ts';
import { accountKey, jobKey, laneKey } from '../src/lanes/keys.ts';
import { advance, newLane, parcelAt } from '../src/lanes/lane.ts';
import { closeAccount } from '../src/worker/close-account.ts';
import { syncAccount } from '../src/worker/sync-account.ts';
import type { TurnContext } from '../src/worker/turn.ts';

const id = '101';
const holder = 'w-test';

/** A target in memory: `store` keeps rows and is counted, `files` has verdicts alone. */
export function memoryTarget(kind: 'store' | 'files') {
  const plans = new Map<string, AccountPlan>();
  const verdicts = new Map<number, ParcelVerdict>();
  const rows = new Map<string, Call>();
  const claims = { sync: 0 };
  const synced: { state: SyncState | null } = { state: null };
  const sync = (): UpsertSink => {
    let token = 0;
    return {
      load: async () => {
        token = claims.sync += 1;
        return synced.state;
      },
      async commit({ calls, state: after }) {
        if (token !== claims.sync) throw new FleetError('claim_lost', 'Another worker syncs it.');
        for (const call of calls) rows.set(call.sid, call);
        synced.state = after;
      },
    };
  };
  const unused = () => Promise.reject(new Error('not used here'));
  const target: Target = {
    name: 'memory',
    pin: async (job) => job,
    plan: async (account, make) => {
      const plan = plans.get(account.id) ?? (await make());
      plans.set(account.id, plan);
      return plan;
    },
    planOf: async (account) => plans.get(account) ?? null,
    async continuePlan(account, _before, after) {
      plans.set(account, after);
      return after;
    },
    claim: unused,
    reopen: async (_account, { index }) => void verdicts.delete(index),
    async *verdicts() {
      yield* verdicts.values();
    },
    count: async (_account, from, to) =>
      kind === 'files' ? null : [...rows.values()].filter(inside({ from, to })).length,
    sync: () => (kind === 'files' ? null : sync()),
    inspect: async () => null,
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
  return { target, plans, verdicts, rows, claims, synced };
}

/** An account in the middle of its work: a server with calls that the test may change, a board, a target. */
export async function openScene({
  calls,
  kind = 'files' as 'store' | 'files',
  perParcel = 5,
  job: more = {} as Partial<PinnedJob>,
  maxRows = Number.POSITIVE_INFINITY,
}: {
  calls: Call[];
  kind?: 'store' | 'files';
  perParcel?: number;
  job?: Partial<PinnedJob>;
  maxRows?: number;
}) {
  const opens = { is: true };
  const server = await startHostileServer({
    calls,
    maxRows,
    fault: () => (opens.is ? undefined : { status: 401 }),
  });
  const clock = { now: Date.UTC(2024, 0, 20) };
  const board = memoryBoard(new BoardMemory({ now: () => clock.now }));
  const memory = memoryTarget(kind);
  const { target, plans, verdicts, rows } = memory;
  const job: PinnedJob = {
    name: 'history',
    baseUrl: server.url,
    version: 'v3',
    filter: '',
    from: null,
    to: '2024-01-19 10:00:00',
    into: 'memory',
    format: null,
    columns: null,
    partition: 'none',
    parcel: perParcel,
    lanes: 2,
    pages: 10,
    requestsPerMinute: null,
    tries: 5,
    skip: false,
    sync: null,
    ...more,
  };
  const times = calls.map(({ date_added }) => date_added).sort();
  const ends = times.filter((_, i) => i > 0 && i % perParcel === 0);
  const parcels =
    times.length === 0
      ? []
      : [...ends, job.to].map((to, index) => {
          const parcel = { index, from: index === 0 ? null : (ends[index - 1] as string), to };
          return { ...parcel, total: calls.filter(inside(parcel)).length };
        });
  plans.set(id, { bounds: 'closed', from: null, to: job.to, parcels });
  const account: AccountValue = {
    id,
    name: 'Main',
    credential: 'file:101.json',
    requestsPerMinute: null,
    phase: 'reading',
    parcels: parcels.length,
    total: times.length,
    by: null,
    notBefore: 0,
    tries: 0,
    rounds: 0,
    aside: null,
    verdict: null,
    sync: null,
  };
  const jobValue: JobValue = {
    format: 1,
    state: 'running',
    now: false,
    job,
    accounts: 1,
    parcels: parcels.length,
    records: times.length,
  };
  await put(board, jobKey, jobValue);
  await put(board, accountKey(id), account);
  for (const k of [0, 1]) await put(board, laneKey(id, k), newLane(k, parcels.length));

  const auth = apiKeys('a', 'b');
  const client: Client = createClient({ baseUrl: server.url, auth, retry: { attempts: 1 } });
  const events: WorkerEvent[] = [];
  const context: TurnContext = {
    board,
    target,
    job,
    holder,
    clientOf: async () => client,
    signal: new AbortController().signal,
    emit: (event) => events.push(event),
    clock: { now: () => clock.now },
  };
  const accountNow = () => board.get(accountKey(id))?.value as unknown as AccountValue;
  const lane = (k: number) => board.get(laneKey(id, k))?.value as unknown as LaneValue;
  const take = async (change: (value: AccountValue, by: string) => AccountValue) => {
    await put(board, accountKey(id), change(accountNow(), holder));
    return accountNow();
  };
  const commit = (parcel: Parcel): ParcelVerdict => {
    const found = server.calls.filter(inside(parcel));
    for (const call of found) if (kind === 'store') rows.set(call.sid, { ...call });
    const verdict = verdictOf(parcel, found.length);
    verdicts.set(parcel.index, verdict);
    return verdict;
  };
  return {
    ...memory,
    server,
    board,
    job,
    clock,
    context,
    events,
    opens,
    account: accountNow,
    lane,
    plan: () => plans.get(id) as AccountPlan,
    credentials: async () => auth,
    set: (value: Partial<AccountValue>) => put(board, accountKey(id), { ...accountNow(), ...value }),
    setLane: (k: number, value: Partial<LaneValue>) => put(board, laneKey(id, k), { ...lane(k), ...value }),
    /** Reads what the lanes have, as workers do; returns the parcels read. */
    async work(): Promise<number[]> {
      const read: number[] = [];
      for (const k of [0, 1])
        for (let index = parcelAt(lane(k)); index !== null; index = parcelAt(lane(k))) {
          read.push(index);
          const { records, bytes, requests } = commit(plans.get(id)?.parcels[index] as Parcel);
          await put(board, laneKey(id, k), advance(lane(k), index, 2, { records, bytes, requests }));
        }
      return read.sort((a, b) => a - b);
    },
    close: async () => closeAccount(context, await take(takeToClose)),
    sync: async () => syncAccount(context, await take(takeToSync)),
    async [Symbol.asyncDispose]() {
      await client.close();
      await server.close();
    },
  };
}

export type Scene = Awaited<ReturnType<typeof openScene>>;

const inside =
  ({ from, to }: { readonly from: string | null; readonly to: string }) =>
  ({ date_added }: Pick<Call, 'date_added'>): boolean =>
    (from === null || date_added >= from) && date_added < to;

export const verdictOf = ({ index, from, to }: Parcel, records: number): ParcelVerdict => ({
  ...{ account: id, index, from, to, records, total: records, requests: 1, rereads: 0 },
  ...{ skipped: 0, leftOut: 0, bytes: 10 * records, sha256: '', at: 0, by: holder, version: '0' },
});

async function put(board: Board, key: string, value: object): Promise<void> {
  await board.write(key, value as never, board.get(key)?.revision ?? 0);
}
