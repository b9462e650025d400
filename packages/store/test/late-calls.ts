import type { Call } from '@call-attribution/core';
import { expect } from 'vitest';
import { everything, openStore } from '../src/index.ts';
import { smallCall, timeText } from './small-calls.ts';

/**
 * Reads long pages while another connection inserts calls that are earlier than all others, and takes some away. A page
 * must be what the account had at one moment: as many records as its total says, the oldest with the newest.
 */
export async function readDuringLateCalls(
  url: string,
  reads: number,
  callsPerSecond: number,
): Promise<{ runs: number; lost: number; doubled: number; lied: number; inserted: number }> {
  const store = await openStore(url, { sliceRows: 20 });
  const other = await openStore(url);
  await store.putAccount({ id: '1', name: 'late' });
  const fixed = Array.from({ length: 60 }, (_, i) =>
    smallCall(`F${String(i).padStart(3, '0')}`, timeText(1_700_000_000 + i), '1.0'),
  );
  await store.upsert('1', fixed);
  const counts = { runs: 0, lost: 0, doubled: 0, lied: 0, inserted: 0 };
  let isOver = false;
  const writer = (async () => {
    const start = performance.now();
    while (!isOver) {
      const due = Math.floor(((performance.now() - start) / 1_000) * callsPerSecond);
      const late: Call[] = [];
      for (; counts.inserted < due && late.length < 20; counts.inserted += 1)
        late.push(smallCall(`L${counts.inserted}`, timeText(1_600_000_000 - counts.inserted), '1.0'));
      if (late.length > 0) await other.upsert('1', late);
      // Otherwise the pages grow with every read.
      const old = counts.inserted - 40;
      if (old > 0)
        await other.remove(
          '1',
          Array.from({ length: 20 }, (_, i) => `L${old - i}`),
        );
      await new Promise((done) => setTimeout(done, 4));
    }
  })();
  for (; counts.runs < reads; counts.runs += 1) {
    const page = await store.page('1', { selection: everything, version: 'v3', offset: 0, rows: 1_000 });
    const parts: Buffer[] = [];
    for await (const part of Buffer.isBuffer(page.body) ? [page.body] : page.body) {
      parts.push(part);
      // A reader that takes its time.
      if (counts.runs % 50 === 0) await new Promise((done) => setTimeout(done, 10));
    }
    const sids = (JSON.parse(Buffer.concat(parts).toString()) as Call[]).map(({ sid }) => sid);
    const different = new Set(sids);
    counts.doubled += sids.length - different.size;
    counts.lost += fixed.filter(({ sid }) => !different.has(sid)).length;
    if (sids.length !== page.total || sids.length !== page.count) counts.lied += 1;
  }
  isOver = true;
  await writer;
  expect(await store.check()).toEqual([]);
  await store.close();
  await other.close();
  return counts;
}
