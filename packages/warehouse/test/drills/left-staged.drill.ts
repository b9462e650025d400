import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import type { SyncState } from '@call-attribution/node-stream';
import { openDrill } from '@call-attribution/test-tools/drill';
import { expect, test } from 'vitest';
import { openWarehouse } from '../../src/index.ts';
import { call, ofEndedProcess, syncState, temporaryFolder } from '../support.ts';

openDrill({
  name: 'left-staged',
  kind: 'kills',
  what: 'A process is killed with calls staged; they are stored later, are as fresh as their sync, and keep nobody from asking',
  countTests: true,
});

/** A warehouse as a killed process leaves it, with these calls and the state of a finished sync staged. */
async function leftBehind(account: string, calls: Call[], at: number): Promise<string> {
  const path = join(temporaryFolder(), 'calls.duckdb');
  const warehouse = await openWarehouse(path, { clock: { now: () => at } });
  const sink = warehouse.sink(account);
  await sink.load();
  await sink.commit({ calls, ...syncState(false) });
  const staged = `${path}.staged`;
  const files = readdirSync(staged).map((name) => [name, readFileSync(join(staged, name))] as const);
  await warehouse.close();
  const again = join(temporaryFolder(), 'calls.duckdb');
  await (await openWarehouse(again)).close();
  for (const [name, bytes] of files) {
    let left: string | Buffer = bytes;
    if (name.endsWith('.lock')) left = ofEndedProcess(String(bytes));
    if (name.endsWith('.journal')) left = finished(bytes);
    writeFileSync(join(`${again}.staged`, name), left);
  }
  return again;
}

/** A finished state would have been stored at once. */
function finished(journal: Buffer): string {
  const entry = JSON.parse(journal.toString()) as { commit: { state: SyncState } };
  Object.assign(entry.commit, syncState(true));
  return `${JSON.stringify(entry)}\n`;
}

test('calls that were left staged are as fresh as the sync that brought them', async () => {
  const path = await leftBehind('.odd', [call('a')], Date.UTC(2026, 0, 2, 3, 4, 5));
  const warehouse = await openWarehouse(path);
  expect(await warehouse.lastSync()).toMatchObject([
    { account: '.odd', calls: 1, syncedAt: '2026-01-02T03:04:05.000Z' },
  ]);
  await warehouse.close();
});

test('what cannot be stored for lack of memory keeps nobody from asking, and is stored with more', async () => {
  const long = { search_term: 'x'.repeat(20_000_000) };
  const path = await leftBehind('main', [call('a', long)], Date.UTC(2026, 0, 2));
  const small = await openWarehouse(path, { memory: '25MB' });
  expect((await small.count()).calls).toBe(0);
  await expect(small.sink('main').load()).rejects.toMatchObject({
    code: 'memory_limit',
    message: expect.stringContaining('Storing calls'),
  });
  await small.close();
  const large = await openWarehouse(path);
  expect((await large.count()).calls).toBe(1);
  await large.close();
});
