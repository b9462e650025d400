import { once } from 'node:events';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { request as requestSecure } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { sheetFormats } from '@call-attribution/conversions';
import { type Call, ConfigurationError } from '@call-attribution/core';
import { describe as inWords, type Verdict } from '@call-attribution/node-stream/copies';
import { openStore, type Store } from '@call-attribution/store';
import { callWith } from '@call-attribution/test-tools/call-with';
import { localhostTls } from '@call-attribution/test-tools/tls';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createService, hashPassword, type LogEntry } from '../src/index.ts';
import { feed, feedsOf, openFeed, password } from './stage.ts';

const folder = mkdtempSync(join(tmpdir(), 'feeds-'));
const start = Date.UTC(2026, 10, 20, 12);
let time = start;
const call = (number: number, more: Partial<Record<keyof Call, unknown>> = {}): Call =>
  callWith({
    sid: String(1_000 + number),
    date_added: '2026-11-18 10:00:00',
    talk_minutes: '4.0',
    ani: `20255501${String(number).padStart(2, '0')}`,
    first_touch: null,
    displayed_timestamp: null,
    ppc_gclid: `Cj0K-click-${number}`,
    ...more,
  });

const store = await openStore('sqlite::memory:');
await store.putAccount({ id: '101', name: 'One' });
await store.upsert('101', [
  call(1),
  call(2, { date_added: '2026-11-18 11:00:00' }),
  call(3, { ppc_status: 'Not Processed' }),
  call(4, { talk_minutes: '0.0' }),
  call(5, { date_added: '2026-10-01 10:00:00' }),
]);
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  time = start;
});

const read = (feeds: object[], shared: object = { timeZone: 'America/New_York' }) =>
  feedsOf(feeds, { folder, shared });

const basic = (secret = password, user = 'google') => ({
  authorization: `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`,
});

/** The store with other calls, or another verdict. */
const reading = (calls: Store['calls'], verdict: Store['verdict'] = store.verdict): Store => ({
  ...store,
  calls,
  verdict,
});

async function serving(feeds: object[] = [feed], at = {}, options = {}) {
  const log: LogEntry[] = [];
  const service = createService({
    store,
    feeds: await read(feeds),
    clock: { now: () => time },
    log: (entry) => log.push(entry),
    ...options,
  });
  const { url } = await service.listen(at);
  afterAll(() => service.close());
  const get = (headers: Record<string, string> = basic(), path = '/feeds/clicks.csv') =>
    fetch(url + path, { headers });
  return { url, log, get };
}

