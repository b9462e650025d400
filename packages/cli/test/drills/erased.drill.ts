import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type LedgerEntry, openLedger } from '@call-attribution/conversions';
import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { openStore } from '@call-attribution/store';
import { openDrill } from '@call-attribution/test-tools/drill';
import { newDatabase, startPostgres } from '@call-attribution/test-tools/postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OwnStage, openOwnStage } from '../stage.ts';

openDrill({
  name: 'erased',
  kind: 'whole programs',
  what:
    'Callers are erased and calls purged in each kind of store: every byte of every file is searched, and no sync, restart, export ' +
    'or copy of a copy brings them back',
  countTests: true,
});

const spellings: readonly unknown[] = [
  '3125550199',
  '0013125550199',
  '+1 312 555 0199 x5',
  '３１２５５５０１９９',
  'sip:3125550199@10.20.30.40',
  'tel:+1-312-555-0199',
  3125550199,
];
const names = ['Gwendolyn Featherstonehaugh', 'Gwendolyn Renamed-Later'];
const [pattern] = fixtureCalls(1) as [Call];
const sidOf = (i: number): string => `77770000${i}`;
const theirs = (name: string): Call[] =>
  spellings.map(
    (ani, i) =>
      ({
        ...pattern,
        sid: sidOf(i),
        acct_id: '101',
        ani,
        caller_name: name,
        first_name: name,
        landing_page: `https://example.com/?phone=3125550199&n=${i}`,
        date_added: `2026-11-1${i} 10:00:00`,
      }) as unknown as Call,
  );
const needles = ['3125550199', '312 555 0199', '312-555-0199', '３１２５', '5550199', ...names];

const postgres = startPostgres();
let stage: OwnStage;
let api: string;
beforeAll(async () => {
  const { mkdtempSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  api = mkdtempSync(join(tmpdir(), 'calls-api-'));
  stage = await openOwnStage({
    records: 60,
    days: 30,
    to: '2026-11-21 07:00:00',
    store: `sqlite:${join(api, 'api.db')}`,
  });
});
afterAll(async () => {
  await stage.close();
  await postgres?.close();
  rmSync(api, { recursive: true, force: true });
});

/** What the API has of the caller. */
async function callsOfTheApi(calls: readonly Call[]): Promise<void> {
  const store = await openStore(`sqlite:${join(api, 'api.db')}`);
  await store.upsert('101', calls);
  await store.close();
}

/**
 * Every file of a folder, below it too, in which a needle is; what is compressed is looked into.
 */
function filesWith(folder: string, needle: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => {
    const path = join(folder, file);
    if (!statSync(path).isFile()) return false;
    const bytes = readFileSync(path);
    return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).includes(needle);
  });
}

