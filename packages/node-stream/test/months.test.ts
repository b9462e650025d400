import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import { createManualClock } from '@call-attribution/core/testing';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportMonths, type MonthSource, type MonthsOptions, monthFolder } from '../src/index.ts';
import { readFileContents, readReceipt } from '../src/receipts/index.ts';
import { callOf } from './calls-of.ts';
import { type FakeBehaviour, type FakeRecord, FakeServer, fakeRecords } from './fake-server.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'months-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const clock = createManualClock(Date.UTC(2026, 5, 20));
const account = '101';
const pathOf = (month: string) => join(folder, `account=101/month=${month}.parquet`);

/** Some calls each day of January to June, with some at the second where months meet. */
const records = [
  ...fakeRecords(1800, () => 8_000),
  ...['2026-02-01 00:00:00', '2026-04-01 00:00:00', '2026-04-30 23:59:59'].map((date_added, i) => ({
    sid: `border${i}`,
    date_added,
  })),
];

async function rowsIn(month: string): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: await asyncBufferFromFile(pathOf(month)) });
}

/** What should be in the files, by month. */
function expected(all: readonly FakeRecord[]): Record<string, string[]> {
  const months: Record<string, string[]> = {};
  for (const { sid, date_added } of all) {
    months[date_added.slice(0, 7)] ??= [];
    months[date_added.slice(0, 7)]?.push(sid);
  }
  return Object.fromEntries(Object.entries(months).map(([month, sids]) => [month, sids.sort()]));
}

async function found(): Promise<Record<string, string[]>> {
  const months: Record<string, string[]> = {};
  for (const name of readdirSync(join(folder, 'account=101')).sort()) {
    const [, month] = /^month=(.*)\.parquet$/.exec(name) ?? [];
    if (month === undefined) continue;
    const rows = await rowsIn(month);
    if (rows.length > 0) months[month] = rows.map(({ sid }) => String(sid)).sort();
  }

  return months;
}

const newestFirst: FakeBehaviour['order'] = (a, b) => b.date_added.localeCompare(a.date_added);
const noOrder: FakeBehaviour['order'] = (a, b) =>
  a.sid.split('').reverse().join('').localeCompare(b.sid.split('').reverse().join(''));

