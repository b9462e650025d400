import { setTimeout as sleep } from 'node:timers/promises';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { startNats } from '@call-attribution/test-tools/nats';
import { describe, expect, inject, test } from 'vitest';
import { type Board, openBoard } from '../../src/index.ts';
import { until } from '../board-laws.ts';

const outages = rounds(3, 40);
const clients = 4;

/** What one client heard of its writes: made, or perhaps made. Each client has an entry of its own and a common one. */
interface Heard {
  made: number;
  perhaps: number;
}

/** Counts an entry up until the end, whatever happens to the server. */
async function countUp(board: Board, key: string, heard: Heard, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const entry = board.get(key);
    const value = (entry?.value as { count: number } | undefined)?.count ?? 0;
    try {
      if ((await board.write(key, { count: value + 1 }, entry?.revision ?? 0)) !== null) heard.made += 1;
    } catch {
      heard.perhaps += 1;
    }
    await sleep(2);
  }
}

const counted = (board: Board, key: string): number =>
  (board.get(key)?.value as { count: number } | undefined)?.count ?? 0;

describe.each(inject('natsUrl') === '' ? [] : ([1, 3] as const))('%i NATS servers', (nodes) => {
  const tally = openDrill({
    name: `board-outages-${nodes}`,
    kind: 'kills',
    what: `${nodes === 1 ? 'A NATS server is' : `Each of ${nodes} NATS servers is`} killed and started again${nodes === 1 ? '' : ' in turn'} while workers write; live copies end equal, and a count is the sum of its writes`,
  });

  test(`${outages} kills`, async () => {
    const nats = await startNats({ nodes });
    const boards = await Promise.all(Array.from({ length: clients }, () => openBoard(nats.url, 'outages')));
    let isOver = false;
    const own = boards.map(() => ({ made: 0, perhaps: 0 }));
    const common = { made: 0, perhaps: 0 };
    const counting = boards.flatMap((board, i) => [
      countUp(board, `worker.${i}`, own[i] as Heard, () => isOver),
      countUp(board, 'job', common, () => isOver),
    ]);
    for (let outage = 0; outage < outages; outage += 1) {
      await sleep(nodes === 1 ? 500 : 4_000);
      const node = nats.nodes[outage % nodes];
      await node?.kill();
      tally.happened('kills');
      await sleep(nodes === 1 ? 1_000 : 3_000);
      await node?.start();
    }
    await sleep(nodes === 1 ? 1_000 : 8_000);
    isOver = true;
    await Promise.all(counting);
    // A cluster that loses its leader may forget a write that it has acknowledged: the target must not rely on the board.
    const count = (made: number, found: number): void => {
      const missing = Math.max(0, made - found);
      if (nodes === 1) tally.add({ lost: missing });
      else tally.happened('forgotten', missing);
    };
    await tally.run(async () => {
      const truth = await openBoard(nats.url, 'outages');
      for (const { key, revision, value } of truth.entries(''))
        for (const [i, board] of boards.entries()) {
          // The comparison says which revision it has instead.
          await until(board, () => board.get(key)?.revision === revision).catch(() => {});
          expect([i, key, board.get(key)?.revision]).toEqual([i, key, revision]);
          expect(board.get(key)?.value).toEqual(value);
        }
      for (const [i, { made, perhaps }] of own.entries()) {
        const found = counted(truth, `worker.${i}`);
        tally.happened('writes', made);
        tally.happened('unknown', perhaps);
        count(made, found);
        tally.add({ lied: Math.max(0, found - made - perhaps) });
      }
      const found = counted(truth, 'job');
      tally.happened('writes', common.made);
      tally.happened('unknown', common.perhaps);
      // It may be more: a write whose answer was lost, and that others have written over since, counts as lost to them.
      count(common.made, found);
      expect(boards.every((board) => board.contactSince !== null)).toBe(true);
      await truth.close();
    });
    await Promise.all(boards.map((board) => board.close()));
    await nats.close();
  });
});

test.runIf(inject('natsUrl') !== '')(
  'all data lost: workers see an empty board, and write to it again',
  async () => {
    const nats = await startNats();
    const [one, two] = [await openBoard(nats.url, 'lost'), await openBoard(nats.url, 'lost')];
    let revision = 0;
    for (let i = 0; i < 50; i += 1) revision = (await one.write('job', { i }, revision))?.revision ?? 0;
    await nats.nodes[0]?.kill();
    nats.nodes[0]?.removeData();
    await nats.nodes[0]?.start();
    await until(one, () => one.get('job') === undefined);
    await until(two, () => two.get('job') === undefined);
    const again = await two.write('job', { i: -1 }, 0);
    expect(again?.revision).toBeLessThan(revision);
    await until(one, () => one.get('job')?.revision === again?.revision);
    await one.close();
    await two.close();
    await nats.close();
  },
);
