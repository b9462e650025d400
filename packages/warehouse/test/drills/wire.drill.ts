import { type Call, fields } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { openDrill } from '@call-attribution/test-tools/drill';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { call, rowsOf, storedCalls, testWarehouse } from '../support.ts';

// The drills run this file too, with more runs: see vitest.config.ts.
const runs = Number(process.env.CALLS_LAW_RUNS ?? 5);
const tally = openDrill({
  name: 'warehouse-records',
  kind: 'odd records',
  what: 'Records with odd, missing, unknown and huge values are stored; each comes back exactly as it was sent',
  countTests: true,
});

// What JSON can carry: a value of undefined is a field that is not there.
const sent = (value: Call): Call => JSON.parse(JSON.stringify(value)) as Call;

const odd = [
  null,
  '',
  '0',
  '007',
  '1.50',
  '1.5',
  '-0.0',
  '-1.5',
  '1e3',
  '99999999.9',
  '100000000.0',
  '12345678901234567890',
  'null',
  'NULL',
  '\\N',
  'NaN',
  'true',
  '\u0000',
  'a\u0000b',
  '\ufeff',
  '\ufeffname',
  '\r\n',
  'two\nlines',
  '"quoted", and \\ more',
  "it's",
  '\ud800',
  'half \udc00 of a pair',
  '\\ud800',
  '😀 名前 Straße',
  '\u2028',
  '\u007f\u001a\u0001',
  '\u001e',
  '\u001f',
  '\u001e\u001e',
  'a\u001fb\u001ec',
  '\ufffd',
  'ｆｕｌｌ　ｗｉｄｔｈ！',
  ' ',
  ' spaces around ',
  '\t',
  '2024-02-29 10:00:00',
  '2023-02-29 10:00:00',
  '2024-02-31 00:00:00.0',
  '2024-01-01 24:00:00',
  '2024-01-01 00:00:00.0',
  '2024-01-01 00:00:00.5',
  '2024-01-01 00:00:00.125',
  '2024-01-01T00:00:00',
  '0000-00-00 00:00:00',
  '0000-01-01 00:00:00',
  '0001-01-01 00:00:00',
  '9999-12-31 23:59:59.9',
  0,
  -0.5,
  7,
  2 ** 53,
  1e21,
  true,
  false,
  [],
  ['a', null],
  {},
  { a: { b: '\ud83d' } },
] as const;

const value = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...odd) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const name = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(...fields.map((field) => field.name).filter((each) => each !== 'sid')),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'new_field',
      '__proto__',
      'a,b',
      '"',
      '\\',
      'Sid',
      '\ud800',
      'account',
      'other',
      '',
    ),
  },
);
const change = fc.record({
  set: fc.array(fc.tuple(name, value), { maxLength: 12 }),
  drop: fc.array(name, { maxLength: 3 }),
});

function changed(sid: string, { set, drop }: { set: [string, unknown][]; drop: string[] }): Call {
  const result = call(sid) as unknown as Record<string, unknown>;
  for (const [field, to] of set)
    Object.defineProperty(result, field, { value: to, enumerable: true, configurable: true, writable: true });
  for (const field of drop) delete result[field];
  return sent(result as unknown as Call);
}

test('a warehouse gives back every call exactly as it was put in', async () => {
  const { warehouse } = await testWarehouse();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: 40 }),
      tally.counted(async (changes) => {
        run += 1;
        const account = `run-${run}`;
        const calls = changes.map((each, i) => changed(`S${i}`, each));
        const { stored } = await warehouse.load(account, calls);
        expect(stored).toBe(calls.length);
        const found = await storedCalls(warehouse, account);
        tally.compare(
          calls.map(({ sid }) => sid),
          [...found.keys()].map(String),
        );
        for (const each of calls) expect(found.get(each.sid)).toEqual(each);
        expect(found.size).toBe(calls.length);
      }),
    ),
    { numRuns: runs },
  );
});

test('every odd value survives in every field', async () => {
  const { warehouse } = await testWarehouse();
  const names = fields.map((field) => field.name).filter((each) => each !== 'sid');
  const calls = odd.map((to, i) => sent(call(`S${i}`, Object.fromEntries(names.map((each) => [each, to])))));
  await warehouse.load('main', calls);
  const found = await storedCalls(warehouse);
  for (const each of calls) expect(found.get(each.sid)).toEqual(each);
});