describe('exportMonths', () => {
  it('says what stands in the place of a path', async () => {
    const server = new FakeServer([]);
    const given: unknown = 'calls';
    const made = exportMonths(server, given as ReturnType<typeof monthFolder>);
    await expect(made).rejects.toThrow("such as monthFolder('calls')");
  });

  it.each<[string, FakeBehaviour, string]>([
    ['oldest first', {}, 'whole'],
    ['newest first', { order: newestFirst }, 'whole'],
    ['in no order', { order: noOrder }, 'whole'],
    [
      'with fewer rows than asked for, newest first',
      { order: newestFirst, clamp: () => 50 },
      'whole',
    ],
    ['without totals, newest first', { order: newestFirst, hasNoTotal: true }, 'unproven'],
    ['with ranges that include both ends', { isClosed: true }, 'whole'],
  ])('writes every month of a server that lists calls %s', async (_, behaviour, proof) => {
    const server = new FakeServer(records, behaviour);
    const { verdict, calls, files } = await exportMonths(server, monthFolder(folder), {
      account,
      clock,
    });
    expect(await found()).toEqual(expected(records));
    expect(calls).toBe(records.length);
    expect(verdict.proof).toBe(proof);
    expect(files.map(({ month }) => month)).toEqual([
      '2026-01',
      '2026-02',
      '2026-03',
      '2026-04',
      '2026-05',
      '2026-06',
    ]);
  });

  it('seals what was asked, the account, and what is proved of the month into each receipt', async () => {
    const filter = 'date_added:[2026-02-10 00:00:00 TO 2026-04-10 12:00:00]';
    const options = { account, name: 'North', filter, clock };
    await exportMonths(new FakeServer(records), monthFolder(folder), options);
    const { receipt } = (await readReceipt(pathOf('2026-03'))) ?? {};
    expect(receipt).toMatchObject({
      accounts: ['101'],
      name: 'North',
      asked: { from: '2026-02-10 00:00:00', to: '2026-04-10 12:00:00' },
      from: '2026-03-01 00:00:00',
      to: '2026-04-01 00:00:00',
      filter: 'date_added:[2026-03-01 00:00:00 TO 2026-04-01 00:00:00}',
      verdict: { proof: 'whole', proved: receipt?.rows.count },
    });
    expect((await readReceipt(pathOf('2026-04')))?.receipt?.filter).toBe(
      'date_added:[2026-04-01 00:00:00 TO 2026-04-10 12:00:00]',
    );
    const form = { format: 'parquet', gzip: false } as const;
    const contents = await readFileContents(pathOf('2026-03'), form, {
      expected: receipt?.bytes ?? null,
    });
    expect(contents.rows).toEqual({ count: receipt?.rows.count, digest: receipt?.rows.digest });
  });

  it('finds calls from before the first and after the present month', async () => {
    const server = new FakeServer(records);
    const late = { sid: 'early', date_added: '2024-03-05 10:00:00' };
    // It comes when the first call is known, and all up to the end of its month is asked for.
    server.behaviour.before = ({ filter }) => {
      if (JSON.stringify(filter).includes('2026-02-01') && !server.records.includes(late))
        server.records.push(late);
    };
    const future = { sid: 'future', date_added: '2027-01-05 10:00:00' };
    server.records.push(future);
    await exportMonths(server, monthFolder(folder), { account, clock });
    expect(await found()).toEqual(expected([...records, late, future]));
    const between = { sid: 'between', date_added: '2026-09-01 00:00:00' };
    server.records.push(between);
    await exportMonths(server, monthFolder(folder), { account, clock });
    expect(await found()).toEqual(expected([...records, late, future, between]));
  });

  it('asks for the next call after a month without any, and finds what comes later between them', async () => {
    const far = [
      { sid: 'zero', date_added: '1970-01-01 00:00:00' },
      { sid: 'test', date_added: '2019-05-05 10:00:00' },
    ];
    for (const behaviour of [{}, { order: newestFirst }, { order: noOrder }]) {
      const server = new FakeServer([...far, ...records], behaviour);
      const { verdict, files, calls } = await exportMonths(server, monthFolder(folder), {
        account,
        clock,
      });
      expect(await found()).toEqual(expected([...far, ...records]));
      expect([calls, verdict.proof]).toEqual([records.length + 2, 'whole']);
      expect(files.map(({ month, calls }) => [month, calls > 0])).toEqual([
        ['1970-01', true],
        ['1970-02', false],
        ['2019-05', true],
        ['2019-06', false],
        ...['01', '02', '03', '04', '05', '06'].map((each) => [`2026-${each}`, true]),
      ]);
      expect(server.requests.length).toBeLessThan(100);

      // Nothing lies between two of them.
      const receipts = await Promise.all(files.map(({ month }) => readReceipt(pathOf(month))));
      const periods = receipts.map((each) => [each?.receipt?.from, each?.receipt?.to]);
      for (const [at, [from]] of periods.entries())
        expect(from).toBe(at === 0 ? null : periods[at - 1]?.[1]);
      expect(periods.at(-1)?.[1]).toBeNull();

      server.requests.length = 0;
      const again = await exportMonths(server, monthFolder(folder), { account, clock });
      expect(again.files.filter(({ isKept }) => !isKept).map(({ month }) => month)).toEqual([
        '2026-05',
        '2026-06',
      ]);
      expect(server.requests.length).toBeLessThan(20);
      rmSync(folder, { recursive: true });
    }
  });

  it('finds what comes after months without calls, also when an earlier run ended with them', async () => {
    const quiet = records.filter(({ date_added }) => date_added < '2026-02-20 00:00:00');
    const server = new FakeServer(quiet);
    const now = createManualClock(clock.now());
    const run = (more: MonthsOptions = {}) =>
      exportMonths(server, monthFolder(folder), { account, clock: now, ...more });
    const first = await run();
    expect(first.files.map(({ month }) => month)).toEqual(['2026-01', '2026-02', '2026-03']);
    expect((await readReceipt(pathOf('2026-03')))?.receipt).toMatchObject({
      from: '2026-03-01 00:00:00',
      to: null,
      rows: { count: 0 },
    });
    server.records.push({ sid: 'june', date_added: '2026-06-02 10:00:00' });
    const second = await run();
    expect(second.files.map(({ month }) => month)).toEqual([
      '2026-01',
      '2026-02',
      '2026-03',
      '2026-06',
    ]);
    server.records.push({ sid: 'may', date_added: '2026-05-31 10:00:00' });
    await now.advance(1_000);
    const since = now.now();
    for (let isCut = true; isCut; ) ({ isCut } = await run({ maxPages: 1, since }));
    expect(await found()).toEqual(expected(server.records));
    expect((await readReceipt(pathOf('2026-03')))?.receipt?.to).toBe('2026-05-01 00:00:00');
  });

  it('goes on with no export of another server', async () => {
    const options = { account, clock };
    const staging = new FakeServer(records, {});
    await exportMonths(staging, monthFolder(folder), options);
    const live = new FakeServer(records.slice(0, 500), {});
    Object.assign(live, { baseUrl: 'https://live.example' });
    await expect(exportMonths(live, monthFolder(folder), options)).rejects.toThrow(
      /has an export of other calls: .*come from .*, and these from https:\/\/live\.example\. Export into another folder/,
    );
    expect(await found()).toEqual(expected(records));
  });

  it('leaves no proof that months have no calls when it dies after it has found some in them', async () => {
    const first = { sid: 'first', date_added: '2026-01-10 10:00:00' };
    const last = { sid: 'last', date_added: '2026-06-10 10:00:00' };
    const server = new FakeServer([first, last]);
    const run = (day: number, target = monthFolder(folder)) =>
      exportMonths(server, target, { account, clock: createManualClock(Date.UTC(2026, 5, day)) });
    const { files } = await run(20);
    expect(files.map(({ month }) => month)).toEqual(['2026-01', '2026-02', '2026-06']);

    // A call of April comes late, and a run dies after it has written the file that stood for April.
    const late = { sid: 'late', date_added: '2026-04-10 10:00:00' };
    server.records = [first, late, last];
    let puts = 0;
    const target = monthFolder(folder);
    const dying = {
      ...target,
      async put(...file: Parameters<typeof target.put>) {
        puts += 1;
        if (puts > 2) throw new Error('killed');
        await target.put(...file);
      },
    };
    await expect(run(45, dying)).rejects.toThrow('killed');
    expect((await run(46)).verdict.proof).toBe('whole');
    expect(await found()).toEqual(expected(server.records));
  });

  it('goes on where an earlier run ended, and leaves what is settled as it is', async () => {
    const server = new FakeServer(records);
    const options = { account, clock, maxPages: 1 };
    const since = clock.now();
    const months: string[][] = [];
    for (let isCut = true; isCut; ) {
      const run = await exportMonths(server, monthFolder(folder), { ...options, since });
      months.push(run.files.filter(({ isKept }) => !isKept).map(({ month }) => month));
      isCut = run.isCut;
      expect(run.verdict.proof).toBe(isCut ? 'unproven' : 'whole');
    }

    expect(months.flat()).toEqual([
      '2026-01',
      '2026-02',
      '2026-03',
      '2026-04',
      '2026-05',
      '2026-06',
    ]);
    expect(months).toHaveLength(6);
    const again = await exportMonths(server, monthFolder(folder), { account, clock });

    // The settle period of May ends on the last day of June.
    expect(again.files.filter(({ isKept }) => !isKept).map(({ month }) => month)).toEqual([
      '2026-05',
      '2026-06',
    ]);
    rmSync(pathOf('2026-02'));
    const repaired = await exportMonths(server, monthFolder(folder), { account, clock });
    expect(repaired.files.find(({ month }) => month === '2026-02')?.isKept).toBe(false);
    expect(await found()).toEqual(expected(records));
  });

  it('never gives a month a shorter period than it had, and no file calls of another filter', async () => {
    const server = new FakeServer(records);
    await exportMonths(server, monthFolder(folder), { account, clock });
    const filter = 'date_added:[2026-05-20 00:00:00 TO *]';
    await exportMonths(server, monthFolder(folder), { account, clock, filter });
    expect(await found()).toEqual(expected(records));
    await expect(
      exportMonths(server, monthFolder(folder), {
        account,
        clock,
        filter: 'talk_minutes:[2 TO *]',
      }),
    ).rejects.toThrow(/has an export of other calls/);
  });

  it('writes no month that was not asked for, although a call of it came with the one before it', async () => {
    const server = new FakeServer(records);
    const target = monthFolder(folder);
    const range = (from: string, to: string) => ({ filter: `date_added:[${from} TO ${to}]` });

    // It ends after March, a file of which it then reads as far as it went.
    const first = { account, clock, ...range('2026-03-20 00:00:00', '*'), maxPages: 1 };
    await exportMonths(server, target, first);
    const second = { account, clock, ...range('*', '2026-03-10 00:00:00') };
    await exportMonths(server, target, second);
    const { verdict } = await exportMonths(server, target, { account, clock });
    expect(verdict.proof).toBe('whole');
    expect(await found()).toEqual(expected(records));
  });

  it('writes each month of a copy again, and what was removed from it before', async () => {
    const all = records.map((record) => callOf(record as Partial<Call> & { sid: string }));
    const removals = '{"removals":1}';

    const copyOf = (kept: readonly Call[]): MonthSource => ({
      version: 'v3',
      address: 'sqlite:calls.db',
      removals,
      read: ({ from, to }) => ({
        calls: kept.filter(
          ({ date_added: at }) => (from === null || at >= from) && (to === null || at <= to),
        ),
        verdict: () => null,
      }),
    });

    const sorted = all.toSorted((a, b) => a.date_added.localeCompare(b.date_added));
    await exportMonths(copyOf(sorted), monthFolder(folder), { account, clock });
    const kept = sorted.filter(({ date_added }) => date_added >= '2026-02-01 00:00:00');
    const { files } = await exportMonths(copyOf(kept), monthFolder(folder), { account, clock });
    expect(files.some(({ isKept }) => isKept)).toBe(false);
    expect(await found()).toEqual(expected(kept));
    expect(readFileSync(join(folder, 'account=101/_calls.removals.json'), 'utf8')).toBe(removals);
  });

  it('keeps what a column cannot hold in another one, and has the value where it has a meaning', async () => {
    const odd = {
      ...callOf({ sid: 'a', date_added: '2026-06-01 10:00:00' }),
      talk_minutes: '2',
      rank: 3,
      pool_id: '7',
      city: 'half \ud800',
      state: ['TX'],
      smart_minutes: '01:30',
      first_touch: null,
      talk_start: '2026-02-30 10:00:00.0',
      new_field: { a: [1, null] },
    };
    const plain = callOf({ sid: 'b', date_added: '2026-06-01 11:00:00' });
    const source: MonthSource = {
      version: 'v3',
      address: null,
      read: () => ({ calls: [odd as unknown as Call, plain], verdict: () => null }),
    };
    await exportMonths(source, monthFolder(folder), { account, clock });
    const [first, second] = await rowsIn('2026-06');
    expect(first).toMatchObject({
      talk_minutes: 2,
      rank: 3n,
      pool_id: 7n,
      city: null,
      state: null,
    });
    expect(first).toMatchObject({ smart_minutes: null, talk_start: null });
    const { sid: _, date_added: __, first_touch: ___, ...sent } = odd;
    const names = [
      'talk_minutes',
      'rank',
      'pool_id',
      'city',
      'state',
      'smart_minutes',
      'talk_start',
    ];
    const others = Object.entries(sent).filter(([name]) => [...names, 'new_field'].includes(name));
    expect(JSON.parse(String(first?.odd))).toEqual(Object.fromEntries(others));
    expect(second?.odd).toBeNull();
  });

  it('takes the account of the first call, and refuses what cannot name a folder', async () => {
    const source = (acct_id: string): MonthSource => ({
      version: 'v3',
      address: null,
      read: () => ({ calls: [callOf({ sid: 'a', acct_id })], verdict: () => null }),
    });

    const { account: id } = await exportMonths(source('7001'), monthFolder(folder), { clock });
    expect([id, readdirSync(folder)]).toEqual(['7001', ['account=7001']]);
    await expect(exportMonths(source('../x'), monthFolder(folder), { clock })).rejects.toThrow(
      /names a folder/,
    );
    symlinkSync(tmpdir(), join(folder, 'account=7002'));
    await expect(exportMonths(source('7002'), monthFolder(folder), { clock })).rejects.toThrow(
      /is a link/,
    );
  });
});
