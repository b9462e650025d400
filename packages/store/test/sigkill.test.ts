import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { builtFile, testStores } from '@call-attribution/test-tools';
import { describe, expect, test } from 'vitest';
import { everything, openStore } from '../src/index.ts';

const stores = await testStores();
const writer = await builtFile(new URL('./fixtures/endless-writer.ts', import.meta.url).href);
const drills = Number(process.env.CALLS_DRILLS ?? 4);

/** Runs the writer, kills it some time after its n-th batch, and gives the last batch it was told to be safe. */
async function writeAndKill(url: string, from: number, batches: number): Promise<number> {
  const child = spawn(process.execPath, [writer, url, String(from)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = new Promise((done) => child.once('exit', done));
  let last = from - 1;
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line);
    // Killed from outside, between two batches or in the midst of one; what still comes was acknowledged too.
    if (last === from + batches) setTimeout(() => child.kill('SIGKILL'), last % 5);
  }
  await gone;
  return last;
}

describe.each(stores)('a $kind store', ({ newUrl }) => {
  test('loses no acknowledged batch when its writer is killed, and keeps its counts exact', {
    timeout: 60_000,
  }, async () => {
    const url = await newUrl();
    const store = await openStore(url);
    await store.putAccount({ id: '1', name: 'drill' });
    let acknowledged = -1;
    for (let drill = 0; drill < drills; drill += 1) {
      acknowledged = await writeAndKill(url, acknowledged + 1, 5 + drill * 3);
      const { batch } = (await store.syncState('1')) as { batch: number };
      // The batch under way may or may not have made it; none before it may be missing, and never a part of one.
      expect([acknowledged, acknowledged + 1]).toContain(batch);
      expect(await store.count('1', everything)).toBe((batch + 1) * 10);
      expect(await store.check()).toEqual([]);
      acknowledged = batch;
    }
    await store.close();
  });
});
