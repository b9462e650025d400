import { fields } from '@call-attribution/core/fields';
import { openStore, type Store } from '@call-attribution/store';
import { callWith } from '@call-attribution/test-tools/call-with';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createService, hashPassword, readViewers, type Service } from '../src/index.ts';
import { accountOf, feed, feedsOf } from './stage.ts';

const passwords = { harbor: 'harbor password 1', agency: 'agency password 2' };
const hour = 3_600_000;
const context = { source: 'viewers', folder: '.', env: {} };
let now = Date.parse('2026-11-01T12:00:00Z');
let store: Store;
let service: Service;
let url = '';
let viewersJson = '';

const create = async (json: string) =>
  createService({
    store,
    accounts: [accountOf('101'), accountOf('102')],
    clock: { now: () => now },
    feeds: await feedsOf([{ ...feed, account: '102' }]),
    page: {
      password: 'the password of all',
      viewers: await readViewers(json, context),
    },
  });

beforeAll(async () => {
  store = await openStore('sqlite::memory:');
  viewersJson = JSON.stringify([
    {
      user: 'harbor',
      passwordHash: await hashPassword(passwords.harbor),
      accounts: ['101'],
      personal: false,
    },
    { user: 'agency', passwordHash: await hashPassword(passwords.agency) },
  ]);
  service = await create(viewersJson);
  ({ url } = await service.listen());
  const told = { date_added: '2026-10-20 10:00:00', talk_minutes: '3.0' };
  await store.upsert('101', [
    callWith({
      ...told,
      sid: 'own',
      ani: '12025550111',
      last_name: 'Private',
      nickname: 'Private too',
      landing_page: '/thanks?phone=2025550111',
      ppc_campaign: 'Brand',
    }),
  ]);
  await store.upsert('102', [
    callWith({ ...told, sid: 'other', ani: '12025550222', ppc_campaign: 'Secret campaign' }),
  ]);
});
afterAll(async () => {
  await service.close();
  await store.close();
});