describe('a feed', () => {
  test('"where" and what is excluded are conditions in the words of definitions, and are counted', async () => {
    const configured = {
      definitions: { early: 'hour = 10', lead: 'NOT early', office: "sid = '1002'" },
      exclude: 'office',
    };
    const made = (where: string, more = {}) =>
      feedsOf([{ ...feed, where }], { shared: { timeZone: 'UTC' }, configured, ...more });
    const leftOut = async (feeds: Awaited<ReturnType<typeof made>>) => {
      const service = createService({ store, feeds, clock: { now: () => time } });
      const { url } = await service.listen();
      const headers = { ...basic(), accept: 'application/json' };
      const lines = (await (await fetch(`${url}/feeds/clicks.csv`, { headers })).text()).trim();
      const status = (await (await fetch(`${url}/feeds`, { headers })).json()) as {
        readonly feeds: readonly { readonly leftOut: object }[];
      };
      await service.close();
      return [lines.split('\r\n').length - 1, status.feeds[0]?.leftOut];
    };
    const others = { status_not_final: 1, unanswered: 1 };
    expect(await leftOut(await made('early'))).toEqual([1, { ...others, excluded: 1 }]);
    expect(
      await leftOut(await made('lead', { configured: { ...configured, exclude: undefined } })),
    ).toEqual([1, { ...others, not_chosen: 1 }]);
    await expect(made('leed')).rejects.toThrow(
      /^feeds\.json: feeds\[0\]: where has a mistake: .*lead/,
    );
  });

  test('it has the headings in the first row and the calls of its window that count', async () => {
    const { get, log } = await serving();
    const response = await get();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(await response.text()).toBe(
      [
        'Google Click ID,Conversion Name,Conversion Time,Conversion Value,Conversion Currency',
        'Cj0K-click-1,Phone lead,2026-11-18 10:00:00-0500,,',
        'Cj0K-click-2,Phone lead,2026-11-18 11:00:00-0500,,',
        '',
      ].join('\r\n'),
    );
    const line = () => log.find(({ route }) => route === '/feeds/clicks.csv');
    const said = { message: 'completed', status: 200, account: '101', user: 'google', rows: 2 };
    await expect.poll(line).toMatchObject(said);
    expect(JSON.stringify(log)).not.toMatch(/202555|Cj0K|correct horse|127\.0\.0\.1/);
  });

  test('it is not sent again to a client that has it, until a call changes', async () => {
    const { get } = await serving();
    const first = await get();
    const etag = String(first.headers.get('etag'));
    time += 5 * 60_000;
    const again = await get({ ...basic(), 'if-none-match': `"other", ${etag}` });
    expect([again.status, await again.text()]).toEqual([304, '']);
    await store.upsert('101', [call(3)]);
    time += 5 * 60_000;
    const changed = await get({ ...basic(), 'if-none-match': etag });
    expect([changed.status, (await changed.text()).includes('click-3')]).toEqual([200, true]);
    expect(changed.headers.get('etag')).not.toBe(etag);
    await store.upsert('101', [call(3, { ppc_status: 'Not Processed' })]);
  });

  test('it is made once for all who fetch it within a minute, and not at all without a password', async () => {
    let reads = 0;

    const calls = async function* () {
      reads += 1;
      for (let number = 0; number < 3_000; number += 1) yield call(number);
    };

    const { get } = await serving([feed], {}, { store: reading(calls) });
    expect((await get({})).status).toBe(401);
    const bodies = await Promise.all(Array.from({ length: 5 }, async () => (await get()).text()));
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]?.split('\r\n')).toHaveLength(3_002);
    expect(reads).toBe(1);
    time += 61_000;
    await get();
    expect(reads).toBe(2);
  });

  test('while it is made, other requests are served', async () => {
    const calls = async function* () {
      for (let number = 0; number < 5_000; number += 1) yield call(number);
    };

    const { get } = await serving([feed], {}, { store: reading(calls) });
    const order: string[] = [];
    const slow = get().then(() => order.push('feed'));
    for (let i = 0; i < 3; i += 1) {
      expect((await get({}, '/healthz')).status).toBe(200);
      order.push('health');
    }

    await slow;
    expect(order).toEqual(['health', 'health', 'health', 'feed']);
  });

  test('it is packed for a client that accepts it', async () => {
    const { url } = await serving();
    const options = { headers: { ...basic(), 'accept-encoding': 'gzip' } };
    const [response] = await once(request(`${url}/feeds/clicks.csv`, options).end(), 'response');
    const packed = await buffer(response);
    expect((packed[0] === 0x1f ? gunzipSync(packed) : packed).toString()).toContain('Cj0K-click-1');
  });

  test('a row that the tool would refuse is left out and counted', async () => {
    const calls = async function* () {
      yield call(1, { ppc_gclid: undefined, landing_page: 'https://a.example/?msclkid=short' });
    };

    const microsoft = { ...feed, format: 'microsoft-ads', path: '/feeds/ms.csv' };
    const { get } = await serving([microsoft], {}, { store: reading(calls) });
    const text = await (await get(basic(), '/feeds/ms.csv')).text();
    expect(text.split('\r\n')[0]).toBe('Parameters:TimeZone=+0000,,,,');
    expect(text).not.toContain('short');
    const status = await (await get({ ...basic(), accept: 'application/json' }, '/feeds')).json();
    expect(status).toMatchObject({ feeds: [{ rows: 0, leftOut: { wrong_form: 1 } }] });
  });
});

