import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import type { SyncBatch, SyncState } from '@call-attribution/node-stream';
import { onTestFinished } from 'vitest';
import { openWarehouse, type Warehouse, type WarehouseOptions } from '../src/index.ts';

const shared: (() => Promise<void> | void)[] = [];

/** Runs when the test at work is finished. Between tests it is left to `cleanUp`. */
function atEnd(work: () => Promise<void> | void): void {
  try {
    onTestFinished(() => work());
  } catch {
    shared.push(work);
  }
}

/** Closes and deletes what the tests of a file share. Such a file registers it with `afterAll`. */
export async function cleanUp(): Promise<void> {
  for (const work of shared.splice(0).reverse()) await work();
}

/** A folder that is deleted when the test, or the file that shares it, is done. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'warehouse-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let count = 0;
let template: Promise<Buffer> | undefined;

/** An empty warehouse as bytes: copies of it save most of the time that making one takes. */
async function emptyFile(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'warehouse-'));
  const path = join(folder, 'empty.duckdb');
  await (await openWarehouse(path)).close();
  const bytes = readFileSync(path);
  rmSync(folder, { recursive: true });
  return bytes;
}

/** An empty warehouse in a folder of its own, closed when the test, or the file that shares it, is done. */
export async function testWarehouse(
  options: WarehouseOptions = {},
): Promise<{ warehouse: Warehouse; path: string }> {
  const path = join(temporaryFolder(), `calls-${count++}.duckdb`);
  template ??= emptyFile();
  writeFileSync(path, await template);
  const warehouse = await openWarehouse(path, options);
  atEnd(() => warehouse.close());
  return { warehouse, path };
}

const [plain] = fixtureCalls(1) as [Call];

/** A call with every field, and those that are given. */
export function call(sid: string, values: Readonly<Record<string, unknown>> = {}): Call {
  return { ...plain, sid, ...values } as Call;
}

/** The state of a sync, as it is committed: at the end of a run, or in it. `at` is when the latest call came. */
export function syncState(
  isLast: boolean,
  entries = 0,
  at: number | null = null,
): Pick<SyncBatch, 'state' | 'isLast'> {
  const seen = Array.from({ length: entries }, (_, i) => [`S${i}`, '2024-01-01 00:00:00', 'hash'] as const);
  const latest = at === null ? null : formatNaive(at * 1000);
  const none = { asked: [], stretches: [], firsts: [], countedTo: null, paged: null };
  const part = { version: 'v3', filter: '', latest, ...none } as const;
  return { state: { version: 2, account: null, parts: [part], seen }, isLast };
}

/** What `at` was of a state. */
export const stateAt = (state: SyncState | null): number =>
  parseNaive(state?.parts[0]?.latest ?? '1969-12-31 23:59:59') / 1000;

/** The text of a lock, as a process that has ended left it. */
export const ofEndedProcess = (lock: string): string =>
  JSON.stringify({ ...JSON.parse(lock), pid: 999_999_999, began: '1' });

/** All rows of a statement. */
export async function rowsOf(warehouse: Warehouse, sql: string): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  for await (const row of await warehouse.query(sql)) rows.push({ ...row });
  return rows;
}

/** The calls of a warehouse, or of one account, by sid. */
export async function storedCalls(warehouse: Warehouse, account?: string): Promise<Map<unknown, Call>> {
  const calls = new Map<unknown, Call>();
  const query = account === undefined ? {} : { accounts: [account] };
  for await (const each of warehouse.calls(query)) calls.set(each.sid, each);
  return calls;
}