/** Signs in as a browser does, and returns the cookie. */
async function signIn(user: string, password: string, at = url): Promise<string> {
  const response = await fetch(`${at}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ user, password }),
    headers: { 'sec-fetch-site': 'same-origin' },
  });
  expect(response.status).toBe(303);
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

const get = (path: string, cookie = '', headers: Record<string, string> = {}, at = url) =>
  fetch(`${at}${path}`, { headers: { cookie, ...headers }, redirect: 'manual' });
const harbor = () => signIn('harbor', passwords.harbor);
const aboutOf = async (cookie: string) =>
  (await (await get('/page/about.json', cookie)).json()) as {
    readonly hidden: readonly string[];
    readonly accounts: readonly object[];
  };

describe('signing in', () => {
  test('a browser without a session gets the page to sign in, by itself, and a script is asked for Basic', async () => {
    const page = await get('/', '', { accept: 'text/html,*/*' });
    expect(page.headers.get('www-authenticate')).toBeNull();
    const text = await page.text();
    expect(text).toMatch(/<form id="sign-in".*method="post" action="sign-in" novalidate>/);
    expect(text).not.toContain('app.js');
    const script = await get('/page/calls.json');
    expect(script.status).toBe(401);
    expect(script.headers.get('www-authenticate')).toContain('Basic');
    const ofPage = await get('/page/calls.json', '', { 'x-calls-page': '1' });
    expect([ofPage.status, ofPage.headers.get('www-authenticate')]).toEqual([401, null]);
  });

  test('the cookie is out of reach of scripts and other sites, lasts 12 hours and is for TLS where there is TLS', async () => {
    const send = (headers: Record<string, string>) =>
      fetch(`${url}/sign-in`, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams(
          passwords.harbor ? { user: 'harbor', password: passwords.harbor } : {},
        ),
        headers,
      });
    const plain = (await send({})).headers.get('set-cookie');
    expect(plain).toMatch(
      /^calls_session=[\w.-]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const proxied = await send({ 'x-forwarded-proto': 'https' });
    expect(proxied.headers.get('set-cookie')).toMatch(/; Secure/);
  });

  test('a wrong password, a wrong name and the password of another viewer are told alike', async () => {
    const texts = [];
    for (const [user, password] of [
      ['harbor', 'wrong'],
      ['nobody', passwords.harbor],
      ['harbor', passwords.agency],
      ['agency', passwords.harbor],
    ] as const) {
      const response = await fetch(`${url}/sign-in`, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ user, password }),
      });
      expect(response.status).toBe(403);
      expect(response.headers.get('set-cookie')).toBeNull();
      texts.push(await response.text());
    }

    expect(texts[0]).toContain('The user name or the password is wrong.');
    expect(new Set(texts).size).toBe(1);
  });

  test('a form of another website is refused', async () => {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ] as Record<string, string>[])
      for (const path of ['/sign-in', '/sign-out']) {
        const response = await fetch(`${url}${path}`, {
          method: 'POST',
          redirect: 'manual',
          body: new URLSearchParams({ user: 'harbor', password: passwords.harbor }),
          headers,
        });
        expect(response.status).toBe(403);
        expect(await response.json()).toMatchObject({ code: 'other_site' });
      }
  });

  test('a session goes on after a restart, ends with 12 hours of silence, after 30 days, by signing out and with another password', async () => {
    const begun = now;
    const cookie = await harbor();
    const status = async (sent: string, at = url) =>
      (await get('/page/about.json', sent, {}, at)).status;

    await using restarted = await create(viewersJson);
    const { url: again } = await restarted.listen();
    expect(await status(cookie, again)).toBe(200);

    await using changed = await create(
      JSON.stringify([{ user: 'harbor', passwordHash: await hashPassword('another password') }]),
    );
    const { url: other } = await changed.listen();
    expect(await status(cookie, other)).toBe(401);

    now = begun + 11 * hour;
    const renewed = (await get('/page/about.json', cookie)).headers.get('set-cookie');
    const next = renewed?.split(';')[0] ?? '';
    now = begun + 13 * hour;
    expect(await status(cookie)).toBe(401);
    expect(await status(next)).toBe(200);

    let last = next;
    while (now < begun + 30 * 24 * hour) {
      const response = await get('/page/about.json', last);
      expect(response.status).toBe(200);
      last = response.headers.get('set-cookie')?.split(';')[0] ?? last;
      now += 11 * hour;
    }

    expect(await status(last)).toBe(401);

    now = begun;
    await fetch(`${url}/sign-out`, { method: 'POST', redirect: 'manual', headers: { cookie } });
    expect(await status(cookie)).toBe(401);
  });

  test('a cookie that somebody has changed is none', async () => {
    const cookie = await harbor();
    const [text = '', signature = ''] = cookie.slice('calls_session='.length).split('.');
    const said = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    const forged = Buffer.from(JSON.stringify(['agency', ...said.slice(1)])).toString('base64url');
    for (const value of [
      `${forged}.${signature}`,
      `${text}.`,
      `${text}.AAAA`,
      '',
      'x',
      `${forged}`,
    ])
      expect((await get('/page/about.json', `calls_session=${value}`)).status).toBe(401);
  });
});

describe('what a viewer sees', () => {
  test('every path that shows something is closed to who has not signed in, and shows viewers their own accounts only', async () => {
    const cookie = await harbor();
    const shown = service.routes.filter(({ shows }) => shows !== 'nothing');
    expect(shown.length).toBeGreaterThan(8);
    for (const { path, who } of shown) {
      expect(who).not.toBe('anyone');
      const at = path.replace('{sid}', 'other');
      expect({ path, status: (await get(at)).status }).toEqual({ path, status: 401 });

      // Of their own account, viewers without personal data see none.
      const queries = [
        '',
        '?sid=own',
        '?field=landing_page',
        '?account=102',
        '?account=Account+102',
        '?sid=other',
        '?sid=other&account=102',
        '?field=ppc_campaign',
      ];
      for (const query of queries) {
        const response = await get(`${at}${query}`, cookie);
        const text = await response.text();
        expect(text).not.toMatch(/Secret campaign|12025550222|"other"|Account 102/);
        expect(text).not.toMatch(/2025550111|Private/);
        if (who !== 'viewer') expect(response.status).toBe(401);
      }
    }
  });

  test('without personal data, numbers, names and what visitors wrote are hidden in lists, records, groups and files', async () => {
    const cookie = await harbor();
    const about = await aboutOf(cookie);
    expect(about).toMatchObject({ user: 'harbor', accounts: [{ id: '101' }] });
    const personal = fields.filter((field) => field.personal).map(({ name }) => name);
    expect(about.hidden).toEqual(
      expect.arrayContaining([...personal, 'search_term', 'custom_value']),
    );

    for (const path of [
      '/page/calls.json',
      '/page/calls.json?sid=own',
      '/page/calls.csv',
      '/page/summary.json',
      '/page/groups.csv?field=landing_page',
    ]) {
      const response = await get(path, cookie);
      expect(response.status).toBe(200);
      expect(await response.text()).not.toMatch(/2025550111|Private/);
    }

    for (const query of [
      'fields=ani',
      'fields=sid,last_name',
      'only={"landing_page":["/thanks?phone=2025550111"]}',
    ])
      expect((await get(`/page/calls.json?${query}`, cookie)).status).toBe(400);
  });

  test('with personal data, and with the password of the page, everything is shown', async () => {
    for (const cookie of [
      await signIn('agency', passwords.agency),
      await signIn('', 'the password of all'),
    ]) {
      expect((await aboutOf(cookie)).accounts).toHaveLength(2);
      expect(await (await get('/page/calls.csv?account=102', cookie)).text()).toContain(
        '12025550222',
      );
    }
  });

  test('scripts send the same names and passwords with HTTP Basic', async () => {
    const basic = (user: string, password: string) => ({
      authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
    });
    const list = await get('/page/calls.json?fields=sid', '', basic('harbor', passwords.harbor));
    expect(await list.json()).toMatchObject({ calls: [{ sid: 'own' }] });
    expect((await get('/page/calls.json', '', basic('harbor', passwords.agency))).status).toBe(401);
  });
});

test('a list of viewers with a mistake is refused in one sentence', async () => {
  const refused = (json: unknown) => readViewers(JSON.stringify(json), context);
  await expect(refused({})).rejects.toThrow('must be a list of viewers');
  await expect(refused([{ accounts: ['101'] }])).rejects.toThrow('[0].user is missing');
  await expect(refused([{ user: 'a' }])).rejects.toThrow('has a user without a password');
  await expect(refused([{ user: 'a', password: 'hunter2hunter2' }])).rejects.toThrow(
    /password must not be in the file/,
  );
  await expect(refused([{ user: 'a', acounts: [] }])).rejects.toThrow(/acounts/);
  const one = { user: 'a', passwordHash: await hashPassword('correct horse battery') };
  await expect(refused([one, one])).rejects.toThrow('has the user a twice');
});
