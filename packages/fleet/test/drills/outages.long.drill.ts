import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { orders, startOrderedServer } from '../ordered-server.ts';
import { openSource, type Source, sidsIn, workerOn, writeKeys } from '../scene.ts';
import { linkTo } from './scene/link.ts';
import {
  allDone,
  compare,
  crash,
  database,
  jobFile,
  newPlace,
  otherRelease,
  type Place,
  type RunningWorker,
  readTwice,
  startWorker,
  ticketsIn,
} from './scene/scene.ts';

const tally = openDrill({
  name: 'fleet-outages',
  kind: 'cut connections',
  what: 'The server of the engine crashes, the target is cut off or full, ends of turns get lost, a worker dies, another release works on the same job, the API answers 429 and 503, and keys are revoked; every call is in the target once, no account is read twice at a time, and the work of a dead worker goes on within 20 s',
});

let source: Source;
beforeAll(async () => {
  source = await openSource({ accounts: 6, records: 4_000 });
});
afterAll(() => source[Symbol.asyncDispose]());

const minutes = 60_000;
let jobs = 0;

/** Does the same once, or five times in a long run. */
const often = async (work: () => Promise<void>): Promise<void> => {
  for (let run = 0; run < rounds(1, 5); run += 1) await tally.run(work, 5 * minutes);
};

/** A job in a new database of the engine, and what starts workers on it. */
async function scene(place: Place, { into = place.into, faults = 'latency=120ms' } = {}) {
  source.sandbox.faults.clear();
  source.sandbox.faults.set('*', faults);
  jobs += 1;
  const url = await database();
  const name = `outage-${jobs}`;
  const job = jobFile(source, source.job(into, { name }));
  const workers: RunningWorker[] = [];
  return {
    url,
    job,
    workers,
    start(
      engine = url,
      more: Parameters<typeof startWorker>[2] & { keys?: string } = {},
    ): RunningWorker {
      const { keys = source.keys, ...how } = more;
      const worker = startWorker({ engine, job, keys, slots: 2 }, place.env, how);
      workers.push(worker);
      return worker;
    },
    async tickets() {
      return ticketsIn(url, name);
    },
    /** All workers end by themselves, and the target has each call once. */
    async ends(): Promise<void> {
      await allDone(workers, url, name, source);
      expect(readTwice(workers)).toEqual([]);
      await compare(tally, source, place);
    },
  };
}

const hasBegun = async (worker: RunningWorker) =>
  expect
    .poll(() => worker.events.filter(({ kind }) => kind === 'turn').length + worker.errors.length)
    .toBeGreaterThan(0);

test.each(['sqlite', 'postgres', 'folder'] as const)(
  'the server of the engine crashes, into %s',
  (kind) =>
    often(async () => {
      const { start, url, ends } = await scene(await newPlace(kind, source.folder));
      const first = start();
      start();
      start();
      await hasBegun(first);
      for (let i = 0; i < 3; i += 1) {
        await crash(url);
        tally.happened('crashes');
        await setTimeout(1_500);
      }

      await ends();
    }),
);

test('the target is cut off', () =>
  often(async () => {
    const place = await newPlace('postgres', source.folder);
    const { link, url: into } = await linkTo(place.into);
    const { start, ends } = await scene(place, { into });
    const first = start();
    start();
    await hasBegun(first);
    for (let i = 0; i < 3; i += 1) {
      link.cut();
      tally.happened('cuts');
      await setTimeout(1_000);
      link.restore();
      await setTimeout(1_000);
    }

    await ends();
    await link.close();
  }));

test('ends of turns get lost between the commit and the engine', () =>
  often(async () => {
    const place = await newPlace('sqlite', source.folder);
    const { start, url, ends, workers } = await scene(place);
    const { link, url: linked } = await linkTo(url);
    const cut = start(linked);
    start();
    await hasBegun(cut);
    while (workers.every(({ child }) => child.exitCode === null)) {
      link.cut();
      tally.happened('cuts');
      await setTimeout(200);
      link.restore();
      await setTimeout(500 + Math.random() * 500);
    }

    await ends();
    await link.close();
  }));

