import type { Call } from '@call-attribution/core';
import { Tally } from '@call-attribution/test-tools/drill';
import { expect } from 'vitest';
import { openStore } from '../src/index.ts';
import { smallCall, timeText } from './small-calls.ts';

/**
 * Reads long pages while another connection inserts calls that are earlier than all others, and
 * takes some away. A page must be what the account had at one moment: as many records as its total
 * says, the oldest with the newest.
 */
export async function readDuringLateCalls(
  url: string,
  reads: number,
  callsPerSecond: number,
  tally = new Tally(),
): Promise<void> {
  const store = await openStore(url);
  const other = await openStore(url);
  await store.putAccount({ id: '1', name: 'late' });
  const fixed = Array.from({ length: 60 }, (_, i) =>
    smallCall(`F${String(i).padStart(3, '0')}`, timeText(1_700_000_000 + i), '1.0'),
  );
  await store.upsert('1', fixed);
  let inserted = 0;
  let isOver = false;
  const writer = (async () => {
    const start = performance.now();
    while (!isOver) {
      const due = Math.floor(((performance.now() - start) / 1_000) * callsPerSecond);
      const late: Call[] = [];
      for (; inserted < due && late.length < 20; inserted += 1)
        late.push(smallCall(`L${inserted}`, timeText(1_600_000_000 - inserted), '1.0'));
      if (late.length > 0) await other.upsert('1', late);
      // Otherwise the pages grow with every read.
      const old = inserted - 40;
      if (old > 0)
        await other.remove(
          '1',
          Array.from({ length: 20 }, (_, i) => `L${old - i}`),
        );
      await new Promise((done) => setTimeout(done, 4));
    }
  })();
  for (let read = 0; read < reads; read += 1)
    await tally.run(async () => {
      const page = await store.page('1', {
        selection: {},
        version: 'v3',
        offset: 0,
        rows: 1_000,
      });
      const sids = (JSON.parse(String(page.body)) as Call[]).map(({ sid }) => sid);

      // Where the database works in this thread, the writer waits for a pause.
      if (read % 5 === 0) await new Promise((done) => setTimeout(done, 10));
      tally.compare(
        fixed.map(({ sid }) => sid),
        sids,
        [...fixed.map(({ sid }) => sid), ...sids.filter((sid) => sid.startsWith('L'))],
      );
      expect({ total: page.total, count: page.count }).toEqual({
        total: sids.length,
        count: sids.length,
      });
    });

  isOver = true;
  await writer;
  await store.close();
  await other.close();
  tally.happened('late calls', inserted);
}
