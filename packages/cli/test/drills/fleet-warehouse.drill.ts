import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { openDrill } from '@call-attribution/test-tools/drill';
import { openWarehouse } from '@call-attribution/warehouse';
import { afterAll, expect, inject, test } from 'vitest';
import { openStage } from '../stage.ts';

openDrill({
  name: 'fleet-into-warehouse',
  kind: 'whole programs',
  what: 'Files that a fleet has written are loaded into a warehouse; it has the calls of a sync and of an export',
  countTests: true,
});

const stage = openStage();
afterAll(() => stage.close());

test('Parquet files of a fleet load into a warehouse, which then has the calls of a sync and of an export', async () => {
  const cwd = stage.folder();
  const keys = { accessKey: stage.env.CALLS_ACCESS_KEY, secretKey: stage.env.CALLS_SECRET_KEY };
  writeFileSync(join(cwd, '101.json'), JSON.stringify(keys), { mode: 0o600 });
  const job = {
    ...{ name: 'history', baseUrl: stage.url, accounts: [{ id: '101' }], filter: 'inc_gce:1' },
    ...{ into: 'folder:out', format: 'parquet' },
  };
  writeFileSync(join(cwd, 'job.json'), JSON.stringify(job));
  const worked = await stage.quick(['fleet', 'work', 'job.json', '--keys', '.'], { cwd });
  expect(worked).toMatchObject({ code: 0 });

  const env = { CALLS_BEARER_TOKEN: inject('callsToken') };
  const calls = (args: readonly string[]) => stage.quick(args, { cwd, env });
  expect(await calls(['sync', '--store', 'duckdb:synced.duckdb'])).toMatchObject({ code: 0 });
  const exported = ['export', '--partition', 'month', '--include-extensions', '-o', 'exported'];
  expect(await calls([...exported, '--store', 'duckdb:synced.duckdb'])).toMatchObject({ code: 0 });
  // The months of both; one without calls has a file too.
  const months = (folder: string) =>
    readdirSync(join(cwd, folder, 'account=101')).flatMap(
      (name) => /month=\d{4}-\d{2}/.exec(name)?.[0] ?? [],
    );
  expect(months('out')).toEqual(expect.arrayContaining(months('exported')));

  await using fromFleet = await openWarehouse(join(cwd, 'fleet.duckdb'));
  await using fromSync = await openWarehouse(join(cwd, 'synced.duckdb'));
  expect(await fromFleet.loadParquet(join(cwd, 'out'))).toEqual([
    { account: '101', stored: 600, leftOut: 0, added: 600, changed: 0 },
  ]);
  const all = (from: typeof fromSync) => Readable.from(from.calls()).toArray();
  const bySid = (found: readonly { sid: string }[]) => [...found].sort((a, b) => (a.sid < b.sid ? -1 : 1));
  expect(bySid(await all(fromFleet))).toEqual(bySid(await all(fromSync)));
  // Loading it again changes nothing.
  await fromFleet.loadParquet(join(cwd, 'out'));
  expect(await all(fromFleet)).toHaveLength(600);
});