/** The same for all tables and indexes of a database. */
async function relationsWith(url: string, needle: string): Promise<string[]> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query('CHECKPOINT');
  const { rows } = await client.query(
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind IN ('r', 'i', 't') AND pg_relation_filepath(oid) IS NOT NULL
        AND position(convert_to($1, 'UTF8') IN pg_read_binary_file(pg_relation_filepath(oid))) > 0`,
    [needle],
  );
  await client.end();
  return rows.map(({ name }) => String(name));
}

const entry = (i: number): LedgerEntry => ({
  action: 'add',
  key: sidOf(i),
  sid: sidOf(i),
  account: '101',
  click: { kind: 'gclid', id: `Click-of-a-caller-${i}` },
  at: 0,
  name: 'Lead',
  value: 1,
  currency: 'USD',
});

/** Notes uploads of the caller's calls, and of one that stays. */
async function fillLedger(where: Parameters<typeof openLedger>[0]): Promise<void> {
  const ledger = await openLedger(where);
  const entries = [
    ...spellings.map((_, i) => entry(i)),
    { ...entry(0), key: 'stays', sid: 'stays' },
  ];
  await ledger.commit(await ledger.prepare('google-ads-clicks', entries));
  await ledger.close();
}

interface Kind {
  readonly kind: string;
  readonly url: string;
}
const kinds: Kind[] = [
  { kind: 'SQLite', url: 'sqlite:calls.db' },
  ...(postgres === null ? [] : [{ kind: 'PostgreSQL', url: postgres.url }]),
];

/** Runs `calls` in a folder; it has to succeed. */
const runner = (cwd: string) => async (args: readonly string[], input?: string) => {
  const { code, stdout, stderr } = await stage.quick(args, {
    cwd,
    ...(input === undefined ? {} : { input }),
  });
  expect([args.join(' '), code, code === 0 ? '' : stderr]).toEqual([args.join(' '), 0, '']);
  return { stdout, stderr };
};

/** The sids and the earliest time of all calls of a copy. */
async function heldBy(cwd: string, url: string): Promise<{ sids: string[]; earliest: string }> {
  const rows: Call[] = [];
  const store = await openStore(url.replace(/^sqlite:/, `sqlite:${cwd}/`));
  for await (const call of store.calls('101')) rows.push(call);
  await store.close();
  return {
    sids: rows.map(({ sid }) => sid).sort(),
    earliest: rows.map(({ date_added }) => date_added).sort()[0] ?? '',
  };
}

const before = '2026-11-05 00:00:00';
const everySync = [[], ['--lookback', '9999d'], ['--restart'], ['--from', '60d']];

test.each(kinds)(
  'nothing of an erased caller is left in $kind, and nothing comes back',
  async ({ kind, url: given }) => {
    const cwd = stage.folder();
    const url = kind === 'PostgreSQL' ? await newDatabase(given) : given;
    const run = runner(cwd);
    await callsOfTheApi(theirs(names[0] ?? ''));
    await run(['sync', '--store', url]);
    await callsOfTheApi(theirs(names[1] ?? ''));
    await run(['sync', '--store', url, '--lookback', '9999d']);

    // A number of JSON may be refused by a reader; whatever came has to go.
    expect((await heldBy(cwd, url)).sids).toEqual(
      expect.arrayContaining(spellings.slice(0, 6).map((_, i) => sidOf(i))),
    );
    mkdirSync(join(cwd, 'exports'));
    const months = [
      'export',
      '--store',
      url,
      '--partition',
      'month',
      '--include-extensions',
      '-o',
      'set/',
    ];
    await run(months);
    await run(['export', '--store', url, '--include-extensions', '-o', 'exports/all.ndjson.gz']);
    await fillLedger(join(cwd, 'uploads.ledger'));
    const store = await openStore(url.replace(/^sqlite:/, `sqlite:${cwd}/`));
    await fillLedger(store.journal('uploads'));
    await store.close();

    const erase = [
      'store',
      'erase',
      '--store',
      url,
      '--account',
      '101',
      '--ledger',
      'uploads.ledger',
    ];
    const wrong = await stage.quick(erase, {
      cwd,
      input: '3125550199\nnot a number\n\n2025550123, too\n',
    });
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toMatch(
      /lines 2, 4 of stdin are not a phone number and nothing else; nothing was erased/,
    );
    expect((await heldBy(cwd, url)).sids).toContain(sidOf(0));
    const { stdout, stderr } = await run(erase, '\uFEFF+1 (312) 555-0199\r\n\r\n3125550198\n');
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toEqual([
      { line: 1, erased: expect.any(Number) },
      { line: 3, erased: 0 },
    ]);
    expect(lines[0].erased).toBeGreaterThanOrEqual(6);
    for (const said of [/exported before/, /other copies of account 101/, /--ledger/])
      expect(stderr).toMatch(said);

    // What it names is cleaned as it says.
    await run(months);
    expect(existsSync(join(cwd, 'set', 'account=101', '_calls.removals.json'))).toBe(true);
    rmSync(join(cwd, 'exports'), { recursive: true });

    const search = async () => {
      for (const needle of [...needles, 'Click-of-a-caller-1']) {
        expect([needle, filesWith(cwd, needle)]).toEqual([needle, []]);
        if (kind === 'PostgreSQL')
          expect([needle, await relationsWith(url, needle)]).toEqual([needle, []]);
      }

      // The sids stay in the store alone, in its list of what was removed.
      for (const sid of spellings.map((_, i) => sidOf(i))) {
        const found = filesWith(cwd, sid).filter((file) => file !== 'calls.db');
        expect([sid, found]).toEqual([sid, []]);
        if (kind === 'PostgreSQL')
          for (const name of await relationsWith(url, sid)) expect(name).toMatch(/^removed/);
      }
    };

    if (kind === 'PostgreSQL') {
      const tables = /VACUUM FULL [a-z, ]+/.exec(stderr)?.[0] ?? '';
      const client = new pg.Client(url);
      await client.connect();
      await client.query(tables);
      await client.end();
    }

    await search();
    expect(filesWith(cwd, 'stays')).not.toEqual([]);
    const kept = (await heldBy(cwd, url)).sids;
    for (const more of everySync) {
      const synced = await run(['sync', '--store', url, '--json', ...more]);
      expect(JSON.parse(synced.stdout)).toMatchObject({ new: 0, changed: 0 });
      expect((await heldBy(cwd, url)).sids).toEqual(kept);
    }

    await search();
    const purged = await run([
      'store',
      'purge',
      '--store',
      url,
      '--account',
      '101',
      '--before',
      before,
      '--yes',
    ]);
    expect(JSON.parse(purged.stdout).purged).toBeGreaterThan(0);
    for (const more of everySync.slice(1, 3)) {
      await run(['sync', '--store', url, ...more]);
      expect([more, (await heldBy(cwd, url)).earliest]).toEqual([
        more,
        expect.stringMatching(/^2026-11-0[5-9]|^2026-11-1/),
      ]);
    }

    const verified = await stage.quick(['verify', url, '--against-api', '--json'], { cwd });
    expect(JSON.parse(verified.stdout)).toMatchObject({ verdict: 'proved' });
  },
);

test('what was erased and purged goes from copy to copy, and no sync of any brings it back', async () => {
  const cwd = stage.folder();
  const run = runner(cwd);
  await callsOfTheApi(theirs(names[0] ?? ''));
  const chain: string[] = ['sqlite:first.db'];
  await run(['sync', '--store', 'sqlite:first.db']);
  await run(['store', 'erase', '--store', 'sqlite:first.db', '--account', '101'], '3125550199\n');
  await run([
    'store',
    'purge',
    '--store',
    'sqlite:first.db',
    '--account',
    '101',
    '--before',
    before,
    '--yes',
  ]);
  const { sids } = await heldBy(cwd, 'sqlite:first.db');
  expect(sids.length).toBeGreaterThan(10);

  const check = async (url: string) => {
    chain.push(url);
    for (const more of everySync.slice(2, 3)) {
      await run(['sync', '--store', url, ...more]);
      expect([url, await heldBy(cwd, url)]).toMatchObject([url, { sids }]);
    }
  };

  // A copy of the file.
  copyFileSync(join(cwd, 'first.db'), join(cwd, 'copied.db'));
  await check('sqlite:copied.db');

  // By a program, from one database to another.
  const middle = postgres === null ? 'sqlite:middle.db' : await newDatabase(postgres.url);
  const first = await openStore(`sqlite:${join(cwd, 'first.db')}`);
  const second = await openStore(middle.replace(/^sqlite:/, `sqlite:${cwd}/`));
  await second.putAccount({ id: '101', name: 'Main' });
  await second.addRemovals('101', await first.removals('101'));
  await second.upsert('101', first.calls('101'));
  await Promise.all([first.close(), second.close()]);
  await check(middle);
  expect(chain).toHaveLength(3);
  rmSync(join(cwd, 'first.db'), { force: true });
  for (const needle of ['3125550199', '3125550198', names[0] ?? '']) {
    expect([needle, filesWith(cwd, needle)]).toEqual([needle, []]);
    if (postgres !== null)
      expect([needle, await relationsWith(middle, needle)]).toEqual([needle, []]);
  }

  // A copy that is told nothing has them, so the API still does.
  await run(['sync', '--store', 'sqlite:stranger.db']);
  expect((await heldBy(cwd, 'sqlite:stranger.db')).sids).toContain(sidOf(1));
});
