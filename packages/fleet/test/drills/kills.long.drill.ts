import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { testStores } from '@call-attribution/test-tools';
import { openDrill, rounds, type Tally } from '@call-attribution/test-tools/drill';
import { startNats } from '@call-attribution/test-tools/nats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  accountsOn,
  compare,
  countParcels,
  openSource,
  plan,
  type RunningWorker,
  type Source,
  startWorker,
  untilDone,
  watchBoard,
} from './scene/scene.ts';

const kills = rounds(20, 100);
let source: Source;
beforeAll(async () => {
  source = await openSource();
});
afterAll(() => source[Symbol.asyncDispose]());

/** Runs jobs with three workers, and kills one after another until there were enough kills and the last job is done. */
async function killWorkers(tally: Tally, boardUrl: string, newTarget: () => Promise<string>): Promise<void> {
  for (let killed = 0, n = 1; killed < kills; n += 1)
    await tally.run(async () => {
      const into = await newTarget();
      const job = source.job(`kills-${n}`, into);
      source.sandbox.faults.clear();
      const board = await watchBoard(boardUrl, job.name);
      await plan(board, job, source.keys);
      source.sandbox.faults.set('*', [{ latency: 150 }]);
      const workers: RunningWorker[] = [];
      const orders = { board: boardUrl, job: job.name, keys: source.keys };
      const live = new Set<RunningWorker>();
      const start = () => {
        const worker = startWorker(orders);
        workers.push(worker);
        live.add(worker);
        void worker.gone.then(() => live.delete(worker));
      };
      for (let i = 0; i < 3; i += 1) start();
      let isDone = false;
      const done = untilDone(board).then(() => {
        isDone = true;
      });
      while (!isDone) {
        await Promise.race([done, delay(150 + Math.random() * 450)]);
        // One that has begun to work: killing what is still starting shows nothing.
        const victim = [...live].find(({ events }) => events.length > 0);
        if (isDone || victim === undefined || killed >= kills) continue;
        victim.child.kill('SIGKILL');
        await victim.gone;
        killed += 1;
        tally.happened('kills');
        start();
      }
      expect(accountsOn(board).map(({ phase }) => phase)).toEqual([...source.truth].map(() => 'final'));
      for (const { child, gone } of live) {
        child.kill('SIGKILL');
        await gone;
      }
      source.sandbox.faults.clear();
      await compare(tally, source, into);
      countParcels(tally, workers);
    }, 280_000);
}

const stores = testStores().filter(({ kind }) => kind === 'postgres');

describe.each(stores)('workers that share PostgreSQL', ({ newUrl }) => {
  const tally = openDrill({
    name: 'fleet-killed-workers-store',
    kind: 'kills',
    what: 'Workers that fill PostgreSQL, which is also their board, are killed with SIGKILL; every record is there once',
  });
  test(`lose nothing and double nothing when they are killed ${kills} times`, async () => {
    await killWorkers(tally, await newUrl(), newUrl);
  });
});

describe('workers that share NATS', () => {
  const tally = openDrill({
    name: 'fleet-killed-workers-folder',
    kind: 'kills',
    what: 'Workers that fill a folder over NATS are killed with SIGKILL; every record is in one whole file',
  });
  const folder = mkdtempSync(join(tmpdir(), 'fleet-kills-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  test(`lose nothing and double nothing when they are killed ${kills} times`, async () => {
    const nats = await startNats();
    try {
      await killWorkers(tally, nats.url, async () => `folder:${mkdtempSync(join(folder, 'job-'))}`);
    } finally {
      await nats.close();
    }
  });
});
