import { setTimeout } from 'node:timers/promises';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSource, type Source } from '../scene.ts';
import {
  allDone,
  compare,
  database,
  jobFile,
  newPlace,
  type RunningWorker,
  startWorker,
} from './scene/scene.ts';

const tally = openDrill({
  name: 'fleet-kills',
  kind: 'kills',
  what: 'Processes that read accounts into PostgreSQL, SQLite, a folder and a bucket are killed with SIGKILL, 100 times in all or 400 in a long run, half of them alone and half sharing the work; every call is there once',
});

let source: Source;
beforeAll(async () => {
  source = await openSource({ accounts: 10, records: 6_000, days: 100 });
  source.sandbox.faults.set('*', 'latency=60ms');
});
afterAll(() => source[Symbol.asyncDispose]());

const kills = rounds(13, 50);
const kinds = ['postgres', 'sqlite', 'folder', 's3'] as const;

test.each(kinds)('alone, into %s', async (kind) => {
  for (let left = kills, round = 0; left > 0; round += 1) {
    await tally.run(async () => {
      const place = await newPlace(kind, source.folder);
      const job = jobFile(source, source.job(place.into, { name: `alone-${kind}-${round}` }));
      for (;;) {
        const worker = startWorker({ engine: null, job, keys: source.keys }, place.env);
        const isOver = left > 0 ? setTimeout(300 + Math.random() * 1_500, 'kill' as const) : null;
        const first = await Promise.race([worker.gone, ...(isOver === null ? [] : [isOver])]);
        if (first === 'kill') {
          worker.child.kill('SIGKILL');
          await worker.gone;
          left -= 1;
          tally.happened('kills');
        } else {
          expect(first, worker.errors.join('\n')).toBe(0);
          break;
        }
      }

      await compare(tally, source, place);
    }, 600_000);
  }
});

test.each(kinds)('of many, into %s', async (kind) => {
  for (let left = kills, round = 0; left > 0; round += 1) {
    await tally.run(async () => {
      const [url, place] = await Promise.all([database(), newPlace(kind, source.folder)]);
      const name = `many-${kind}-${round}`;
      const job = jobFile(source, source.job(place.into, { name }));
      const start = () => startWorker({ engine: url, job, keys: source.keys, slots: 2 }, place.env);
      const workers: RunningWorker[] = [start(), start(), start()];
      for (let of = Math.min(left, 12); of > 0; of -= 1) {
        await setTimeout(400 + Math.random() * 800);
        const at = Math.floor(Math.random() * workers.length);
        const victim = workers[at];
        if (victim?.child.exitCode === null) {
          victim.child.kill('SIGKILL');
          left -= 1;
          tally.happened('kills');
        }
        workers[at] = start();
      }

      await allDone(workers, url, name, source);
      await compare(tally, source, place);
    }, 600_000);
  }
});
