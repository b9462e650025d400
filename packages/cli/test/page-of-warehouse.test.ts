import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixtureCalls } from '@call-attribution/core/testing';
import { createService } from '@call-attribution/service';
import { openWarehouse, type Warehouse } from '@call-attribution/warehouse';
import { expect, test } from 'vitest';
import { warehousePage } from '../src/serving/page-source.ts';

test('a client that leaves the page ends the statement that DuckDB runs for it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'page-of-warehouse-'));
  const warehouse = await openWarehouse(join(folder, 'calls.duckdb'));
  await warehouse.load('101', fixtureCalls(10));
  const client = new AbortController();
  let ended: (why: unknown) => void = () => {};
  const end = new Promise((done) => {
    ended = done;
  });
  // It would run for hours.
  const statement = 'SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000) c';
  const slow: Warehouse = {
    ...warehouse,
    async analyzeAll([question]) {
      setTimeout(() => client.abort(), 50);
      try {
        for await (const _ of await warehouse.query(statement, { signal: question?.signal }));
      } catch (error) {
        ended(error);
      }
      return [];
    },
  };
  const source = warehousePage(slow, async () => ({ id: 'w', name: 'W', disabled: false }));
  const service = createService({ store: null, page: { source } });
  const { url } = await service.listen();
  const headers = { authorization: 'Bearer b' };
  const asked = fetch(`${url}/page/summary.ndjson`, { headers, signal: client.signal });
  await expect(asked).rejects.toThrow();
  expect(await end).toMatchObject({ code: 'aborted' });
  await service.close();
  await warehouse.close();
  rmSync(folder, { recursive: true });
});
