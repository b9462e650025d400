import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { apiKeys, type Call } from '@call-attribution/core';
import { day, formatNaive, hour, minute } from '@call-attribution/core/time';
import { type Sandbox, startSandbox } from '@call-attribution/sandbox';
import { exportCalls, openStore, type Store } from '@call-attribution/store';
import { testStores } from '@call-attribution/test-tools';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type AccountValue,
  type Board,
  BoardMemory,
  createWorker,
  type Job,
  memoryBoard,
  openTarget,
  pinJob,
  planJob,
  retryAside,
  type Target,
  verifyJob,
  type Worker,
  type WorkerEvent,
} from '../../src/index.ts';
import { accountKey } from '../../src/lanes/keys.ts';

const start = Date.UTC(2026, 8, 1, 6);
const sync = { every: '6h', lookback: '3d', settle: '30d' } as const;
const filter = 'inc_gce:1';

/** A job over a source that lives on while it is read, and one worker. The time of all of them is made here. */
interface Border extends AsyncDisposable {
  readonly job: Job;
  readonly board: Board;
  readonly target: Target;
  /** The store behind the API. */
  readonly source: Store;
  readonly accounts: readonly string[];
  readonly events: WorkerEvent[];
  /** Called after each parcel that was committed, before the worker goes on. */
  onParcel: (event: Extract<WorkerEvent, { kind: 'parcel' }>) => Promise<void>;
  /** Lets time pass for source, board and worker. */
  pass(ms: number): Promise<{ readonly arrived: number; readonly changed: number }>;
  now(): number;
  account(id: string): AccountValue;
  /** Waits until something holds for all accounts. */
  until(holds: (account: AccountValue) => boolean): Promise<void>;
  retry(account: string): Promise<void>;
  verdicts(deep?: boolean): Promise<string[]>;
}