test('a feed of a copy that is not whole carries on, and its status says what the copy lacks', async () => {
  const gap = {
    from: null,
    to: '2026-01-01 00:00:00',
    is: 'short',
    why: 'fewer',
    missing: 1,
    calls: 2,
    sids: [],
  };
  const asked = { from: null, to: null };
  const short = { proof: 'short', asked, proved: 2, gaps: [gap] };
  let verdict: Verdict | null = { ...short, notes: [] } as unknown as Verdict;
  const lacks = inWords(verdict).lacks;
  expect(lacks).toMatch(/1 call\b.* missing/);
  const { get } = await serving([feed], {}, { store: reading(store.calls, async () => verdict) });
  expect((await get(basic(), feed.path)).status).toBe(200);
  expect(await (await get(basic(), '/feeds')).text()).toContain(`INCOMPLETE: ${lacks}`);
  const status = async () =>
    (await get({ ...basic(), accept: 'application/json' }, '/feeds')).json();
  expect(await status()).toMatchObject({ feeds: [{ incomplete: lacks }] });
  const only = [{ filter: 'talk_minutes:[5 TO *]', from: null, to: null }];
  verdict = { ...short, proof: 'whole', gaps: [], notes: [], only, unasked: [] };
  const scope = 'only calls with talk_minutes:[5 TO *]';
  expect(await status()).toMatchObject({ feeds: [{ incomplete: null, only: scope }] });
  expect(await (await get(basic(), '/feeds')).text()).toContain(`<td>${scope}</td>`);
  verdict = null;
  expect(await status()).toMatchObject({ feeds: [{ incomplete: null, only: null }] });
  expect(await (await get(basic(), '/feeds')).text()).not.toContain('INCOMPLETE');
});

describe('a feed that has each call once', () => {
  test('it has the same calls within a period, and only new ones in the next, also after a restart', async () => {
    const once = {
      ...feed,
      format: 'marin',
      path: '/feeds/marin.tsv',
      once: '1d',
      ledger: 'once.ledger',
    };
    const calls = [1, 2].map((number) => call(number, { url_tag: `mkwid=k${number}abc` }));

    const rows = async (
      get: (headers: object, path: string) => Promise<Response>,
    ): Promise<string[]> =>
      (await (await get(basic(), once.path)).text())
        .trim()
        .split('\r\n')
        .slice(1)
        .map((line) => line.split('\t')[1] ?? '');

    const start = async () => {
      const service = createService({
        store: reading(async function* () {
          yield* calls;
        }),
        feeds: await read([once]),
        clock: { now: () => time },
      });
      const { url } = await service.listen();
      const get = (headers: object, path: string) => fetch(url + path, { headers: { ...headers } });
      return { service, get };
    };

    let { service, get } = await start();
    expect(await rows(get)).toEqual(['k1abc', 'k2abc']);
    calls.push(call(3, { url_tag: 'mkwid=k3abc' }));
    time += 3_600_000;
    expect(await rows(get)).toEqual(['k1abc', 'k2abc', 'k3abc']);
    await service.close();
    ({ service, get } = await start());
    expect(await rows(get)).toEqual(['k1abc', 'k2abc', 'k3abc']);
    time += 86_400_000;
    calls.push(call(4, { url_tag: 'mkwid=k4abc' }));
    expect(await rows(get)).toEqual(['k4abc']);
    const status = await (await get({ ...basic(), accept: 'application/json' }, '/feeds')).json();
    expect(status).toMatchObject({ feeds: [{ rows: 1, leftOut: { sent_before: 3 } }] });
    await service.close();
  });

  test('only a sheet that was sent whole counts', async () => {
    const once = { ...feed, once: '1d', ledger: 'whole.ledger' };
    const service = createService({ store, feeds: await read([once]), clock: { now: () => time } });
    const { url } = await service.listen();
    const head = await fetch(url + feed.path, { method: 'HEAD', headers: basic() });
    expect(head.status).toBe(200);
    time += 86_400_000;
    const lines = async () =>
      (await (await fetch(url + feed.path, { headers: basic() })).text()).split('\r\n');
    expect(await lines()).toHaveLength(4);
    time += 86_400_000;
    expect(await lines()).toHaveLength(2);
    await service.close();
  });
});

