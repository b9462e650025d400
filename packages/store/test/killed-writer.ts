import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { builtFile } from '@call-attribution/test-tools';
import { Tally } from '@call-attribution/test-tools/drill';
import { expect } from 'vitest';
import { openStore } from '../src/index.ts';

const writer = await builtFile(new URL('./fixtures/endless-writer.ts', import.meta.url).href);

/**
 * Runs the writer, kills it some time after its n-th batch, and returns the last batch that was
 * acknowledged.
 */
async function writeAndKill(url: string, from: number, batches: number): Promise<number> {
  const child = spawn(process.execPath, [writer, url, String(from)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = new Promise((done) => child.once('exit', done));
  let last = from - 1;
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line);
    // Killed from outside, between two batches or during one. Lines that still arrive were
    // acknowledged too.
    if (last === from + batches) setTimeout(() => child.kill('SIGKILL'), last % 5);
  }

  await gone;
  return last;
}

const sidsUpTo = (batch: number): string[] =>
  Array.from({ length: (batch + 1) * 10 }, (_, i) => `S${i}`);

/**
 * Kills a writer again and again. No acknowledged batch may be missing, no batch may be there in
 * part, counts stay exact.
 */
export async function killWriters(url: string, kills: number, tally = new Tally()): Promise<void> {
  const store = await openStore(url);
  await store.putAccount({ id: '1', name: 'drill' });
  let acknowledged = -1;
  for (let kill = 0; kill < kills; kill += 1)
    await tally.run(async () => {
      acknowledged = await writeAndKill(url, acknowledged + 1, 5 + (kill % 4) * 3);
      const found = await store.note('1');
      tally.happened('kills');
      const { batch } = (found as { note: unknown }).note as { batch: number };
      const sids: string[] = [];
      for await (const { sid } of store.calls('1')) sids.push(sid);
      tally.compare(sidsUpTo(acknowledged), sids, sidsUpTo(batch));

      // The batch in progress may or may not have been committed.
      expect([acknowledged, acknowledged + 1]).toContain(batch);
      expect(await store.count('1')).toBe((batch + 1) * 10);
      acknowledged = batch;
    });

  await store.close();
}