async function openBorder(into: string, more: Partial<Job> = {}): Promise<Border> {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-border-'));
  const clock = { now: start };
  const now = () => clock.now;
  const url = `sqlite:${join(folder, 'source.db')}`;
  const sandbox: Sandbox = await startSandbox({
    accounts: 2,
    records: 6000,
    days: 60,
    to: formatNaive(start),
    store: url,
    journal: 0,
    clock: { now },
    // Time passes by hand only.
    live: { callsPerMinute: 0.2, speed: 0 },
  });
  const source = await openStore(url);
  const board = memoryBoard(new BoardMemory({ now }));
  const accounts = sandbox.accounts.map(({ id }) => id);
  const job: Job = {
    name: 'border',
    baseUrl: sandbox.url,
    accounts: accounts.map((id) => ({ id })),
    filter,
    into,
    parcel: 150,
    sync,
    ...more,
  };
  const target = await openTarget(into, pinJob(job, now()));
  const credentials = async (_: string, id: string) => {
    const keys = sandbox.accounts.find((account) => account.id === id);
    return apiKeys(keys?.accessKey ?? '', keys?.secretKey ?? '');
  };
  await planJob(job, { board, target, credentials, clock: { now } });
  const events: WorkerEvent[] = [];
  let moved: Promise<void> = Promise.resolve();
  const worker: Worker = createWorker({
    // What an event has set off comes first.
    board: Object.create(board, {
      write: {
        value: async (...entry: Parameters<Board['write']>) => {
          await moved;
          return board.write(...entry);
        },
      },
    }) as Board,
    target,
    credentials,
    clock: { now },
    slots: 2,
    // The time of the board jumps, and nobody dies of it.
    ttl: '60d',
    onEvent(event) {
      events.push(event);
      if (event.kind !== 'parcel' || event.outcome !== 'committed') return;
      moved = moved.then(() => border.onParcel(event));
    },
  });
  const border: Border = {
    ...{ job, board, target, source, accounts, events, now },
    onParcel: async () => {},
    async pass(ms) {
      const counts = await sandbox.advance(ms);
      clock.now += ms;
      // Whoever waits looks again.
      await board.write('poke', { at: clock.now }, board.get('poke')?.revision ?? 0);
      return counts;
    },
    account: (id) => board.get(accountKey(id))?.value as unknown as AccountValue,
    async until(holds) {
      while (!accounts.every((id) => holds(border.account(id)))) await board.changed({ within: 100 });
      await moved;
    },
    async retry(account) {
      const [result] = await retryAside(board, { target, credentials, account });
      expect(result?.code).toBeNull();
    },
    async verdicts(deep = false) {
      const lines: string[] = [];
      for await (const { account, verdict, differing } of verifyJob({ target, job, credentials, deep }))
        lines.push([account, verdict, ...differing].join(' '));
      return lines;
    },
    async [Symbol.asyncDispose]() {
      await worker.leave(0);
      await running;
      await target.close();
      await board.close();
      await source.close();
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const running = worker.run();
  return border;
}

/** Records as lines, by sid. */
type Lines = Map<string, string>;

const lineOf = (line: string): [string, string] => {
  const record = JSON.parse(line) as Record<string, unknown>;
  const sorted = Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
  return [String(record.sid), JSON.stringify(sorted)];
};

/** What the API says of the calls from before a time. */
async function sourceOf({ source }: Border, account: string, until = '9'): Promise<Lines> {
  const lines: Lines = new Map();
  for await (const line of exportCalls(source, account, { form: 'v3' }))
    if ((JSON.parse(line) as Call).date_added < until) lines.set(...lineOf(line));
  return lines;
}

/** A kind of target, and what lies in it. */
interface Kind {
  readonly kind: string;
  newUrl(): Promise<string>;
  /** The records of an account, as lines in the order of the API. */
  read(border: Border, account: string): Promise<string[]>;
  /** Up to where it has to be equal to the source. */
  until(border: Border, account: string): Promise<string>;
}

const kinds: Kind[] = testStores().map(({ kind, newUrl }) => ({
  kind,
  newUrl,
  async read({ job }, account) {
    await using store = await openStore(job.into);
    expect(await store.check()).toEqual([]);
    const lines: string[] = [];
    for await (const line of exportCalls(store, account, { form: 'v3' })) lines.push(line);
    return lines;
  },
  until: async () => '9',
}));
const folders = mkdtempSync(join(tmpdir(), 'fleet-border-folders-'));
afterAll(() => rmSync(folders, { recursive: true, force: true }));
let folder = 0;
kinds.push({
  kind: 'folder',
  async newUrl() {
    folder += 1;
    return `folder:${join(folders, String(folder))}`;
  },
  async read({ job }, account) {
    const root = join(job.into.slice('folder:'.length), `account=${account}`);
    return readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ndjson.gz'))
      .flatMap((name) =>
        gunzipSync(readFileSync(join(root, name)))
          .toString()
          .split('\n'),
      )
      .filter((line) => line !== '');
  },
  until: async ({ target }, account) => (await target.planOf(account))?.to ?? '',
});

describe.each(kinds)('into a $kind', (place) => {
  const tally = openDrill({
    name: `${place.kind}-border`,
    kind: 'moving lists',
    what: 'Two accounts are read and synced while calls arrive, change, come late and are deleted; the copy is equal to the source after each round',
  });

  /** Compares the copy of each account with the source, record by record. */
  async function compare(border: Border): Promise<void> {
    for (const account of border.accounts) {
      const must = await sourceOf(border, account, await place.until(border, account));
      const found = (await place.read(border, account)).map(lineOf);
      tally.compare(
        must.keys(),
        found.map(([sid]) => sid),
      );
      const stale = found.filter(([sid, line]) => must.get(sid) !== line);
      tally.add({ lied: stale.length });
      expect(stale.slice(0, 3)).toEqual([]);
      expect(found.length).toBe(must.size);
    }
  }

  const open = async (more: Partial<Job> = {}) =>
    openBorder(await place.newUrl(), place.kind === 'folder' ? { format: 'ndjson.gz', ...more } : more);

  /** Once nobody syncs, time passes, and every account is synced once more. */
  async function round(border: Border, ms: number): Promise<void> {
    await border.until(
      ({ phase, by, notBefore }) => phase === 'syncing' && by === null && notBefore > border.now(),
    );
    const runs = border.accounts.map((id) => border.account(id).sync?.runs ?? 0);
    await border.pass(ms);
    await border.until(({ id, phase, sync: done }) => {
      const before = runs[border.accounts.indexOf(id)] as number;
      return phase === 'syncing' && (done?.runs ?? 0) > before;
    });
  }

  test('the copy is equal to the source after the backfill and four syncs', {
    timeout: 600_000,
  }, async () => {
    await tally.run(async () => {
      await using border = await open();
      const moved = { arrived: 0, changed: 0 };
      border.onParcel = async () => {
        if (border.now() > start + 11 * hour) return;
        const { arrived, changed } = await border.pass(11 * minute);
        moved.arrived += arrived;
        moved.changed += changed;
      };
      await border.until(({ phase }) => phase === 'syncing');
      border.onParcel = async () => {};
      tally.happened('calls that arrived during the backfill', moved.arrived);
      tally.happened('calls that changed during the backfill', moved.changed);
      expect(moved.changed).toBeGreaterThan(0);
      for (const ms of [12 * hour, 6 * hour, 2 * day, 7 * hour]) {
        await round(border, ms);
        await compare(border);
        tally.happened('rounds that were compared', border.accounts.length);
      }
      expect(await border.verdicts(true)).toEqual(border.accounts.map((id) => `${id} proved`));
    }, 500_000);
  });

  test('calls that come late into old parcels and calls that are deleted are found by verify and put right', async () => {
    await tally.run(async () => {
      await using border = await open();
      await border.until(({ phase }) => phase === 'syncing');
      await round(border, 12 * hour);
      const [account, other] = border.accounts as [string, string];
      const { source } = border;
      const calls: Call[] = [];
      for await (const call of source.calls(account)) calls.push(call);
      await source.upsert(account, [{ ...(calls[5] as Call), sid: 'late' }]);
      const gone = calls.slice(700, 703).map(({ sid }) => sid);
      await source.remove(account, gone);
      const differs = [expect.stringMatching(/^\d+ differs 0 /), `${other} proved`];
      expect(await border.verdicts()).toEqual(differs);
      // A sync of a store looks back three days, and cannot know. Files are compared with the server after each round.
      await round(border, 7 * hour);
      const proved = border.accounts.map((id) => `${id} proved`);
      expect(await border.verdicts()).toEqual(place.kind === 'folder' ? proved : differs);
      await border.retry(account);
      await border.until(({ phase }) => phase === 'syncing');
      await round(border, 7 * hour);
      await compare(border);
      expect(await border.verdicts(true)).toEqual(proved);
    }, 300_000);
  }, 320_000);

  test('an account whose total keeps moving is set aside with its numbers, and goes on when it rests', async () => {
    await tally.run(async () => {
      await using border = await open();
      const [account, other] = border.accounts as [string, string];
      const { source } = border;
      let late = 0;
      let one: Call | undefined;
      for await (one of source.calls(account)) break;
      // Each time the first parcel is read, one more call comes into it.
      border.onParcel = async (event) => {
        if (event.account !== account || event.index !== 0) return;
        late += 1;
        await source.upsert(account, [{ ...(one as Call), sid: `late-${late}` }]);
      };
      await border.until(({ id, phase }) => (id === other ? phase === 'syncing' : phase === 'aside'));
      expect(late).toBe(4);
      expect(border.account(account).aside).toMatchObject({ code: 'total_moves' });
      expect(border.account(account).aside?.message).toMatch(
        /after 3 rounds it counts .* \(parcels 0\)\. Once /,
      );
      border.onParcel = async () => {};
      await border.retry(account);
      await border.until(({ phase }) => phase === 'syncing');
      await round(border, 12 * hour);
      await compare(border);
    }, 300_000);
  }, 320_000);
});