describe('a slow client of a feed that has each call once, across the border of two periods', () => {
  const once = { ...feed, once: '1d' };
  const rowsOf = (text: string): string[] =>
    text.split('\r\n').flatMap((line) => /^Cj0K-click-\d+/.exec(line) ?? []);

  /** A service whose calls grow, and what a client gets of it that reads when it likes. */
  async function start(ledger: string) {
    const calls = Array.from({ length: 2_000 }, (_, number) => call(number));
    const made: (() => void)[] = [];
    const service = createService({
      store: reading(async function* () {
        yield* [...calls];
        for (const each of made.splice(0)) each();
      }),
      feeds: await read([{ ...once, ledger }]),
      clock: { now: () => time },
    });
    const get = async (signal?: AbortSignal) =>
      service.fetch(
        new Request(`http://127.0.0.1${feed.path}`, { headers: basic(), signal: signal ?? null }),
      );
    return { service, calls, made, get };
  }

  test('what is on its way counts as delivered for the next period', async () => {
    const { service, calls, get } = await start('slow.ledger');
    const slow = await get();
    time += 86_400_000;
    calls.push(call(5_000));
    expect(rowsOf(await (await get()).text())).toEqual(['Cj0K-click-5000']);
    expect(rowsOf(await slow.text())).toHaveLength(2_000);
    time += 86_400_000;
    expect(rowsOf(await (await get()).text())).toEqual([]);
    await service.close();
  });

  test('what its client did not take comes in a later sheet', async () => {
    const { service, calls, get } = await start('left.ledger');
    const controller = new AbortController();
    const slow = await get(controller.signal);
    time += 86_400_000;
    calls.push(call(5_000));
    expect(rowsOf(await (await get()).text())).toHaveLength(1);
    controller.abort();
    await expect(slow.text()).rejects.toThrow();
    time += 86_400_000;
    expect(rowsOf(await (await get()).text())).toHaveLength(2_000);
    await service.close();
  });

  test('a sheet that is made while the period ends is made again for the next one', async () => {
    const { service, calls, made, get } = await start('made.ledger');
    const first = get();
    made.push(() => {
      time += 86_400_000;
      calls.push(call(5_000));
    });
    expect(rowsOf(await (await first).text())).toHaveLength(2_001);
    expect(rowsOf(await (await get()).text())).toHaveLength(2_001);
    time += 86_400_000;
    expect(rowsOf(await (await get()).text())).toEqual([]);
    await service.close();
  });
});