test('one odd value among usual ones survives in every field, and so do its neighbors', async () => {
  const { warehouse } = await testWarehouse();
  const names = [...fields.map((field) => field.name).filter((each) => each !== 'sid'), 'new_field'];
  const calls = names.flatMap((each) => odd.map((to, i) => sent(call(`${each}-${i}`, { [each]: to }))));
  await warehouse.load('main', calls);
  const found = await storedCalls(warehouse);
  for (const each of calls) expect(found.get(each.sid)).toEqual(each);
  expect(found.size).toBe(calls.length);
});

test('records of both versions come back with the fields they have and no others', async () => {
  const { warehouse } = await testWarehouse();
  const v2 = call('v2') as unknown as Record<string, unknown>;
  for (const { name: field, v2: own } of fields) if (own === null) delete v2[field];
  const v3 = call('v3') as unknown as Record<string, unknown>;
  for (const { name: field, v3: own } of fields) if (own === null) delete v3[field];
  await warehouse.load('main', [v2, v3] as unknown as Call[]);
  const found = await storedCalls(warehouse);
  expect(found.get('v2')).toEqual(v2);
  expect(found.get('v3')).toEqual(v3);
});

test('strings of a megabyte and records without a known field survive', async () => {
  const { warehouse } = await testWarehouse();
  const calls = [
    call('long', {
      first_touch: `https://example.com/?${'x'.repeat(1_000_000)}`,
      search_term: '"\n😀'.repeat(300_000),
    }),
    // A line that is written with care, and a long text in which each character has to be looked at.
    call('backslashes', { city: '\u001e', new_field: '\\'.repeat(1_000_000) }),
    { sid: 'bare' } as unknown as Call,
    { sid: 7, other: 1 } as unknown as Call,
    {
      sid: 'deep',
      more: Array.from({ length: 500 }).reduce<unknown>((inner) => [inner], 'end'),
    } as unknown as Call,
  ];
  await warehouse.load('main', calls);
  const found = await storedCalls(warehouse);
  for (const each of calls) expect(found.get(each.sid)).toEqual(each);
});

test('calls whose long strings fill the memory several times are stored and read', async () => {
  const { warehouse } = await testWarehouse({ memory: '200MB' });
  const text = (i: number) => `${'x'.repeat(100_000)}${i}`;
  const calls = Array.from({ length: 1000 }, (_, i) => call(`S${i}`, { search_term: text(i) }));
  expect(await warehouse.load('main', calls)).toMatchObject({ stored: 1000 });
  const found = new Map<string, unknown>();
  for await (const { sid, search_term } of warehouse.calls({ order: 'sid' })) found.set(sid, search_term);
  expect(found.size).toBe(1000);
  for (let i = 0; i < 1000; i += 1) expect(found.get(`S${i}`) === text(i)).toBe(true);
});

test('columns are typed, and hold what can be measured of an odd value', async () => {
  const { warehouse } = await testWarehouse();
  await warehouse.load('main', [
    call('a', {
      talk_minutes: '1.50',
      call_duration: '007',
      talk_start: '2024-02-31 00:00:00.0',
      pool_id: '12',
    }),
    call('b', { talk_minutes: 2.5, call_duration: 7, talk_start: '2024-02-28 00:00:00.5', pool_id: 12 }),
    call('c', { talk_minutes: '1.25', call_duration: '7.5', talk_start: null, pool_id: 1.5 }),
  ]);
  const sql = `select talk_minutes as t, call_duration as d, talk_start::varchar as s, pool_id as p from calls order by sid`;
  expect(await rowsOf(warehouse, sql)).toEqual([
    { t: 1.5, d: 7, s: null, p: 12 },
    { t: 2.5, d: 7, s: '2024-02-28 00:00:00.5', p: 12 },
    { t: null, d: null, s: null, p: null },
  ]);
  const types = await rowsOf(
    warehouse,
    `select column_name as name, data_type as type, comment from duckdb_columns() where table_name = 'calls'`,
  );
  const byName = new Map(types.map((row) => [row.name, row]));
  expect(byName.get('date_added')).toMatchObject({ type: 'TIMESTAMP', comment: 'When the call was made.' });
  expect(byName.get('talk_minutes')).toMatchObject({ type: 'DECIMAL(9,1)' });
  expect(types.filter(({ comment }) => !comment)).toEqual([]);
});

test('a page of calls as servers send them comes back whole', async () => {
  const { warehouse } = await testWarehouse();
  const calls = fixtureCalls(3000);
  await warehouse.load('main', calls);
  const found = await storedCalls(warehouse);
  expect([...found.values()]).toEqual(calls);
});
