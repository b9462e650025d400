import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { testStores } from '@call-attribution/test-tools';
import { describe, expect, test } from 'vitest';
import { openStore, querySql, type SqlRow } from '../src/index.ts';
import { openAt } from './small-calls.ts';

const calls = fixtureCalls(400) as Call[];

async function rowsOf(
  url: string,
  sql: string,
  options: Parameters<typeof querySql>[2] = {},
): Promise<SqlRow[]> {
  const rows: SqlRow[] = [];
  for await (const row of await querySql(url, sql, options)) rows.push(row);
  return rows;
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
setFlagsFromString('--no-expose-gc');

/** A statement that takes minutes. */
const endless = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000000000) select count(*) from n`;

describe.each(testStores())('SQL over a $kind store', ({ kind, newUrl }) => {
  const filled = async () => {
    const url = await newUrl();
    await using store = await openAt(url);
    await store.upsert('101', calls);
    return url;
  };

  test('rows come in order, with types that fit', async () => {
    const url = await filled();
    const result = await querySql(
      url,
      'select date_added, sid, talk_minutes, pool_id, call_duration from calls order by date_added, sid;',
    );
    const rows: SqlRow[] = [];
    for await (const row of result) rows.push(row);
    const wanted = calls
      .map(({ date_added, sid, talk_minutes, pool_id, call_duration }) => ({
        date_added,
        sid,
        talk_minutes: talk_minutes === null ? null : Number(talk_minutes),
        pool_id: pool_id === null ? null : Number(pool_id),
        call_duration: Number(call_duration),
      }))
      .sort((a, b) => (a.date_added + a.sid < b.date_added + b.sid ? -1 : 1));
    expect(rows).toEqual(wanted);
    expect(result.columns.slice(1)).toEqual([
      { name: 'sid', type: 'string' },
      { name: 'talk_minutes', type: 'decimal' },
      { name: 'pool_id', type: 'integer' },
      { name: 'call_duration', type: 'integer' },
    ]);
  });

  test.each([
    ['VALUES', 'values (1), (2)', 2],
    ['WITH', 'with own as (select * from calls) select count(*) from own', 1],
    ['a comment before it', '-- all\n/* of them */ select * from calls', 400],
    [
      'in parentheses',
      kind === 'sqlite' ? 'select 1' : '(select 1) union all (select 2)',
      kind === 'sqlite' ? 1 : 2,
    ],
    ['none', 'select * from calls where 1 = 0', 0],
  ])('a statement that reads: %s', async (_, sql, count) => {
    expect(await rowsOf(await filled(), sql)).toHaveLength(count);
  });

  test('columns of one name are told apart, large integers keep their digits, and no more rows come than are wanted', async () => {
    const url = await filled();
    expect(
      await rowsOf(url, 'select 1 as a, 2 as a, 9007199254740993 as big, null as none'),
    ).toEqual([{ a: 1, 'a:1': 2, big: '9007199254740993', none: null }]);
    expect(await rowsOf(url, 'select sid from calls order by sid desc', { most: 3 })).toEqual(
      calls
        .map(({ sid }) => ({ sid }))
        .sort((a, b) => (a.sid < b.sid ? 1 : -1))
        .slice(0, 3),
    );
    expect((await rowsOf(url, 'explain select * from calls')).length).toBeGreaterThan(0);
  });

  test.each([
    ['delete from records'],
    ['with gone as (select 1) delete from records'],
    ['delete from records returning sid'],
    ['select 1; delete from records'],
    ['select 1) ; delete from records; --'],
    ['drop view calls'],
    ['begin'],
    ['set transaction read write'],
    ["attach 'other.db' as other"],
    ['explain select 1; delete from records'],
    ['pragma query_only = off'],
    [''],
  ])('what does more than read is refused, and nothing is changed: %s', async (sql) => {
    const url = await filled();
    await expect(rowsOf(url, sql)).rejects.toMatchObject({
      name: 'StoreError',
      code: 'invalid_sql',
      hint: expect.stringContaining(/^(delete|drop|set)/.test(sql) ? 'calls store purge' : ''),
    });
    expect(await rowsOf(url, 'select count(*) as n from calls')).toEqual([{ n: 400 }]);
  });

  if (kind === 'postgres')
    test.each([
      ['with gone as (delete from records returning sid) select * from gone'],
      ['explain analyze delete from records'],
      ["select set_config('transaction_read_only', 'off', false)"],
    ])('PostgreSQL refuses it itself: %s', async (sql) => {
      const url = await filled();
      await expect(rowsOf(url, sql)).rejects.toMatchObject({
        name: 'StoreError',
        code: 'invalid_sql',
      });
      expect(await rowsOf(url, 'select count(*) as n from calls')).toEqual([{ n: 400 }]);
    });

  test('a mistake is one sentence that names it', async () => {
    const url = await filled();
    await expect(rowsOf(url, 'select ppc_campain from calls')).rejects.toMatchObject({
      code: 'invalid_sql',
      message: expect.stringMatching(/^The SQL has a mistake: .*ppc_campain.*\./),
    });

    for (const [column, meant] of [
      ['ppc_campaing', 'ppc_campaign'],
      ['campaign', 'ppc_campaign'],
      ['calls.keywrod', 'ppc_keywords'],
    ])
      await expect(rowsOf(url, `select ${column} from calls`)).rejects.toMatchObject({
        hint: expect.stringMatching(new RegExp(`^Did you mean .*\\b${meant}\\b`)),
      });

    await expect(rowsOf(url, 'select zebra from calls')).rejects.toMatchObject({
      hint: 'The view calls has a column for each field: calls fields lists them.',
    });
    await expect(rowsOf(url, 'select from where')).rejects.toMatchObject({ code: 'invalid_sql' });
  });

  test('a long statement is ended by its time limit, and by a signal', async () => {
    const url = await filled();
    await expect(rowsOf(url, endless, { timeLimit: '300ms' })).rejects.toMatchObject({
      code: 'time_limit',
    });
    const stop = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => stop.abort(reason), 300);
    await expect(rowsOf(url, endless, { signal: stop.signal })).rejects.toBe(reason);
    await expect(rowsOf(url, 'select 1', { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    const early = new AbortController();
    const ended = rowsOf(url, endless, { signal: early.signal });
    early.abort(reason);
    await expect(ended).rejects.toBe(reason);
  });

  test('what is collected as garbage does not wait for a long statement', async () => {
    const url = await filled();
    const collecting = setInterval(collectGarbage, 20);
    try {
      await expect(rowsOf(url, endless, { timeLimit: '300ms' })).rejects.toMatchObject({
        code: 'time_limit',
      });
    } finally {
      clearInterval(collecting);
    }
  });

  test('where there is no store, nothing is made', async () => {
    const url = await newUrl();
    await expect(rowsOf(url, 'select 1')).rejects.toMatchObject({ code: 'store_missing' });
    await expect(openStore(url, { readOnly: true })).rejects.toMatchObject({
      code: 'store_missing',
    });

    if (kind === 'sqlite') expect(existsSync(url.slice('sqlite:'.length))).toBe(false);
    else
      await expect(openStore(url, { readOnly: true })).rejects.toMatchObject({
        code: 'store_missing',
      });
  });

  test('a store that is opened to read reads, writes nothing, and leaves nothing beside a file', async () => {
    const url = await filled();
    {
      await using store = await openStore(url, { readOnly: true });
      expect(await store.count('101')).toBe(400);
      await expect(store.putAccount({ id: '102', name: 'Two' })).rejects.toMatchObject({
        name: 'StoreError',
      });
      await expect(store.remove('101', [calls[0]?.sid ?? ''])).rejects.toMatchObject({
        name: 'StoreError',
      });
      expect(await store.accounts()).toHaveLength(1);
    }
    await rowsOf(url, 'select 1');
    if (kind === 'postgres') return;
    const file = url.slice('sqlite:'.length);
    const beside = readdirSync(dirname(file)).filter((name) =>
      name.startsWith(`${basename(file)}-`),
    );
    expect(beside).toEqual([]);
  });
});