describe('its password', () => {
  test('it is asked for, and a wrong one is refused without a hint of what is wrong', async () => {
    const { get } = await serving();
    const without = await get({});
    expect(without.status).toBe(401);
    expect(without.headers.get('www-authenticate')).toBe('Basic realm="feeds", charset="UTF-8"');
    const bodies = [basic('wrong'), basic(password, 'other'), basic('')].map(async (headers) => {
      const response = await get(headers);
      const { detail } = (await response.json()) as { detail: string };
      return [response.status, detail];
    });
    for (const body of await Promise.all(bodies))
      expect(body).toEqual([401, 'The user name or the password is wrong.']);
  });

  test('an address has at most 20 tries at once, those at the status page included, and others are let in', async () => {
    let release = (): void => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    let checks = 0;

    const accepts = async (_: string, secret: string) => {
      if (secret === password) return true;
      checks += 1;
      await held;
      return false;
    };

    const feeds = (await read([feed, { ...feed, path: '/feeds/other.csv' }])).map((each) => ({
      ...each,
      access: { user: 'google', accepts },
    }));
    const { get } = await serving([feed], {}, { feeds, proxies: ['127.0.0.1'] });
    const from = (address: string, secret: string, path = feed.path) =>
      get({ ...basic(secret), 'x-forwarded-for': address }, path);
    const paths = [feed.path, '/feeds/other.csv', '/feeds'];
    const guesses = Array.from({ length: 20 }, (_, i) =>
      from('192.0.2.1', `wrong ${i}`, paths[i % 3]),
    );
    await expect.poll(() => checks).toBe(20);
    for (const path of paths) {
      const refused = await from('192.0.2.1', 'wrong', path);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    }

    expect((await from('192.0.2.2', password)).status).toBe(200);
    release();
    for (const guess of guesses) expect((await guess).status).toBe(401);
    expect((await from('192.0.2.1', password)).status).toBe(200);
  });

  test('it may come from a file or as a hash', async () => {
    writeFileSync(join(folder, 'password'), `${password}\n`);
    const bare = { ...openFeed, user: 'google' };
    const { get } = await serving([
      { ...bare, path: '/feeds/file.csv', passwordFile: 'password' },
      { ...bare, path: '/feeds/hash.csv', passwordHash: await hashPassword(password) },
    ]);

    const statuses = async (headers: Record<string, string>) =>
      Promise.all(
        ['/feeds/file.csv', '/feeds/hash.csv'].map(
          async (path) => (await get(headers, path)).status,
        ),
      );

    expect(await statuses(basic())).toEqual([200, 200]);
    expect(await statuses(basic())).toEqual([200, 200]);
    expect(
      await Promise.all([statuses(basic('wrong')), statuses(basic(password, 'other'))]),
    ).toEqual([
      [401, 401],
      [401, 401],
    ]);
  });

  test('without one a feed is only for this machine', async () => {
    const { get, url } = await serving([openFeed]);
    expect((await get({})).status).toBe(200);
    const rebound = await new Promise<number | undefined>((done) => {
      const headers = { host: 'evil.example' };
      request(`${url}/feeds/clicks.csv`, { headers }, (response) =>
        done(response.resume().statusCode),
      ).end();
    });
    expect(rebound).toBe(403);
    const feeds = await read([openFeed]);
    for (const [options, host] of [
      [{}, '0.0.0.0'],
      [{ proxies: ['127.0.0.1'] }, '127.0.0.1'],
    ] as const) {
      const service = createService({ store, feeds, ...options });
      await expect(service.listen({ host })).rejects.toThrow(
        'The feed /feeds/clicks.csv has no password',
      );
    }
  });
});

describe('the status', () => {
  test('it shows each feed to whoever may fetch it, and counts in the metrics', async () => {
    const { get, url } = await serving();
    await get();
    await get(basic('wrong'));
    expect((await get({}, '/feeds')).status).toBe(401);
    const page = await (await get(basic(), '/feeds')).text();
    expect(page).toContain('/feeds/clicks.csv');
    expect(page).toContain('nobody answered the call');
    expect(page).not.toMatch(/Cj0K|202555/);
    const status = await (await get({ ...basic(), accept: 'application/json' }, '/feeds')).json();
    const counted = { rows: 2, fetches: 1, refusals: 1, lastFetch: '2026-11-20T12:00:00.000Z' };
    expect(status).toMatchObject({ feeds: [{ path: '/feeds/clicks.csv', ...counted }] });
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('calls_feed_rows{feed="/feeds/clicks.csv"} 2');
    expect(metrics).toContain('calls_feed_refusals_total{feed="/feeds/clicks.csv"} 1');
  });

  test('a password shows its feeds, and those without one, which a wrong password does not show', async () => {
    const other = { ...feed, path: '/feeds/other.csv', user: 'other' };
    const { get } = await serving([feed, other, { ...openFeed, path: '/feeds/open.csv' }]);

    const shown = async (headers: Record<string, string>) => {
      const response = await get({ ...headers, accept: 'application/json' }, '/feeds');
      const { feeds } = (await response.json()) as { feeds?: { path: string }[] };
      return feeds?.map(({ path }) => path) ?? response.status;
    };

    expect(await shown(basic())).toEqual(['/feeds/clicks.csv', '/feeds/open.csv']);
    expect(await shown({})).toEqual(['/feeds/open.csv']);
    expect(await shown(basic('wrong'))).toBe(401);
  });
});

describe('TLS', () => {
  test('a client fetches a feed over https', async () => {
    const { url } = await serving([feed], { tls: localhostTls });
    expect(url).toMatch(/^https:/);
    const options = { headers: basic(), ca: localhostTls.cert, servername: 'localhost' };
    const [response] = await once(
      requestSecure(`${url}/feeds/clicks.csv`, options).end(),
      'response',
    );
    expect([response.statusCode, await text(response)]).toEqual([
      200,
      expect.stringMatching(/^Google Click/),
    ]);
  });
});

