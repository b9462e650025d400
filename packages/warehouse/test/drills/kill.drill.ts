import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { builtFile } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { expect, test } from 'vitest';
import { openWarehouse } from '../../src/index.ts';
import { rowsOf, stateAt, storedCalls, temporaryFolder } from '../support.ts';

const kills = rounds(12, 100);
/** Kills of the first moments, when the file is created. The others come when something was committed. */
const early = Math.min(10, Math.floor(kills / 3));
const tally = openDrill({
  name: 'warehouse-killed-writer',
  kind: 'kills',
  what: 'A process that fills a warehouse is killed with SIGKILL; each acknowledged call is there once, and the state of the sync says no more than that',
});

test('kill -9 at any moment loses no committed call and leaves a file that opens', async () => {
  const writer = await builtFile(new URL('../fixtures/writer.ts', import.meta.url).href);
  const path = join(temporaryFolder(), 'calls.duckdb');
  let next = 0;
  const acknowledged = new Set<number>();
  for (let kill = 0; kill < kills; kill += 1)
    await tally.run(async () => {
      const child = spawn(process.execPath, [writer, path, String(next), String(1 + (kill % 5))], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let text = '';
      child.stdout.on('data', (data: Buffer) => {
        text += data;
      });
      const ended = once(child, 'exit');
      // To the middle of commits and merges.
      if (kill < early) await delay(200 + (kill * 1500) / early);
      else {
        await Promise.race([once(child.stdout, 'data'), ended]);
        await delay(Math.random() * 800);
      }
      child.kill('SIGKILL');
      await ended;
      tally.happened('kills');
      const batches = text.split('\n').slice(0, -1).map(Number);
      for (const batch of batches) acknowledged.add(batch);
      next = (batches.at(-1) ?? next) + 2;

      const warehouse = await openWarehouse(path);
      const found = await storedCalls(warehouse);
      const sids = (await rowsOf(warehouse, 'select sid from calls')).map((row) => String(row.sid));
      tally.compare(
        [...acknowledged].flatMap((batch) => Array.from({ length: 10 }, (_, i) => `S${batch * 10 + i}`)),
        sids,
        sids,
      );
      for (const batch of acknowledged)
        for (let i = 0; i < 10; i += 1)
          expect(found.has(`S${batch * 10 + i}`), `batch ${batch} after kill ${kill}`).toBe(true);
      const [rows] = await rowsOf(warehouse, 'select count(*) as n, count(distinct sid) as sids from calls');
      expect(rows?.n).toBe(rows?.sids);
      // The state of the sync never says more than the calls that are there.
      const sink = warehouse.sink('main');
      const last = stateAt(await sink.load());
      if (last >= 0) expect(found.has(`S${last * 10}`)).toBe(true);
      await warehouse.close();
    });
  expect(acknowledged.size).toBeGreaterThan(kills / 2);
}, 3_600_000);
