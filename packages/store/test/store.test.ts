import { chmodSync, statSync } from 'node:fs';
import { type Call, fromCall } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { parse } from '@call-attribution/query-dsl';
import { DatabaseSync as Database } from '@call-attribution/sqlite';
import { testStores } from '@call-attribution/test-tools';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { openPostgres } from '../src/database/postgres.ts';
import {
  type AccountCredential,
  mirrorSink,
  openStore,
  type Part,
  type Selection,
  type Store,
  StoreError,
  type StoreOptions,
  selectionOf,
  storeName,
} from '../src/index.ts';
import { readStoreOptions } from '../src/options.ts';
import { openAt, runOn, smallCall } from './small-calls.ts';

const stores = testStores();
const inPostgres = stores.filter(({ kind }) => kind === 'postgres');
// What a call does not say comes back as null.
const neutral = (call: Call) => ({
  phone_number: null,
  super_id: null,
  call_logging_id: null,
  ...call,
});
const calls = fixtureCalls(30).map(neutral) as Call[];

async function filled(newUrl: () => Promise<string>, options: StoreOptions = {}): Promise<Store> {
  const store = await openAt(await newUrl(), options);
  await store.upsert('101', calls);
  return store;
}

const whole = { selection: {}, offset: 0, rows: 1_000, version: 'v3' as const };

describe('a store in memory', () => {
  test('it gives columns in windows: a call that changes meanwhile is as it is when it is reached', async () => {
    await using store = await openAt('sqlite::memory:');
    const many = Array.from({ length: 9_000 }, (_, i) =>
      smallCall(`m${i}`, `2027-01-01 00:0${i % 7}:00`, '1.0', false, { city: 'Here' }),
    );
    await store.upsert('101', many);
    const order: string[] = [];
    for await (const { sid } of store.calls('101')) order.push(sid);
    const gone = String(order.at(-2));
    const changed = String(order.at(-1));
    const added = Array.from({ length: 50 }, (_, i) => `a${i}`);

    const found = new Map<string, unknown>();
    let read = 0;
    for await (const { length, columns } of store.columns('101', ['sid', 'city'])) {
      // Many of them come between the calls of windows that are still to be read.
      if (read === 0) {
        await store.upsert('101', [
          ...added.map((sid, i) => smallCall(sid, `2027-01-01 00:0${i % 7}:00`, '1.0')),
          ...many.filter(({ sid }) => sid === changed).map((call) => ({ ...call, city: 'There' })),
        ]);
        await store.remove('101', [gone]);
      }
      read += length;
      for (let i = 0; i < length; i += 1) found.set(String(columns.sid?.[i]), columns.city?.[i]);
    }

    for (const sid of order)
      if (sid !== gone) expect(found.get(sid), sid).toBe(sid === changed ? 'There' : 'Here');

    expect(found.has(gone)).toBe(false);
    expect(read, 'each comes once').toBe(found.size);
  });
});