describe('a file of feeds', () => {
  const wrong: [string, object, string][] = [
    [
      'no time zone',
      { timeZone: undefined },
      'feeds[0].timeZone is missing; it must be a time zone such as America/New_York',
    ],
    ['a window that is too long', { window: '91d' }, 'feeds[0].window is too long: Google Ads'],
    [
      'two feeds at one path',
      [feed, feed],
      'feeds.json: feeds[1].path is the same as that of feeds[0]: /feeds/clicks.csv',
    ],
    [
      'a password in clear',
      { password: 'hunter2' },
      'feeds[0].password must not be in the file; use passwordEnv',
    ],
    [
      'a user without a password',
      { passwordEnv: undefined },
      'feeds[0] has a user without a password; use passwordEnv',
    ],
    [
      'a password without a user',
      { user: undefined },
      'feeds[0].user is missing: there is a password',
    ],
    [
      'a variable of another kind',
      { passwordEnv: 'SECRET' },
      'feeds[0].passwordEnv must be the name of a variable CALLS_..._PASSWORD',
    ],
    [
      'a variable that is not set',
      { passwordEnv: 'CALLS_X_PASSWORD' },
      'feeds[0].passwordEnv names CALLS_X_PASSWORD, which holds no password',
    ],
    [
      'a wrong hash',
      { passwordEnv: undefined, passwordHash: 'md5' },
      'feeds[0].passwordHash is not a hash',
    ],
    [
      'two passwords',
      { passwordFile: 'secret' },
      'feeds[0] has more than one password; use passwordEnv',
    ],
    [
      'a password file that is missing',
      { passwordEnv: undefined, passwordFile: 'none' },
      'feeds[0].passwordFile names none, which cannot be read (ENOENT)',
    ],
    [
      'an unknown name',
      { windw: '7d' },
      'feeds.json: feeds[0] has an unknown name "windw"; did you mean window?',
    ],
    [
      'an unknown format',
      { format: 'google-ads-click' },
      `feeds[0].format must be one of ${Object.keys(sheetFormats).join(', ')}, not "google-ads-click"; did you mean google-ads-clicks?`,
    ],
    [
      'a format that adds up',
      { format: 'marin', path: '/m.tsv' },
      'feeds[0] is for Marin, revenue upload (add), which adds what it gets',
    ],
    [
      'a period without a ledger',
      { once: '1d' },
      'feeds[0].ledger is missing: once needs it; write both',
    ],
    [
      'a period that is too short',
      { once: '5m', ledger: 'x' },
      'feeds[0].once must be a duration of an hour or more',
    ],
    ['another ending', { path: '/feeds/clicks.txt' }, 'feeds[0].path must be a path of letters'],
    [
      'no conversion name',
      { conversionName: undefined },
      'feeds[0].conversionName is missing: Google Ads',
    ],
    ['two values', { value: 1, valueRules: 'r.json' }, 'feeds[0] has both value and valueRules'],
    [
      'a rule file that is missing',
      { valueRules: 'none.json' },
      'feeds[0].valueRules names none.json, which cannot be read (ENOENT)',
    ],
    ['no feed', [], 'feeds.json: feeds must be a list of at least one feed'],
  ];
  test.each(wrong)('with %s it is refused in one sentence', async (_, changes, message) => {
    const feeds = Array.isArray(changes) ? changes : [{ ...feed, ...changes }];
    const error = await read(feeds, feeds[0] && 'timeZone' in feeds[0] ? {} : undefined).catch(
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(String(error)).toContain(message);
    expect(String(error)).not.toMatch(/hunter2|correct horse/);
  });
});

describe('a feed of outcomes', () => {
  const file = join(folder, 'sales.csv');
  const sales = { ...feed, outcomes: 'sales.csv', conversionName: 'Sale' };
  const head = 'phone,time,value,id';
  const write = (lines: readonly string[], ageSeconds = 60) => {
    writeFileSync(file, `${lines.join('\n')}\n`);
    const at = Date.now() / 1000 - ageSeconds;
    utimesSync(file, at, at);
  };
  const row = '2025550101,2026-11-19 09:00:00,250,A1';

  test('has the sales of its window, with the click of their call however far back it is', async () => {
    write([head, row, '2025550104,2026-11-19 10:00:00,80,A2', '2025550105,2026-10-20,9,A3']);
    const { get } = await serving([{ ...sales, window: '2d' }]);
    const [, , ...rows] = (await (await get()).text())
      .trim()
      .split('\r\n')
      .map((line) => line);
    expect([...rows].map((line) => line.split(',').slice(0, 4))).toEqual([
      ['Cj0K-click-4', 'Sale', '2026-11-19 10:00:00-0500', '80.00'],
    ]);
    const { get: longer } = await serving([{ ...sales, window: '2d', outcomeWindow: '60d' }]);
    expect(await (await longer()).text()).toContain(
      'Cj0K-click-1,Sale,2026-11-19 09:00:00-0500,250.00',
    );
  });

  test('answers 503 while its file is missing, cut or being written, and never has fewer rows', async () => {
    write([head, row]);
    const { get } = await serving([sales]);
    const whole = await (await get()).text();
    expect(whole).toContain('250.00');
    const refusal = async () => {
      time += 61_000;
      const response = await get();
      expect(response.headers.get('retry-after')).toBe('60');
      const { status, code, detail } = (await response.json()) as Record<string, unknown>;
      return [status, code, detail];
    };
    rmSync(file);
    expect(await refusal()).toEqual([503, 'file_unavailable', 'sales.csv: there is no such file']);
    write([head, row.slice(0, 20)]);
    const cut =
      'sales.csv, row 2: it ends before its last column: is the file whole, or is it still being written?';
    expect(await refusal()).toEqual([503, 'file_unavailable', cut]);
    write([head]);
    writeFileSync(file, '');
    utimesSync(file, 1, 1);
    expect(await refusal()).toEqual([
      503,
      'file_unavailable',
      expect.stringContaining('no headings were found'),
    ]);
    write([head, row], 0);
    expect(await refusal()).toEqual([
      503,
      'file_unavailable',
      'sales.csv is being written: try again.',
    ]);
    write([head, row]);
    time += 61_000;
    expect(await (await get()).text()).toBe(whole);
  });

  test('that sends each sale once does not send one from an older file that a newer one took back', async () => {
    const { get } = await serving([{ ...sales, once: '1d', ledger: 'sales.ledger' }]);
    const other = '2025550104,2026-11-19 10:00:00,80,A2,won';
    const valuesOf = async (...lines: string[]) => {
      write([`${head},status`, ...lines]);
      const rows = (await (await get()).text()).trim().split('\r\n').slice(1);
      time += 86_400_000;
      return rows.map((line) => line.split(',')[3]);
    };
    const paid = `${row},won`;
    const refunded = paid.replace('19 09', '19 11').replace('won', 'refunded');
    expect(await valuesOf(refunded, other)).toEqual(['80.00']);
    expect(await valuesOf(paid)).toEqual([]);
    expect(await valuesOf(paid.replace('19 09', '19 12'))).toEqual(['250.00']);
  });

  test.each<[string, object[], string]>([
    [
      'calls under the same name',
      [sales, { ...feed, path: '/other.csv', conversionName: 'Sale' }],
      'is that of a feed of outcomes, and one call would count twice',
    ],
    [
      'a value',
      [{ ...sales, value: 5 }],
      'outcomes does not go with value or valueRules: each outcome has a value',
    ],
    [
      'how its file is read, and no file',
      [{ ...feed, outcomeDates: 'dmy' }],
      'outcomes is missing',
    ],
    ['a tool without values', [{ ...sales, format: 'skai' }], 'which takes calls without a value'],
  ])('that has %s is refused when it is read', async (_, feeds, message) => {
    await expect(read(feeds)).rejects.toThrow(message);
  });
});
