import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { testStores } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { startNats, type TestNats } from '@call-attribution/test-tools/nats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Link, openLink } from './scene/link.ts';
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
  name: 'fleet-cut-off',
  kind: 'cut connections',
  what: 'One worker loses its board or its target while others work, over and over; it waits and comes back, and every record is there once',
});
const cuts = rounds(3, 60);

let source: Source;
let nats: TestNats;
const folder = mkdtempSync(join(tmpdir(), 'fleet-cut-'));
beforeAll(async () => {
  [source, nats] = await Promise.all([openSource({ accounts: 3, records: 9000, latency: 40 }), startNats()]);
});
afterAll(async () => {
  await nats.close();
  await source[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Cuts and restores a link while two workers work, one of them over it. */
async function cutAgainAndAgain(
  name: string,
  link: Link,
  { boardUrl, into, found = into }: { boardUrl: string; into: string; found?: string },
): Promise<void> {
  const job = source.job(name, into);
  const board = await watchBoard(nats.url, name);
  await plan(board, job, source.keys);
  const workers: RunningWorker[] = [boardUrl, nats.url].map((url) =>
    startWorker({ board: url, job: name, keys: source.keys }, { ttl: 2000 }),
  );
  while (!workers.every(({ events }) => events.some(({ kind }) => kind === 'parcel'))) await delay(20);
  let isDone = false;
  const done = untilDone(board).then(() => {
    isDone = true;
  });
  for (let cut = 0; cut < cuts && !isDone; cut += 1) {
    link.cut();
    tally.happened('cuts');
    await delay(300 + Math.random() * 3000);
    link.restore();
    await Promise.race([done, delay(300 + Math.random() * 1000)]);
  }
  link.restore();
  await done;
  await endAll(workers);
  expect(accountsOn(board).map(({ phase }) => phase)).toEqual(['final', 'final', 'final']);
  await compare(tally, source, found);
  countParcels(tally, workers);
}

test('a worker that is cut off from NATS', () =>
  tally.run(async () => {
    const link = await openLink({ port: Number(new URL(nats.url).port), host: '127.0.0.1' });
    const into = `folder:${join(folder, 'board')}`;
    await cutAgainAndAgain('no-board', link, { boardUrl: `nats://127.0.0.1:${link.port}`, into });
    await link.close();
  }));

const stores = testStores().filter(({ kind }) => kind === 'postgres');

describe.each(stores)('a worker that is cut off from its target', ({ newUrl }) => {
  test('in PostgreSQL', () =>
    tally.run(async () => {
      const url = new URL(await newUrl());
      const host = url.searchParams.get('host');
      const link = await openLink(
        host === null
          ? { port: Number(url.port || 5432), host: url.hostname }
          : { path: join(host, '.s.PGSQL.5432') },
      );
      const over = new URL(url);
      over.searchParams.delete('host');
      over.hostname = '127.0.0.1';
      over.port = String(link.port);
      await cutAgainAndAgain('no-target', link, { boardUrl: nats.url, into: over.href, found: url.href });
      await link.close();
    }));
});
