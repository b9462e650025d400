import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openDrill } from '@call-attribution/test-tools/drill';
import { startNats, type TestNats } from '@call-attribution/test-tools/nats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Board } from '../../src/index.ts';
import {
  accountsOn,
  compare,
  countParcels,
  endAll,
  openSource,
  plan,
  type RunningWorker,
  type Source,
  startWorker,
  untilDone,
  watchBoard,
} from './scene/scene.ts';

const tally = openDrill({
  name: 'fleet-nats-lost',
  kind: 'kills',
  what: 'NATS is not there yet, is killed and started again, loses each of three nodes in turn, or loses all of its data; workers wait and go on, and every record is there once',
});

let source: Source;
const folder = mkdtempSync(join(tmpdir(), 'fleet-nats-'));
beforeAll(async () => {
  source = await openSource({ accounts: 4, records: 8000, latency: 10 });
});
afterAll(async () => {
  await source[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Works on a job with three workers while something happens to NATS. */
async function whileWorking(
  name: string,
  nats: TestNats,
  happen: (board: Board) => Promise<void>,
): Promise<void> {
  const job = source.job(name, `folder:${join(folder, name)}`);
  const board = await watchBoard(nats.url, name);
  await plan(board, job, source.keys);
  // So slow that there is work left when it is over.
  source.sandbox.faults.set('*', [{ latency: 500 }]);
  const workers: RunningWorker[] = [1, 2, 3].map(() =>
    startWorker({ board: nats.url, job: name, keys: source.keys }, { ttl: 4000 }),
  );
  while (!workers.every(({ events }) => events.some(({ kind }) => kind === 'parcel'))) await delay(20);
  await happen(board);
  source.sandbox.faults.set('*', [{ latency: 10 }]);
  await untilDone(board);
  await endAll(workers);
  expect(accountsOn(board).map(({ phase }) => phase)).toEqual(['final', 'final', 'final', 'final']);
  await compare(tally, source, job.into);
  countParcels(tally, workers);
}

test('workers that were started before NATS wait for it, and one that is killed and started again costs nothing', () =>
  tally.run(async () => {
    const nats = await startNats();
    try {
      const [node] = nats.nodes;
      await whileWorking('restarted', nats, async () => {
        await node?.kill();
        tally.happened('nodes killed');
        const early = startWorker({ board: nats.url, job: 'restarted', keys: source.keys }, { ttl: 4000 });
        await delay(3000);
        expect(early.events, 'it waits').toEqual([]);
        expect(early.child.exitCode).toBe(null);
        await node?.start();
        while (early.events.length === 0 && early.child.exitCode === null) await delay(50);
        early.child.kill('SIGTERM');
        expect(await early.gone).toBe(0);
      });
    } finally {
      await nats.close();
    }
  }));

test('each of three nodes is lost in turn', () =>
  tally.run(async () => {
    const nats = await startNats({ nodes: 3 });
    try {
      await whileWorking('in-turn', nats, async () => {
        for (const node of nats.nodes) {
          await node.kill();
          tally.happened('nodes killed');
          await delay(2500);
          await node.start();
          await delay(2500);
        }
      });
    } finally {
      await nats.close();
    }
  }));

test('all data of NATS is lost: the job is planned again, and what was committed is not read again', () =>
  tally.run(async () => {
    const nats = await startNats();
    const name = 'all-lost';
    const job = source.job(name, `folder:${join(folder, name)}`);
    try {
      const board = await watchBoard(nats.url, name);
      await plan(board, job, source.keys);
      source.sandbox.faults.set('*', [{ latency: 60 }]);
      const first = startWorker({ board: nats.url, job: name, keys: source.keys });
      const committed = (worker: RunningWorker) =>
        worker.events.filter((event) => event.kind === 'parcel' && event.outcome === 'committed');
      while (committed(first).length < 15) await delay(20);
      first.child.kill('SIGTERM');
      await first.gone;
      for (const node of nats.nodes) await node.kill();
      await board.close();
      for (const node of nats.nodes) node.removeData();
      for (const node of nats.nodes) await node.start();
      tally.happened('boards lost');
      const empty = await watchBoard(nats.url, name);
      expect(accountsOn(empty)).toEqual([]);
      await plan(empty, job, source.keys);
      const second = startWorker({ board: nats.url, job: name, keys: source.keys });
      await untilDone(empty);
      second.child.kill('SIGTERM');
      await second.gone;
      const again = committed(second).map(
        (event) => event.kind === 'parcel' && `${event.account} ${event.index}`,
      );
      const before = committed(first).map(
        (event) => event.kind === 'parcel' && `${event.account} ${event.index}`,
      );
      expect(again.filter((parcel) => before.includes(parcel))).toEqual([]);
      await compare(tally, source, job.into);
      countParcels(tally, [first, second]);
    } finally {
      await nats.close();
    }
  }));