// $1: a file that appears when there is to be space; then the command. The disk is seen by it
// alone.
const onSmallDisk = `
more=$1; disk=$2; out=$3; shift 3
mount -t tmpfs -o size=60k none "$disk" || exit 9
(while [ ! -e "$more" ]; do sleep 0.2; done; mount -o remount,size=100m none "$disk") &
"$@"; code=$?
cp -r "$disk/." "$out"; exit $code
`;

test('the disk of the target is full', async () => {
  await tally.run(async () => {
    const disk = mkdtempSync(join(tmpdir(), 'fleet-disk-'));
    const out = mkdtempSync(join(source.folder, 'out-'));
    const place: Place = {
      into: `folder:${disk}/calls`,
      env: {},
      sids: () => sidsIn(`folder:${out}/calls`),
    };
    const { start, url, ends } = await scene(place, { faults: 'latency=20ms' });

    // In the namespace of the disk, the folder of the server's socket is out of reach.
    const { link, url: linked } = await linkTo(url);
    const more = join(out, 'more');
    const worker = start(linked, {
      inside: ['unshare', '-rm', 'sh', '-c', onSmallDisk, 'sh', more, disk, out],
    });
    const rests = () =>
      worker.events.filter((event) => event.kind === 'worker' && event.state === 'resting');
    await expect
      .poll(() => rests().length + worker.errors.length + Math.abs(worker.child.exitCode ?? 0))
      .toBeGreaterThan(0);
    tally.happened('full disks');
    expect(JSON.stringify(rests()[0])).toMatch(/full|space/);
    writeFileSync(more, '');
    await ends();
    await link.close();
  }, 5 * minutes);
});

test('429 with 503, and keys that are revoked set their account alone aside', () =>
  often(async () => {
    const place = await newPlace('sqlite', source.folder);
    const { start, tickets } = await scene(place, {
      faults: 'status=429, retry-after=1, every=7; status=503, every=5; latency=50ms',
    });
    const worker = start();
    start();
    await hasBegun(worker);
    const [revoked] = source.sandbox.accounts;
    if (revoked === undefined) throw new Error('no account');
    source.sandbox.faults.set(revoked.accessKey, 'status=401');
    expect(await worker.gone, worker.errors.join('\n')).toBe(0);
    const states = new Map((await tickets()).map((ticket) => [ticket.account, ticket]));
    const found = await place.sids();
    for (const [account, sids] of source.truth) {
      const ticket = states.get(account);
      if (account !== revoked.id || ticket?.state === 'done') {
        expect(ticket?.state).toBe('done');
        tally.compare(sids, found.get(account) ?? []);
        expect({ account, calls: found.get(account)?.length }).toMatchObject({
          calls: sids.length,
        });
      } else expect(ticket).toMatchObject({ state: 'aside', code: 'unauthorized' });
    }

    tally.happened('keys revoked');
  }));

test.each(['postgres', 'folder', 's3'] as const)(
  'two jobs share %s, one with a bad key',
  async (kind) => {
    await tally.run(async () => {
      const place = await newPlace(kind, source.folder);
      const one = await scene(place);
      const other = await scene(place);
      const [bad] = source.sandbox.accounts;
      const keys = mkdtempSync(join(source.folder, 'keys-'));
      for (const { id, accessKey, secretKey } of source.sandbox.accounts)
        writeKeys(keys, id, { accessKey, secretKey: id === bad?.id ? 'wrong' : secretKey });
      one.start();
      other.start(undefined, { keys });
      for (const { workers } of [one, other])
        for (const worker of workers) expect(await worker.gone, worker.errors.join('\n')).toBe(0);
      for (const { account, state, code } of await other.tickets())
        expect({ account, state, code }).toMatchObject(
          account === bad?.id ? { state: 'aside', code: 'unauthorized' } : { state: 'done' },
        );

      await one.ends();
      tally.happened('jobs', 2);
    }, 5 * minutes);
  },
);