describe.each(stores)('a $kind store', ({ newUrl }) => {
  test('it returns each call as either version sends it', async () => {
    await using store = await filled(newUrl);
    for (const version of ['v2', 'v3'] as const) {
      const page = await store.page('101', { ...whole, version });
      expect(JSON.parse(String(page.body))).toEqual(calls.map((call) => fromCall(call, version)));
      const sid = calls[4]?.sid as string;
      expect(JSON.parse(String(await store.document('101', sid, version)))).toEqual(
        fromCall(calls[4] as Call, version),
      );
    }

    expect(await store.get('101', calls[0]?.sid as string)).toEqual(calls[0]);
    expect(await store.get('101', 'none')).toBeNull();
  });

  test('calls come with the newest first, and with certain values alone', async () => {
    await using store = await filled(newUrl);
    const extra = Array.from({ length: 1_100 }, (_, i) =>
      smallCall(`x${i}`, `2027-01-01 00:00:0${i % 7}`, '1.0', false, {
        ppc_campaign: ['A', 'a', '', null][i % 4],
      }),
    );
    await store.upsert('101', extra);

    const sids = async (part: Part) => {
      const found: string[] = [];
      for await (const { sid } of store.calls('101', {}, part)) found.push(sid);
      return found;
    };

    const newest = (await sids({})).reverse();
    expect(await sids({ newestFirst: true })).toEqual(newest);
    expect(await sids({ newestFirst: true, offset: 3, limit: 2 })).toEqual(newest.slice(3, 5));
    for (const offset of [1, 29, 700, 1_129, 2_000])
      expect(await sids({ offset, limit: 3 })).toEqual(
        [...newest].reverse().slice(offset, offset + 3),
      );

    const withValue = (wanted: (value: unknown) => boolean) => {
      const kept = new Set(extra.filter((call) => wanted(call.ppc_campaign)).map(({ sid }) => sid));
      return newest.filter((sid) => kept.has(sid));
    };

    const only = (values: (string | null)[]) =>
      sids({ newestFirst: true, only: new Map([['ppc_campaign', values]]) }).then((found) =>
        found.filter((sid) => sid.startsWith('x')),
      );

    expect(await only(['A'])).toEqual(withValue((value) => value === 'A'));
    expect(await only([null])).toEqual(withValue((value) => value === null));
    expect(await only([''])).toEqual(withValue((value) => value === ''));
    expect(await only(['a', '', null])).toEqual(withValue((value) => value !== 'A'));
    expect(await only([])).toEqual([]);
  });

  test('it keeps Unicode, quotes, line breaks and unknown fields', async () => {
    await using store = await filled(newUrl);
    const odd = smallCall('odd', '2024-05-05 05:05:05', '1.0', false, {
      first_name: 'Zoë “x” \u2028 \u0000 👩‍💻 مرحبا',
      url_tag: 'a\nb\t"c"\\d',
      new_field: { nested: [1, null] },
      lone: '\ud800',
    });
    await store.upsert('101', [odd]);
    expect(await store.get('101', 'odd')).toEqual(JSON.parse(JSON.stringify(odd)));
  });

  test('it replaces a call by sid; of several in one batch the last one wins', async () => {
    await using store = await filled(newUrl);
    const sid = calls[0]?.sid as string;
    const moved = smallCall(sid, '2030-01-01 00:00:00', '9.9');
    const stored = await store.upsert('101', [smallCall(sid, '2029-01-01 00:00:00', null), moved]);
    expect(stored).toEqual({ stored: 1, added: 0, changed: 1, leftOut: 0 });
    const both = await store.upsert('101', [moved, smallCall('new', '2028-01-01 00:00:00', '1.0')]);
    expect(both).toEqual({ stored: 2, added: 1, changed: 0, leftOut: 0 });
    await store.remove('101', ['new']);
    const page = await store.page('101', { ...whole, offset: 29 });
    expect([page.total, JSON.parse(String(page.body))[0].sid]).toEqual([30, sid]);
  });

  test('it refuses a call without a sid, and its whole batch', async () => {
    await using store = await filled(newUrl);
    for (const sid of ['', null, undefined]) {
      const bad = { ...smallCall('bad', '2024-01-01 00:00:00', '1.0'), sid } as unknown as Call;
      const error = await store
        .upsert('101', [smallCall('good', '2024-01-01 00:00:00', '1.0'), bad])
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(StoreError);
      expect(error).toMatchObject({
        code: 'unfit_record',
        message: expect.stringMatching(/sid/),
        refused: [1],
      });
      expect(await store.get('101', 'good')).toBeNull();
    }
  });

  test('it refuses JSON of a thousand levels and more, and names all calls of a batch that it cannot store', async () => {
    await using store = await filled(newUrl);
    const made = (sid: string, levels: number): Call =>
      JSON.parse(`{"sid":"${sid}","more":${'['.repeat(levels)}${']'.repeat(levels)}}`);
    const batch = [made('a', 1_001), made('b', 1_000), made('', 1), made('c', 100_000)];
    await expect(store.upsert('101', batch)).rejects.toMatchObject({
      code: 'unfit_record',
      message: expect.stringContaining('1,000 levels'),
      refused: [0, 2, 3],
    });
    expect(await store.upsert('101', batch.slice(1, 2))).toMatchObject({ added: 1 });
    expect(JSON.stringify(await store.get('101', 'b'))).toContain('['.repeat(1_000));
  });

  test.each([
    ['a date of another form', { date_added: '01/02/2024' }, 'date'],
    ['a day that does not exist', { date_added: '2023-02-30 00:00:00' }, 'date'],
    ['no date', { date_added: null }, 'date'],
    ['a talk time finer than tenths', { talk_minutes: '2.45' }, 'talk'],
    ['an empty talk time', { talk_minutes: '' }, 'talk'],
    ['a talk time that is a number', { talk_minutes: 2.4 }, 'talk'],
  ])('it keeps a call with %s, and no filter on that field finds it', async (_, odd, field) => {
    await using store = await filled(newUrl);
    const call = neutral(smallCall('odd', '2024-01-01 00:00:00', '1.0', false, odd)) as Call;
    expect(await store.upsert('101', [call])).toMatchObject({ stored: 1, added: 1 });
    expect(await store.get('101', 'odd')).toEqual(call);
    expect(await store.count('101')).toBe(31);
    const dates = selectionOf(parse('date_added:[* TO *]', { version: 'v3' }), {
      extensions: true,
    });
    const talk = selectionOf(parse('talk_minutes:[0 TO *]', { version: 'v3' }), {
      extensions: true,
    });
    expect(await store.count('101', dates)).toBe(field === 'date' ? 30 : 31);
    const withTalk = calls.filter(({ talk_minutes }) => talk_minutes !== null).length;
    expect(await store.count('101', talk)).toBe(field === 'talk' ? withTalk : withTalk + 1);
    expect(await store.purge('101', '1990-01-01 00:00:00')).toMatchObject({ deleted: 0 });
    expect(await store.remove('101', ['odd'])).toBe(1);
  });

  test('it keeps calls apart whose sids differ in any character', async () => {
    await using store = await openAt(await newUrl());
    const sids = [
      'a',
      'a\0',
      'a\\0000',
      '\ud800',
      '\udc00',
      '\ufffd',
      '\\d800',
      '🙂',
      'x'.repeat(2_000),
      'x'.repeat(2_001),
    ];
    const odd = sids.map((sid) => neutral(smallCall(sid, '2024-01-01 00:00:00', '1.0')) as Call);
    for (let times = 0; times < 2; times += 1) await store.upsert('101', odd);
    expect(await store.count('101')).toBe(sids.length);
    for (const call of odd) expect(await store.get('101', call.sid)).toEqual(call);
    const page = JSON.parse(String((await store.page('101', whole)).body)) as Call[];
    expect(page.map(({ sid }) => sid).sort()).toEqual([...sids].sort());
    expect(await store.remove('101', sids.slice(3))).toBe(sids.length - 3);
  });

  test('it commits calls and the state of a sync together or not at all', async () => {
    await using store = await filled(newUrl);
    const claim = await store.claim('101', 'test');
    expect(claim.note).toBeNull();
    const fresh = smallCall('new', '2024-01-01 00:00:00', '1.0');
    await store.commitClaimed(claim, { calls: [fresh], note: { at: 1 } });
    const bad = {
      calls: [smallCall('late', '2024-01-01 00:00:00', '1.0'), smallCall('', 'never', '1.0')],
      note: { at: 2 },
    };
    await expect(store.commitClaimed(claim, bad)).rejects.toMatchObject({ code: 'unfit_record' });
    expect(await store.note('101')).toEqual({ note: { at: 1 }, notedAt: expect.any(Number) });
    expect(await store.get('101', 'late')).toBeNull();
    await expect(store.claim('999', 'test')).rejects.toMatchObject({ code: 'unknown_account' });
  });

  test('columns are from one snapshot, when calls arrive, change and go while they are read', async () => {
    await using store = await filled(newUrl);
    const many = Array.from({ length: 4_500 }, (_, i) =>
      smallCall(`m${i}`, `2027-01-01 00:00:0${i % 7}`, '1.0', false, { city: `City ${i}` }),
    );
    await store.upsert('101', [
      ...many,
      smallCall('undated', 'soon', '1.0', false, { city: 5, more: [1] }),
    ]);
    const fields = [
      'sid',
      'city',
      'talk_minutes',
      'call_duration',
      'pool_id',
      'talk_end',
      'more',
      'none',
    ];
    const wanted: unknown[] = [];
    for await (const call of store.calls('101'))
      wanted.push(fields.map((name) => (call as unknown as Record<string, unknown>)[name] ?? null));
    const found: unknown[] = [];
    let batches = 0;
    for await (const { length, columns } of store.columns('101', fields)) {
      if (batches === 0) {
        await store.upsert('101', [smallCall('late', '2028-01-01 00:00:00', '1.0')]);
        await store.upsert('101', [{ ...(many[4_499] as Call), city: 'Elsewhere' }]);
        await store.remove('101', ['m4000', 'm3000']);
      }
      batches += 1;
      for (let i = 0; i < length; i += 1) found.push(fields.map((name) => columns[name]?.[i]));
    }

    expect(batches).toBeGreaterThan(2);
    expect(found).toEqual(wanted);
    const stop = AbortSignal.abort(new Error('left'));
    await expect(
      store.columns('101', ['sid'], {}, stop)[Symbol.asyncIterator]().next(),
    ).rejects.toThrow('left');

    // Whoever leaves keeps nothing open.
    for await (const _ of store.columns('101', ['sid'])) break;
  });

  test('it gives the size and age of each account', async () => {
    await using store = await filled(newUrl, { clock: { now: () => 1_700_000_000_000 } });
    await store.putAccount({ id: '102', name: 'Empty' });
    await store.commitClaimed(await store.claim('101', 'test'), { calls: [], note: {} });
    expect(await store.sizes()).toEqual([
      {
        account: '101',
        calls: 30,
        oldest: calls[0]?.date_added,
        newest: calls[29]?.date_added,
        syncedAt: 1_700_000_000_000,
      },
      { account: '102', calls: 0, oldest: null, newest: null, syncedAt: null },
    ]);
  });

  test('it keeps hashes of credentials, and refuses them once they are revoked', async () => {
    await using store = await filled(newUrl);
    const keys = { kind: 'keys', accessKey: 'ak-plain', secretKey: 'sk-plain' } as const;
    await store.putCredential('101', keys);
    expect(await store.findAccount(keys)).toEqual({ id: '101', name: 'One', disabled: false });
    expect(await store.findAccount({ ...keys, secretKey: '' })).toBeNull();
    expect(await store.findAccount({ kind: 'bearer', token: 'ak-plain' })).toBeNull();
    await store.putAccount({ id: '102', name: 'Two' });
    await expect(store.putCredential('102', keys)).rejects.toThrow(/another account/);
    const token = 'ak-plain' as unknown as AccountCredential;
    await expect(store.putCredential('102', token)).rejects.toThrow(
      'credential must be an object with kind',
    );
    await expect(store.putAccount({ id: 'my account', name: 'x' })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/^An account id is 1 to 64 letters/),
    });
    const [info] = await store.credentials('101');
    expect(JSON.stringify(info)).not.toMatch(/plain/);
    expect(await store.revokeCredential(info?.id as string)).toBe(true);
    expect(await store.findAccount(keys)).toBeNull();
    await store.putCredential('101', keys);
    expect(
      await store.findAccount(keys),
      'a sync that brings it again does not open it',
    ).toBeNull();
    expect(await store.revokeCredential('zz')).toBe(false);
  });

  test('keys of a sync open a copy as long as the API accepts them; those that somebody added stay', async () => {
    await using store = await filled(newUrl);
    const keys = (name: string) =>
      ({ kind: 'keys', accessKey: `ak-${name}`, secretKey: `sk-${name}` }) as const;
    const token = { kind: 'bearer', token: 'of a reader' } as const;

    const open = async () => {
      const found: string[] = [];
      for (const name of ['old', 'new'])
        if ((await store.findAccount(keys(name))) !== null) found.push(name);
      if ((await store.findAccount(token)) !== null) found.push('reader');
      return found.join(' ');
    };

    await store.putCredential('101', token);
    await store.noteSyncKeys('101', [keys('old')], 'unknown');
    await store.noteSyncKeys('101', [keys('old')], 'accepted');
    expect(await open()).toBe('old reader');

    // A secret that may be mistyped does not take the place of one that the API accepts.
    await store.noteSyncKeys('101', [{ ...keys('old'), secretKey: 'wrong' }], 'unknown');
    await store.noteSyncKeys(null, [{ ...keys('old'), secretKey: 'wrong' }, token], 'refused');
    expect(await open()).toBe('old reader');
    await store.noteSyncKeys('101', [keys('new')], 'unknown');
    expect(await open()).toBe('old new reader');
    await store.noteSyncKeys('101', [keys('new')], 'accepted');
    expect(await open()).toBe('new reader');
    await store.noteSyncKeys(null, [keys('new')], 'refused');
    expect(await open()).toBe('reader');
  });

  test('it renames a disabled account without enabling it', async () => {
    await using store = await filled(newUrl);
    await store.putAccount({ id: '101', name: 'One', disabled: true });
    await store.putAccount({ id: '101', name: 'Other' });
    expect(await store.accounts()).toEqual([{ id: '101', name: 'Other', disabled: true }]);
    await store.putAccount({ id: '101', name: 'Other', disabled: false });
    expect(await store.accounts()).toEqual([{ id: '101', name: 'Other', disabled: false }]);
  });

  test('it can be opened by several processes at the same moment', async () => {
    const url = await newUrl();
    const opened = await Promise.all([1, 2, 3, 4].map(() => openStore(url)));
    await Promise.all(opened.map((store, i) => store.putAccount({ id: String(i), name: 'x' })));
    expect(await opened[0]?.accounts()).toHaveLength(4);
    await Promise.all(opened.map((store) => store.close()));
  });
});

