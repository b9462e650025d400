import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import { builtFile, testStores } from '@call-attribution/test-tools';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore, querySql, type Store } from '../src/index.ts';
import { openAt, runOn, smallCall } from './small-calls.ts';

const call = smallCall('a', '2026-01-01 00:00:00', '1.0', false, { vt_network: 'g', city: 'Peru' });

describe.each(testStores())('a $kind store of another layout', ({ newUrl }) => {
  const made = async () => {
    const url = await newUrl();
    await using store = await openAt(url);
    await store.upsert('101', [call]);
    return url;
  };

  test('columns of new fields are added, and what it has stays', async () => {
    const url = await made();
    await runOn(
      url,
      'DROP VIEW calls',
      'ALTER TABLE records DROP COLUMN vt_network',
      'ALTER TABLE records DROP COLUMN browser',
      "UPDATE meta SET layout = 'of an earlier release'",
    );
    await expect(openStore(url, { readOnly: true })).rejects.toMatchObject({
      code: 'store_url',
      message: expect.stringMatching(
        /lacks the columns vt_network, browser of this release\. Open it to write once/,
      ),
    });
    const stores = await Promise.all([openStore(url), openStore(url)]);
    expect(await stores[0]?.get('101', 'a')).toMatchObject({
      city: 'Peru',
      vt_network: null,
      browser: null,
    });
    expect(await stores[1]?.upsert('101', [call])).toMatchObject({ changed: 1 });
    expect(await stores[0]?.get('101', 'a')).toMatchObject({ vt_network: 'g' });
    for await (const row of await querySql(url, 'select vt_network, browser from calls'))
      expect(row).toEqual({ vt_network: 'g', browser: call.browser });
    for (const store of stores) await store.close();
    await (await openStore(url, { readOnly: true })).close();
  });

  test('of a store that does not count its calls yet, those that it has count', async () => {
    const url = await made();
    await runOn(
      url,
      'ALTER TABLE accounts DROP COLUMN calls',
      "UPDATE meta SET layout = 'of an earlier release'",
    );
    await using store = await openStore(url);
    await store.upsert('101', [{ ...call, sid: 'b' }]);
    expect(await store.tally('101')).toEqual({ rows: 2, written: 2 });
  });

  test('a field that servers sent before a release knew it has its value in every answer afterwards', async () => {
    // What servers sent: values that fit, one that no column holds, and a name of v2.
    const sent: readonly object[] = [
      { vt_network: 'g', call_duration: '25', location_id: 7, mood: 'calm' },
      { vt_network: null, call_duration: '40', location_id: null, mood: null },
      { vt_network: ['g'], call_duration: '4.5', last_touch_timestamp: 'yesterday', mood: 'wild' },
      { last_touch_timestamp: '2025-12-31 10:00:00', baseuri: 'https://example.com/a' },
      {},
    ];
    const learned = [
      'vt_network',
      'call_duration',
      'location_id',
      'last_touch_timestamp',
      'first_touch',
    ];
    const known = Object.entries(call).filter(([name]) => !learned.includes(name));
    const callsWith = (nameOf: (name: string) => string) =>
      Array.from({ length: 603 }, (_, at) => {
        const more = Object.entries(sent[at % sent.length] ?? {});
        const renamed = more.map(([name, value]) => [nameOf(name), value]);
        return { ...Object.fromEntries([...known, ...renamed]), sid: `s${at}` } as Call;
      });
    const calls = callsWith((name) => (name === 'baseuri' ? 'first_touch' : name));
    const accounts = ['101', '102'];
    const fill = async (url: string, some: readonly Call[]) => {
      await using store = await openAt(url);
      await store.putAccount({ id: '102', name: 'Two' });
      for (const account of accounts) await store.upsert(account, some);
    };

    // An earlier release has these values beside its columns, under the names that were sent.
    const url = await newUrl();
    const fresh = await newUrl();
    await fill(
      url,
      callsWith((name) => `old_${name}`),
    );
    await runOn(
      url,
      `UPDATE records SET odd = replace(odd, '"old_', '"')`,
      'DROP VIEW calls',
      ...learned.map((name) => `ALTER TABLE records DROP COLUMN ${name}`),
      "UPDATE meta SET layout = 'of an earlier release'",
    );
    await fill(fresh, calls);

    const answers = async (store: Store, account: string) => {
      const all: Call[] = [];
      for await (const one of store.calls(account)) all.push(one);
      const columns: unknown[] = [];
      for await (const batch of store.columns(account, learned)) columns.push(batch);
      const ranges = [{ field: 'call_duration', from: 20, before: null }];
      return { all, columns, count: await store.count(account, { ranges }) };
    };
    const rowsOf = async (of: string) => {
      const rows: unknown[] = [];
      for await (const row of await querySql(of, 'select * from calls order by account, sid'))
        rows.push({ ...row, stored_at: null, changed_at: null });
      return rows;
    };
    await using store = await openStore(url);
    await using other = await openStore(fresh);
    for (const account of accounts) {
      const found = await answers(store, account);
      expect(found).toEqual(await answers(other, account));
      expect(found.count).toBeGreaterThan(0);
      expect(await store.upsert(account, calls)).toMatchObject({ added: 0, changed: 0 });
    }
    expect(await rowsOf(url)).toEqual(await rowsOf(fresh));
  });

  test.each([
    [
      'a column',
      ['ALTER TABLE records ADD COLUMN mood text'],
      'its table "records" has a column "mood"',
    ],
    ['a table less', ['DROP TABLE erased'], 'it has no table "erased"'],
    [
      'another column less',
      ['ALTER TABLE claims DROP COLUMN note'],
      'its table "claims" has no column "note"',
    ],
    [
      'another type',
      [
        'DROP VIEW calls',
        'ALTER TABLE records DROP COLUMN city',
        'ALTER TABLE records ADD COLUMN city bigint',
      ],
      'the column "city" of its table "records" is bigint, not text',
    ],
    ['no meta table', ['DROP TABLE meta'], 'it has tables of a store, and none "meta"'],
    ['no meta row', ['DELETE FROM meta'], 'its table "meta" is empty'],
  ])('it is refused by the name of the difference: %s', async (_, statements, difference) => {
    const url = await made();
    await runOn(url, "UPDATE meta SET layout = 'other'", ...statements);
    for (const readOnly of [true, false])
      await expect(openStore(url, { readOnly })).rejects.toMatchObject({
        code: 'store_url',
        message: expect.stringContaining(`is not a store of this release: ${difference}`),
      });
  });
});

test.skipIf(process.platform === 'win32')(
  'a file where nothing can be written is read as it is, unless a log belongs to it',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'calls-read-only-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'calls.db');
    const store = await openAt(`sqlite:${file}`);
    await store.upsert('101', [call]);
    const reader = await builtFile(new URL('./fixtures/reader.ts', import.meta.url).href);
    const read = () => String(execFileSync(process.execPath, [reader, `sqlite:${file}`]));
    copyFileSync(`${file}-wal`, join(folder, 'log'));
    await store.close();
    chmodSync(file, 0o444);
    chmodSync(folder, 0o555);
    expect(read()).toBe('1 1 1');
    chmodSync(folder, 0o755);
    copyFileSync(join(folder, 'log'), `${file}-wal`);
    chmodSync(`${file}-wal`, 0o444);
    chmodSync(folder, 0o555);
    expect(read()).toMatch(
      /calls\.db cannot be read where nothing can be written: \S+calls\.db-wal has changes/,
    );
    chmodSync(folder, 0o755);
  },
);
