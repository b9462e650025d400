import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { startNats } from '@call-attribution/test-tools/nats';
import { describe, expect, inject, test } from 'vitest';
import { type Board, openBoard } from '../../src/index.ts';
import { until } from '../board-laws.ts';

const cuts = rounds(20, 600);

/** Passes bytes on to a server, until it is to cut all connections: in one direction first, so that answers are lost. */
async function startProxy(port: number) {
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const socket of pair) socket.on('error', () => undefined);
    near.pipe(far);
    far.pipe(near);
    near.on('close', () => {
      far.destroy();
      pairs.delete(pair);
    });
    far.on('close', () => near.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async cut() {
      const now = [...pairs];
      for (const [near, far] of now) far.unpipe(near);
      await sleep(20);
      for (const [near] of now) near.destroy();
    },
    close: () => server.close(),
  };
}

describe.each(inject('natsUrl') === '' ? [] : ['NATS'])('connections to %s', () => {
  const tally = openDrill({
    name: 'board-cut-connections',
    kind: 'cut connections',
    what: 'Connections to a board are cut while answers are under way; each write is made once, and its writer knows',
  });

  test(`${cuts} cuts`, async () => {
    const nats = await startNats();
    const proxy = await startProxy(Number(new URL(nats.nodes[0]?.url ?? '').port));
    const board = await openBoard(proxy.url, 'cut');
    const truth = await openBoard(nats.url, 'cut');
    let isOver = false;
    const wins = Array.from({ length: 4 }, () => 0);
    let unknown = 0;
    const write = async (on: Board, lane: number): Promise<void> => {
      while (!isOver) {
        const key = `lane.1.${lane}`;
        const entry = on.get(key);
        const value = Number(entry?.value ?? 0) + 1;
        try {
          if ((await on.write(key, value, entry?.revision ?? 0)) !== null) wins[lane] = (wins[lane] ?? 0) + 1;
        } catch {
          unknown += 1;
        }
      }
    };
    const writing = wins.map((_, lane) => write(board, lane));
    for (let cut = 0; cut < cuts; cut += 1) {
      await sleep(100 + Math.random() * 200);
      await proxy.cut();
      tally.happened('cuts');
    }
    isOver = true;
    await Promise.all(writing);
    await tally.run(async () => {
      for (const [lane, won] of wins.entries()) {
        const key = `lane.1.${lane}`;
        await until(truth, () => Number(truth.get(key)?.value) >= won);
        await until(board, () => board.get(key)?.revision === truth.get(key)?.revision);
        const found = Number(truth.get(key)?.value);
        tally.happened('writes', won);
        tally.add({ lost: Math.max(0, won - found), lied: found > won + unknown ? 1 : 0 });
        if (unknown === 0) expect(found).toBe(won);
      }
      tally.happened('unknown', unknown);
    });
    await board.close();
    await truth.close();
    proxy.close();
    await nats.close();
  });
});