test.each(inPostgres)(
  'a PostgreSQL store works again after its connections were closed',
  async ({ newUrl }) => {
    const url = await newUrl();
    await using store = await filled(async () => url);
    await runOn(
      url,
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    expect(await store.count('101')).toBe(30);
  },
);

test.each(inPostgres)(
  'a PostgreSQL connection that ends between two statements is replaced, and the transaction runs again',
  async ({ newUrl }) => {
    const driver = openPostgres(await newUrl(), readStoreOptions({}));
    let runs = 0;
    const pids = driver.write(async (session) => {
      runs += 1;
      const [row] = await session.all('SELECT pg_backend_pid() AS pid');
      const pid = [Number(row?.pid)];
      if (runs === 1) {
        await driver.all('SELECT pg_terminate_backend($1)', pid);
        while ((await driver.all('SELECT 1 FROM pg_stat_activity WHERE pid = $1', pid)).length > 0);
      }

      return session.all('SELECT 1 AS one');
    });
    expect([await pids, runs]).toEqual([[{ one: 1 }], 2]);
    expect(await driver.all('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await driver.close();
  },
);

test.each(inPostgres)(
  'a load into PostgreSQL looks calls up, and does not read the account for each batch',
  async ({ newUrl }) => {
    const url = await newUrl();
    const many = fixtureCalls(8000) as Call[];
    {
      await using store = await openAt(url);
      for (let at = 0; at < many.length; at += 500)
        await store.upsert('101', many.slice(at, at + 500));
    }
    const client = new pg.Client({ connectionString: url });
    await client.connect();

    const used = async () => {
      const { rows } = await client.query(
        `SELECT n_tup_ins::int AS written, (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int AS read
         FROM pg_stat_user_tables WHERE relid = 'records'::regclass`,
      );
      return rows[0];
    };

    await expect.poll(async () => (await used())?.written).toBe(many.length);
    expect((await used()).read).toBeLessThan(many.length);
    await client.end();
  },
);

test.skipIf(process.platform === 'win32')(
  'a new SQLite store, its log and its index can be read by its user only; an old one stays as it is',
  async () => {
    const url = (await stores[0]?.newUrl()) as string;
    const file = url.slice('sqlite:'.length);
    const modes = () =>
      ['', '-wal', '-shm'].map((ending) => (statSync(`${file}${ending}`).mode & 0o777).toString(8));
    const store = await openAt(url);
    await store.upsert('101', calls);
    expect(modes()).toEqual(['600', '600', '600']);
    await store.close();

    chmodSync(file, 0o640);
    await using again = await openStore(url);
    await again.upsert('101', fixtureCalls(40));
    expect(modes()).toEqual(['640', '640', '640']);
  },
);

test('a SQLite store waits for the writer of another process, also with a single statement', async () => {
  const url = (await stores[0]?.newUrl()) as string;
  await using store = await openStore(url);
  const other = new Database(url.slice('sqlite:'.length));
  other.exec('BEGIN IMMEDIATE');
  const added = store.putAccount({ id: '7', name: 'Seven' });
  await new Promise((done) => setTimeout(done, 100));
  other.exec('COMMIT');
  other.close();
  await added;
  expect(await store.accounts()).toHaveLength(1);
});

test.each([
  ['postgres://u:hidden@h:5432/db', 'postgres://h:5432/db'],
  ['postgresql://u@h/db?sslmode=require&password=hidden', 'postgresql://h/db'],
  ['postgres://u:hid@den@h/db', 'postgres://h/db'],
  ['postgres://u:hid/den@h/db', 'postgres://'],
  // An address, a port and a path, as far as the parser of URLs can tell.
  ['postgres://u:12/hidden@h/db', 'postgres://'],
  ['postgres://u:12?hidden@h/db', 'postgres://'],
  ['postgres://u:12#hidden@h/db', 'postgres://'],
  ['postgres:///db', 'postgres:///db'],
  ['sqlite:a@b/calls.db', 'sqlite:a@b/calls.db'],
])('messages call %s %s', (url, name) => {
  expect(storeName(url)).toBe(name);
});

test.each([
  [{ url: 'sqlite:calls.db' } as unknown as string, 'store_url'],
  ['mysql://u:hidden@h/db', 'store_url'],
  ['calls.db', 'store_url'],
  ['sqlite:', 'store_url'],
  ['sqlite://calls.db', 'store_url'],
  ['sqlite:///calls.db', 'store_url'],
  ['sqlite:////calls.db', 'store_url'],
  ['sqlite:/no/such/folder/calls.db', 'not_writable'],
  ['sqlite:/etc/passwd', 'store_url'],
  ['postgres://u:hidden@127.0.0.1:1/db', 'store_unavailable'],
])('%s is refused in words that hold no password', async (url, code) => {
  const error = await openStore(url).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code });
  expect(String((error as Error).message)).not.toContain('hidden');
});

test('a program that leaves out the account is told so', async () => {
  const store = await openStore('sqlite::memory:');
  const missing = undefined as unknown as string;
  const said = { code: 'invalid_option', message: expect.stringContaining('such as "101"') };
  await expect(store.count(missing)).rejects.toMatchObject(said);
  await expect(store.page(missing, whole)).rejects.toMatchObject(said);
  expect(() => store.calls(missing)).toThrow(expect.objectContaining(said));
  expect(() => store.columns(missing, ['sid'])).toThrow(expect.objectContaining(said));
  expect(() => mirrorSink(store, missing)).toThrow(expect.objectContaining(said));
  await store.close();
});

const first = <T>(items: AsyncIterable<T>) => items[Symbol.asyncIterator]().next();

test('what is no selection is refused, where all calls would have been counted', async () => {
  const store = await openStore('sqlite::memory:');
  const filter = { filter: 'talk_minutes:[2 TO *]' } as Selection;
  const noOption = { code: 'invalid_option', message: expect.stringContaining('selection.filter') };
  await expect(store.count('101', filter)).rejects.toMatchObject(noOption);
  await expect(first(store.calls('101', filter))).rejects.toMatchObject(noOption);
  await expect(store.page('101', { ...whole, selection: filter })).rejects.toMatchObject(noOption);
  await expect(first(store.columns('101', ['sid'], filter))).rejects.toMatchObject(noOption);
  await expect(store.count('101', 'talk_minutes:[2 TO *]' as unknown as Selection)).rejects.toThrow(
    'selection must be an object with period',
  );
  expect(() => store.columns('101', {} as unknown as string[])).toThrow("such as ['sid', 'city']");
  await expect(async () => store.remove('101', 'abc' as unknown as string[])).rejects.toThrow(
    "sids is a string; expected a list: sids: ['abc'].",
  );
  await store.close();
});