test.each(orders)(
  'a server that lists calls in the order %s, into PostgreSQL and a bucket',
  async (order) => {
    await using server = await startOrderedServer(order);
    const about = { baseUrl: server.url, accounts: [{ id: '101' }] };
    for (const kind of ['postgres', 's3'] as const)
      await tally.run(async () => {
        const place = await newPlace(kind, source.folder);
        const env = Object.fromEntries(
          Object.entries(place.env).map(([name, value]) => [name, value ?? '']),
        );
        const worker = await workerOn(source, source.job(place.into, about), { env });
        expect((await worker.run()).reason).toBe('done');
        const sids = server.calls.map(({ sid }) => sid);
        tally.compare(sids, (await place.sids()).get('101') ?? []);
        tally.happened('calls', sids.length);
      }, 5 * minutes);
  },
);

test('a worker that was stopped while the job was edited reads nothing more', async () => {
  await tally.run(async () => {
    const place = await newPlace('sqlite', source.folder);
    const { start, url, tickets } = await scene(place, { faults: 'latency=300ms' });
    const stopped = start();
    await expect
      .poll(async () => (await tickets().catch(() => [])).some(({ state }) => state === 'active'))
      .toBe(true);
    stopped.child.kill('SIGSTOP');

    // From then on it does not count.
    await setTimeout(31_000);
    source.sandbox.faults.clear();
    const edited = jobFile(
      source,
      source.job(place.into, { name: `outage-${jobs}`, lookback: '1d' }),
    );
    const other = startWorker({ engine: url, job: edited, keys: source.keys });
    expect(await other.gone, other.errors.join('\n')).toBe(0);
    stopped.child.kill('SIGCONT');
    expect(await stopped.gone).not.toBe(0);
    expect(stopped.errors.join('\n')).toContain('go by another job file by now');
    await compare(tally, source, place);
    tally.happened('stops');
  }, 5 * minutes);
});

test('two releases work on one job', async () => {
  await tally.run(async () => {
    const { start, ends, workers } = await scene(await newPlace('postgres', source.folder));
    start();
    start(undefined, { source: otherRelease('9.9.9') });
    await ends();
    for (const { turns } of workers) expect(turns.length).toBeGreaterThan(0);
    tally.happened('releases', 2);
  }, 5 * minutes);
});

test('the work of a dead worker goes on within 20 seconds', () =>
  often(async () => {
    const { start, tickets, ends, workers } = await scene(await newPlace('sqlite', source.folder));
    const victim = start();
    await hasBegun(victim);
    await expect
      .poll(async () => (await tickets()).some(({ state }) => state === 'active'))
      .toBe(true);
    victim.child.kill('SIGKILL');
    const killedAt = performance.now();
    const held = (await tickets())
      .filter(({ state }) => state === 'active')
      .map(({ account }) => account);
    await victim.gone;
    workers.splice(0);
    const other = start();
    await ends();
    for (const account of held) {
      const [first] = other.turns.filter((turn) => turn.account === account);
      expect((first?.from ?? Number.POSITIVE_INFINITY) - killedAt).toBeLessThan(20_000);
    }

    expect(held.length).toBeGreaterThan(0);
    tally.happened('take-overs', held.length);
  }));

test('a first read that is cut into many turns ends', { timeout: 900_000 }, async () => {
  await tally.run(async () => {
    await using long = await openSource({ accounts: 1, records: 14_000, days: 400 });

    // A turn ends after 100 pages, here of five calls.
    long.sandbox.faults.set('*', 'clamp=5');
    const place = await newPlace('sqlite', long.folder);
    const worker = await workerOn(long, long.job(place.into));
    await worker.run();
    await compare(tally, long, place);
    const turns = worker.events.filter(({ kind }) => kind === 'turn').length;
    expect(turns).toBeGreaterThanOrEqual(20);
    tally.happened('turns', turns);
  }, 15 * minutes);
});
