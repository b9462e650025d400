import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Call } from '@call-attribution/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore, querySql, type Store } from '../src/index.ts';

// A store of commit 91200a88, made with libsql: a table of accounts, calls with hostile values, an
// erased caller, a claim with a note, a journal. Its writer was killed, so that the last five calls
// of account 102 are in the log alone.
const made = new URL('./fixtures/made-by-91200a88/', import.meta.url);
const read = (name: string) => gunzipSync(readFileSync(new URL(`${name}.gz`, made)));

interface Line {
  readonly account: string;
  readonly call: Call;
}

const lines = read('calls.ndjson')
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Line);
const callsOf = (account: string) =>
  lines.filter((line) => line.account === account).map(({ call }) => call);

/** Fields of later releases, which the file does not have, may be there besides. */
const having = (calls: readonly Call[]) => calls.map((call) => expect.objectContaining(call));

let folder: string;
let url: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'store-earlier-'));
  const file = join(folder, 'calls.db');
  url = `sqlite:${file}`;
  writeFileSync(file, read('calls.db'));
  writeFileSync(`${file}-wal`, read('calls.db-wal'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function all(store: Store, account: string): Promise<Call[]> {
  const calls: Call[] = [];
  for await (const call of store.calls(account)) calls.push(call);
  return calls;
}

describe('a file that an earlier release made', () => {
  test('has every call as it was stored, also what its writer left in the log', async () => {
    await using store = await openStore(url);
    expect(await all(store, '101')).toEqual(having(callsOf('101')));
    expect(await all(store, '102')).toEqual(having(callsOf('102')));
    expect(callsOf('102')).toHaveLength(7);
    expect(await store.accounts()).toEqual([
      { id: '101', name: 'Harbor Dental', disabled: false },
      { id: '102', name: 'Second', disabled: true },
    ]);
    expect(await store.note('101')).toMatchObject({ note: { a: 'note' } });
    const journal = store.journal('uploads');
    const entries: string[] = [];
    for await (const entry of journal.read()) entries.push(entry);
    expect(entries).toEqual(['{"line":1}', '{"line":"zwei ü"}']);
  });

  test('is written on: nothing changes that is written again, and who was erased stays away', async () => {
    await using store = await openStore(url);
    const calls = callsOf('101');
    expect(await store.upsert('101', calls)).toMatchObject({ added: 0, changed: 0 });
    const changed = { ...calls[5], city: 'Galena' } as Call;
    const added = { ...calls[5], sid: 'new' } as Call;
    const erased = { ...calls[5], sid: 'erased', ani: '5555550128' } as Call;
    expect(await store.upsert('101', [changed, added, erased])).toEqual({
      stored: 2,
      added: 1,
      changed: 1,
      leftOut: 1,
    });
    expect(await store.get('101', changed.sid)).toMatchObject(changed);
    const claim = await store.claim('101', 'test');
    expect(claim.note).toEqual({ a: 'note' });
    await store.commitClaimed(claim, { calls: [], note: { another: 'note' } });
    expect(await store.note('101')).toMatchObject({ note: { another: 'note' } });
  });

  test('answers SQL', async () => {
    await (await openStore(url)).close();
    const sql = 'select account, count(*) as calls from calls group by 1 order by 1';
    const rows: unknown[] = [];
    for await (const row of await querySql(url, sql)) rows.push(row);
    expect(rows).toEqual([
      { account: '101', calls: 68 },
      { account: '102', calls: 7 },
    ]);
  });
});
