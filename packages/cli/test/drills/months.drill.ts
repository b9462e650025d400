import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { answerQuestion } from '@call-attribution/questions';
import { openStore } from '@call-attribution/store';
import { openDrill } from '@call-attribution/test-tools/drill';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runQuick } from '../in-process.ts';

openDrill({
  name: 'months',
  kind: 'whole programs',
  what: 'DuckDB asks a folder that calls export --partition month has written; its answers are those of our engine, and the folder has each value as it was sent',
  countTests: true,
});

const months = ['2026-08', '2026-09', '2026-10', '2026-11'];
/** Values that a column has in another form, or cannot hold at all. */
const oddValues: readonly Record<string, unknown>[] = [
  { talk_minutes: '2' },
  { talk_minutes: '1.30' },
  { talk_minutes: '01:30' },
  { rank: 3 },
  { city: ['a', { b: null }] },
  { ppc_campaign: '' },
  { ppc_campaign: null },
  { city: 'half \ud800' },
  { city: 'nul \0 nul' },
  { new_field: { a: 1 } },
  { pool_id: '17' },
  { talk_start: '2026-02-30 10:00:00.0' },
];
const sent = fixtureCalls(3_000, 11).map((call, i) => ({
  ...call,
  acct_id: '101',
  date_added: `${months[i % 4]}-${String(1 + (i % 28)).padStart(2, '0')} ${String(i % 24).padStart(2, '0')}:30:00`,
  ...(i % 10 === 0 ? oddValues[(i / 10) % oddValues.length] : {}),
})) as unknown as Call[];

const folder = mkdtempSync(join(tmpdir(), 'months-'));
const store = `sqlite:${join(folder, 'calls.db')}`;
const calls: Call[] = [];
let instance: DuckDBInstance;
let ask: (sql: string) => Promise<Record<string, unknown>[]>;

beforeAll(async () => {
  const opened = await openStore(store);
  await opened.putAccount({ id: '101', name: 'North' });
  await opened.upsert('101', sent);
  for await (const call of opened.calls('101')) calls.push(call);
  await opened.close();
  const { code, stderr } = await runQuick(
    [
      'export',
      '-o',
      join(folder, 'out'),
      '--partition',
      'month',
      '--include-extensions',
      '--store',
      store,
    ],
    { cwd: folder, env: { HOME: folder } },
  );
  expect({ code, stderr }).toMatchObject({ code: 0 });
  instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(
    `CREATE VIEW calls AS SELECT * FROM read_parquet('${join(folder, 'out')}/**/*.parquet', hive_partitioning = true)`,
  );
  ask = async (sql) =>
    (await connection.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[];
});
afterAll(() => {
  instance?.closeSync();
  rmSync(folder, { recursive: true, force: true });
});

test('each value is there as it was sent', async () => {
  const rows = await ask('SELECT * FROM calls');
  const bySid = new Map(rows.map((row) => [row.sid, row]));
  expect(rows.length).toBe(calls.length);
  for (const call of calls as unknown as Record<string, unknown>[]) {
    const row = bySid.get(call.sid) ?? {};
    const odd = JSON.parse(String(row.odd ?? '{}'));
    for (const [name, value] of Object.entries(call)) {
      if (name in odd) expect(odd[name]).toEqual(value);
      else if (typeof value === 'number') expect(Number(row[name])).toBe(value);
      else if (typeof value !== 'string') expect(row[name]).toBe(value);
      else if (name.endsWith('_minutes')) expect(Number(row[name]).toFixed(1)).toBe(value);
      // DuckDB leaves out zeros at the end of a time.
      else expect(value.startsWith(String(row[name]).replace(/\.$/, ''))).toBe(true);
    }
  }
});

const talk = 'round(sum(talk_minutes), 1)';
const groups: readonly (readonly [by: string, sql: string])[] = [
  ['ppc_campaign', 'ppc_campaign'],
  ['channel', 'channel'],
  ['month', `strftime(date_added, '%Y-%m')`],
  ['state', 'state'],
  ['rank', 'rank::VARCHAR'],
];
const measures: readonly (readonly [measure: string, sql: string])[] = [
  ['calls', 'count(*)'],
  ['talk_sum', `coalesce(${talk}, 0)`],
  ['missed', 'count(*) FILTER (WHERE talk_minutes = 0)'],
  ['answered', 'count(*) FILTER (WHERE talk_minutes > 0)'],
];
const questions = groups.flatMap(([by, key]) =>
  measures.map(([measure, sql]) => [by, measure, key, sql] as const),
);

test.each(questions)('by %s: %s', async (by, measure, key, sql) => {
  const { rows } = await answerQuestion({ groupBy: [by], measures: [measure], limit: 1000 }, calls);
  const ours = rows.map((row) => [row[by] === null ? null : String(row[by]), row[measure]]);
  const theirs = await ask(`SELECT ${key} AS key, ${sql} AS value FROM calls GROUP BY 1`);
  expect(new Map(theirs.map((row) => [row.key, Number(row.value)]))).toEqual(
    new Map(ours as [unknown, unknown][]),
  );
});
