import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtFile } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { startNats } from '@call-attribution/test-tools/nats';
import { describe, expect, inject, test } from 'vitest';

const limit = 300;
const accounts = ['file:101.json', 'file:102.json', 'file:103.json'];
const seconds = rounds(70, 300);
const worker = await builtFile(new URL('../fixtures/rate-worker.ts', import.meta.url).href);

describe.each(inject('natsUrl') === '' ? [] : ['NATS'])('rates on %s', () => {
  const tally = openDrill({
    name: 'fleet-rate',
    kind: 'random histories',
    what: `Four workers with 16 slots send to three accounts at ${limit} requests a minute, and one is killed; the server never counts more in any 60 seconds`,
  });

  test(`four workers for ${seconds} seconds`, async () => {
    const nats = await startNats();
    /** When requests of an account arrived, by the clock of the server. */
    const arrivals = new Map(accounts.map((account) => [`/${account}`, [] as number[]]));
    let refused = 0;
    const server = createServer((request, response) => {
      const times = arrivals.get(request.url ?? '') ?? [];
      const now = performance.now();
      const isTooMuch = times.filter((at) => at > now - 60_000).length >= limit;
      if (isTooMuch) refused += 1;
      else times.push(now);
      setTimeout(() => response.writeHead(isTooMuch ? 429 : 200).end(), 100 + Math.random() * 200);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await tally.run(async () => {
      const workers = Array.from({ length: 4 }, () =>
        spawn(process.execPath, [worker, nats.url, base, accounts.join(','), String(limit), '16'], {
          stdio: ['ignore', 'pipe', 'inherit'],
        }),
      );
      await Promise.all(workers.map(({ stdout }) => once(stdout, 'data')));
      await sleep(seconds * 500);
      workers[0]?.kill('SIGKILL');
      await sleep(seconds * 500);
      const ended = workers.slice(1).map((process) => once(process, 'exit'));
      for (const process of workers.slice(1)) process.kill('SIGTERM');
      await Promise.all(ended);
      let busiest = 0;
      for (const times of arrivals.values()) {
        const most = Math.max(
          ...times.map((from, i) => times.slice(i).filter((at) => at < from + 60_000).length),
        );
        tally.happened('requests', times.length);
        busiest = Math.max(busiest, most);
        expect(most).toBeLessThanOrEqual(limit);
        expect(times.length).toBeGreaterThan(0.75 * limit * (seconds / 60));
      }
      tally.happened('busiest minute', busiest);
      tally.happened('refused', refused);
      expect(refused).toBeLessThanOrEqual(2 * Math.ceil(seconds / 70));
    }, 600_000);
    server.close();
    await nats.close();
  });
});
