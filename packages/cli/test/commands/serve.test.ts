import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { generate } from '@call-attribution/sandbox';
import { openStore } from '@call-attribution/store';
import { afterAll, describe, expect, test } from 'vitest';
import { type Live, startLive } from '../live.ts';
import { freePort, nobody, openOwnStage } from '../stage.ts';

const stage = await openOwnStage({ records: 300, days: 20, to: '2026-11-21 07:00:00' });
const folder = stage.folder();
afterAll(() => stage.close());
// Windows has no signals to listen to: a process that receives one just ends.
const stopped = process.platform === 'win32' ? null : 0;
const mirror = `sqlite:${join(folder, 'mirror.db')}`;
const calls = (
  args: readonly string[],
  options: { input?: string; env?: Record<string, string> } = {},
) => stage.quick(args, { cwd: folder, ...options });
const store = (args: readonly string[], options = {}) =>
  calls(['store', ...args, '--store', mirror], options);

interface Ready {
  readonly url: string;
  readonly legacyUrl: string;
  readonly accounts: readonly Record<string, string>[];
}

async function ready(args: readonly string[], env = {}): Promise<{ ready: Ready; live: Live }> {
  const live = startLive(stage, ['serve', ...args, '--port', '0', '--ready-json'], env, folder);
  const [line] = await live.until(/^\{.*\}\n/);
  return { ready: JSON.parse(line), live };
}

/** What the page shows of a report, or of what was set up. */
interface Shown {
  readonly rows: readonly Record<string, unknown>[];
  readonly notes: readonly string[];
  readonly period: object;
}

const listPath = '/v3/user/bid-management?q=inc_gce:1&rows=1';
const keysOf = (account: Record<string, string> | undefined) => ({
  access_key: account?.accessKey ?? '',
  secret_key: account?.secretKey ?? '',
});

describe('calls serve', () => {
  test('it serves a sandbox, prints one JSON line about it, and stops at SIGTERM', async () => {
    const { ready: sandbox, live } = await ready([
      '--records',
      '50',
      '--seed',
      '7',
      '--accounts',
      '2',
    ]);
    expect(live.said().stdout.trim().split('\n')).toHaveLength(1);
    expect(Object.keys(sandbox)).toEqual(['url', 'legacyUrl', 'accounts']);
    expect(sandbox.accounts.map((account) => Object.keys(account).sort())).toEqual([
      ['accessKey', 'bearerToken', 'id', 'secretKey'],
      ['accessKey', 'bearerToken', 'id', 'secretKey'],
    ]);
    const response = await fetch(sandbox.url + listPath, { headers: keysOf(sandbox.accounts[0]) });
    expect(response.headers.get('content-range')).toMatch(/^1-1\/\d+$/);
    expect(await live.stop('SIGTERM')).toBe(stopped);
  });

  test('the section "service" of the configuration file sets limits and the form of responses', async () => {
    writeFileSync(
      join(folder, 'service.json'),
      JSON.stringify({ service: { maxRows: 2, rowsOver: 'clamp', log: 'json' } }),
    );
    const { ready: sandbox, live } = await ready(['--records', '20', '--config', 'service.json']);
    const path = listPath.replace('rows=1', 'rows=50');
    const response = await fetch(sandbox.url + path, { headers: keysOf(sandbox.accounts[0]) });
    expect(response.headers.get('content-range')).toMatch(/^1-2\//);
    expect(await live.stop('SIGTERM')).toBe(stopped);
    expect(live.said().stderr).toContain('"message":"completed"');
  });

  test('definitions, reports and annotations of the configuration file are on the page, and refused with a mistake', async () => {
    const setup = {
      timeZone: 'UTC',
      definitions: { lead: 'talk_minutes >= 2', short: 'talk_minutes < 2' },
      exclude: 'short',
      reports: {
        weekly: { title: 'Leads', by: 'channel', measures: 'calls,count(lead)', period: '2026-11' },
        cost: {
          title: 'Cost',
          by: 'campaign',
          measures: 'calls',
          spend: 'google',
          'no-exclude': true,
        },
        money: { by: 'campaign', measures: 'calls,cost_per(lead)', spend: 'google.csv' },
        sold: { title: 'Sold', by: 'month', outcomes: 'sales', 'no-exclude': true },
        file: { by: 'month', outcomes: 'sales.csv' },
        plain: { by: 'weekday,hour', 'min-talk': '5m', 'no-exclude': true, account: '101' },
      },
      annotations: [{ date: '2026-11-05', text: 'new landing page' }],
      spend: { google: 'costs.csv' },
      outcomes: { sales: 'sales.csv' },
    };
    const sales = join(folder, 'sales.csv');
    writeFileSync(sales, 'phone,time,value\n');
    const costs = join(folder, 'costs.csv');
    writeFileSync(costs, 'Campaign,Cost\nBurning,20.50\n');
    writeFileSync(join(folder, 'setup.json'), JSON.stringify(setup));
    const args = ['--records', '200', '--to', '2026-11-21', '--config'];
    const { ready: sandbox, live } = await ready([...args, 'setup.json']);
    const ask = async (path: string): Promise<Shown> =>
      (await (
        await fetch(`${sandbox.url}/page/${path}`, { headers: keysOf(sandbox.accounts[0]) })
      ).json()) as Shown;
    expect(await ask('setup.json')).toEqual({
      definitions: ['lead', 'short'],
      exclude: 'short',
      reports: [
        { name: 'weekly', title: 'Leads' },
        { name: 'cost', title: 'Cost' },
        { name: 'sold', title: 'Sold' },
        { name: 'plain', title: 'By weekday and hour' },
      ],
      annotations: setup.annotations,
    });
    const { rows, notes, period } = await ask('report.json?report=weekly');
    expect(rows[0]).toMatchObject({ channel: 'Tracker', calls: rows[0]?.['count(lead)'] });
    expect(notes.join(' ')).toMatch(/Without short: \d+ calls/);
    expect(period).toMatchObject({ from: '2026-11-01 00:00:00', to: '2026-12-01 00:00:00' });
    expect((await ask('report.json?report=plain')).rows.length).toBeGreaterThan(20);
    const cost = await ask('report.json?report=cost');
    expect(cost.rows).toContainEqual({
      ppc_campaign: 'Burning',
      calls: 0,
      spend: 20.5,
      cost_per_call: null,
    });
    writeFileSync(costs, 'Campaign,Cost\nBurning,20.50\nBurning,2');
    expect(await ask('report.json?report=cost')).toMatchObject({
      status: 503,
      code: 'file_unavailable',
      detail: expect.stringMatching(/^costs\.csv, row 3: row 2 says what was spent on the same/),
    });
    writeFileSync(sales, 'phone,time,value\n2125550999,2026-11-20,99.5\n');
    const sold = await ask('report.json?report=sold');
    expect(sold.rows[0]).toMatchObject({ outcomes: 0, revenue: 0 });
    expect(sold.notes.join(' ')).toContain('0 of 1 outcome belong to calls that are counted');
    expect(JSON.stringify(sold)).not.toContain('2125550999');
    writeFileSync(sales, 'phone,time,value\n2125550999,2026');
    expect(await ask('report.json?report=sold')).toMatchObject({
      status: 503,
      code: 'file_unavailable',
      detail: expect.stringMatching(/^sales, row 2: it ends before its last column/),
    });
    for (const file of [sales, costs]) rmSync(file);
    for (const report of ['sold', 'cost']) {
      expect(await ask(`report.json?report=${report}`)).toMatchObject({
        detail: expect.stringMatching(/^(?:costs|sales)\.csv: there is no such file/),
      });
    }
    expect(await live.stop('SIGTERM')).toBe(stopped);

    const wrong = { ...setup, reports: { weekly: { by: 'campain' } } };
    writeFileSync(join(folder, 'wrong.json'), JSON.stringify(wrong));
    const refused = await calls(['serve', ...args, 'wrong.json', '--port', '0']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/wrong\.json: reports\.weekly: .*campain.*campaign/);
  });

  test('each named file of spend and of sales has reports of the page, without any in the configuration file', async () => {
    const file = (name: string, ...lines: string[]) =>
      writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
    const row = 'Burning,Ads,[root canal],2026-11-20,20.50';
    file('keywords.csv', 'Campaign,Ad group,Keyword,Day,Cost', row);
    file('october.csv', '"October 1, 2026 - October 31, 2026"', 'Campaign,Cost', 'Burning,7.25');
    file('sold.csv', 'phone,time,value');
    const setup = {
      timeZone: 'UTC',
      definitions: { short: 'talk_minutes < 2' },
      exclude: 'short',
      spend: { google: 'keywords.csv', october: 'october.csv', gone: 'gone.csv' },
      outcomes: { sales: 'sold.csv' },
      reports: { own: { by: 'ad_group', measures: 'calls', spend: 'google', 'no-exclude': true } },
    };
    writeFileSync(join(folder, 'offered.json'), JSON.stringify(setup));
    const args = ['--records', '200', '--to', '2026-11-21', '--config'];
    const { ready: sandbox, live } = await ready([...args, 'offered.json']);
    const ask = async (path: string): Promise<Shown> =>
      (await (
        await fetch(`${sandbox.url}/page/${path}`, { headers: keysOf(sandbox.accounts[0]) })
      ).json()) as Shown;
    expect(await ask('setup.json')).toMatchObject({
      reports: [
        { name: 'own', title: 'By ad group' },
        { name: 'campaign:google', title: 'What campaigns earn (google)' },
        { name: 'keyword:google', title: 'What keywords earn (google)' },
        { name: 'campaign:october', title: 'What campaigns earn (october)' },
        { name: 'campaign:gone', title: 'What campaigns earn (gone)' },
      ],
    });
    const figures = { calls: 0, outcomes: 0, revenue: 0, cost_per_call: null };
    expect((await ask('report.json?report=keyword:google')).rows[0]).toMatchObject({
      ppc_keywords: 'root canal',
      spend: 20.5,
      return_on_ad_spend: 0,
      ...figures,
    });
    const { rows, period } = await ask('report.json?report=campaign:october');
    expect(rows[0]).toMatchObject({ ppc_campaign: 'Burning', spend: 7.25, ...figures });
    expect(period).toMatchObject({ from: '2026-10-01 00:00:00', to: '2026-11-01 00:00:00' });
    expect(await ask('report.json?report=campaign:gone')).toMatchObject({
      code: 'file_unavailable',
      detail: expect.stringContaining('gone.csv: there is no such file'),
    });
    expect(await live.stop('SIGTERM')).toBe(stopped);

    const own = { ...setup, spend: {}, reports: {} };
    writeFileSync(join(folder, 'offered.json'), JSON.stringify(own));
    const other = await ready([...args, 'offered.json']);
    const shown = await fetch(`${other.ready.url}/page/setup.json`, {
      headers: keysOf(other.ready.accounts[0]),
    });
    expect(await shown.json()).toMatchObject({
      reports: [
        { name: 'campaign:sales', title: 'What campaigns earn' },
        { name: 'keyword:sales', title: 'What keywords earn' },
      ],
    });
    expect(await other.live.stop('SIGTERM')).toBe(stopped);
  });

  test.each([
    [['--prot', '1'], /no option --prot[\s\S]*--port/],
    [['--port', 'abc'], /'--port <port>' argument 'abc' is invalid. It must be a whole number/],
    [['--config', '/none.json'], /no configuration file \/none.json\n.*named by --config/],
    [
      ['--config', 'bad.json'],
      /bad\.json: There is no option service\.maxRow\. Did you mean service\.maxRows\?/,
    ],
    [['--port', '0', '--tls-cert', 'x.pem'], /both --tls-cert and --tls-key/],
    [['--store', 'sqlite::memory:', '--records', '5'], /--records is for the sandbox/],
    [['--store', 'postgres://me:hidden@db/calls'], /must not have a password/],
  ])('it refuses %j with status 2 and says what is wrong', async (args, reason) => {
    writeFileSync(join(folder, 'bad.json'), '{"service": {"maxRow": 1}}');
    const { code, stderr, stdout } = await calls(['serve', ...args]);
    expect(stderr).not.toContain('hidden');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(reason);
  });

  test.skipIf(process.platform === 'win32')(
    'what it prints for three accounts, pasted into a shell, lets calls choose each',
    async () => {
      const live = startLive(
        stage,
        ['serve', '--records', '90', '--accounts', '3', '--port', '0'],
        {},
        folder,
      );
      const [, block = ''] = await live.until(
        /Paste into another terminal:\n\n([\s\S]*?)\n.+ list --account/,
      );
      const here = stage.folder();
      const shell = (script: string) =>
        execFileSync('sh', ['-c', `${block}\n${script}`], { cwd: here, encoding: 'utf8' });
      const env = Object.fromEntries(
        shell('env')
          .split('\n')
          .filter((line) => line.startsWith('CALLS_'))
          .map((line) => line.split(/=(.*)/s)),
      );
      const counts = await Promise.all(
        ['harbor-dental', 'clinique-veterinaire-mont-royal', 'all'].map(async (name) => {
          const which = name === 'all' ? ['--all-accounts'] : ['--account', name];
          const { stdout } = await stage.quick(['count', '--include-extensions', ...which], {
            cwd: here,
            env: { ...nobody, ...env },
          });
          return stdout.trim();
        }),
      );
      expect(counts).toEqual([
        '51',
        '13',
        expect.stringMatching(/^harbor-dental\t51\n.*\t26\n.*\t13$/),
      ]);
      expect(shell('true')).toContain('calls.config.json is there already');
      await live.stop('SIGTERM');
    },
  );

  test('CALLS_PAGE_PASSWORD opens the page, and is refused where it would cross the network unencrypted', async () => {
    const env = { CALLS_PAGE_PASSWORD: 'open sesame' };
    const { ready: sandbox, live } = await ready(['--records', '5'], env);
    const page = (headers = {}) => fetch(`${sandbox.url}/page/about.json`, { headers });
    expect((await page()).status).toBe(401);
    const authorization = `Basic ${Buffer.from('boss:open sesame').toString('base64')}`;
    expect((await page({ authorization })).status).toBe(200);
    await live.until(/asks for the password of CALLS_PAGE_PASSWORD/);
    await live.until(/note: that password has fewer than 12 characters/);
    await live.stop('SIGTERM');
    expect(live.said().stderr).not.toContain('sesame');
    const { code, stderr } = await calls(['serve', '--records', '5', '--host', '0.0.0.0'], { env });
    expect(code).toBe(2);
    expect(stderr).toContain(
      'passwords of the page would cross the network unencrypted: 0.0.0.0 has no TLS',
    );
    expect(stderr).not.toContain('sesame');
  });

  test('it says what the page of a store asks for, and that keys cross the network without TLS', async () => {
    await using store = await openStore(`sqlite:${join(folder, 'asked.db')}`);
    await store.putAccount({ id: '101', name: 'Main' });
    writeFileSync(join(folder, 'quiet.json'), '{ "service": { "log": "off" } }');
    const live = (args: readonly string[], env = {}) =>
      startLive(
        stage,
        ['serve', '--store', 'sqlite:asked.db', '--port', '0', ...args],
        env,
        folder,
      );

    // A log, as stderr is no terminal.
    const open = live(['--host', '0.0.0.0']);
    await open.until(/"message":"listening".*"page":"keys"/);
    await open.until(
      /"level":"warn".*keys and passwords cross the network unencrypted.*--tls-cert/,
    );
    await open.stop();

    // Without a log, for people.
    const local = live(['--config', 'quiet.json'], { CALLS_PAGE_PASSWORD: 'correct horse' });
    await local.until(/asks for the password of CALLS_PAGE_PASSWORD/);
    await local.until(/the API takes the keys that calls sync was run with/);
    await local.stop();
    expect(local.said().stderr).not.toMatch(/unencrypted|characters/);
  });

  test('viewers of the configuration file sign in and see their accounts, and --open opens the page', async () => {
    await using store = await openStore(`sqlite:${join(folder, 'viewed.db')}`);
    await store.putAccount({ id: '101', name: 'Main' });
    const config = (page: unknown) =>
      writeFileSync(
        join(folder, 'viewers.json'),
        JSON.stringify({ service: { log: 'off' }, page }),
      );
    const args = ['serve', '--store', 'sqlite:viewed.db', '--config', 'viewers.json'];
    const viewer = { user: 'harbor', passwordEnv: 'CALLS_HARBOR_PASSWORD', accounts: ['Main'] };
    const programs = stage.folder();
    const opened = join(programs, 'opened');
    writeFileSync(join(programs, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > ${opened}\n`, {
      mode: 0o755,
    });
    config({ viewers: [viewer] });
    const live = startLive(
      stage,
      [...args, '--port', '0', '--open'],
      {
        CALLS_HARBOR_PASSWORD: 'harbor password 1',
        PATH: `${programs}:${process.env.PATH}`,
      },
      folder,
    );
    const [said] = await live.until(
      /open (\S+) in a browser: it asks for the user name and the password of harbor\n/,
    );
    const url = said.split(' ')[1] ?? '';
    if (process.platform === 'linux')
      await expect.poll(() => existsSync(opened) && readFileSync(opened, 'utf8')).toBe(url);
    const authorization = `Basic ${Buffer.from('harbor:harbor password 1').toString('base64')}`;
    const about = await (
      await fetch(`${url}/page/about.json`, { headers: { authorization } })
    ).json();
    expect(about).toMatchObject({ user: 'harbor', accounts: [{ id: '101', name: 'Main' }] });
    await live.stop();

    for (const [page, reason] of [
      [[viewer], /page must be an object with "viewers"/],
      [{ veiwers: [] }, /page must be an object with "viewers", and has "veiwers"/],
      [{ viewers: [{ user: 'a' }] }, /page\.viewers: \[0\] has a user without a password/],
      [
        { viewers: [{ ...viewer, accounts: ['102'] }] },
        /names account 102, which is not in the store/,
      ],
    ] as const) {
      config(page);
      const refused = await calls(args, { env: { CALLS_HARBOR_PASSWORD: 'harbor password 1' } });
      expect(refused.stderr).toMatch(reason);
      expect(refused.code).toBe(2);
    }
  });

  test('a report of files is for the password of all, with the files of the account that the page shows', async () => {
    const calls = [...generate({ records: 40 })];
    const caller = calls.find(({ date_added, ani }) => date_added < '2026-10-20' && ani !== '');
    await using store = await openStore(`sqlite:${join(folder, 'sold.db')}`);
    for (const id of ['101', '102']) {
      await store.putAccount({ id, name: `Account ${id}` });
      await store.upsert(id, calls);
    }

    const file = (name: string, value: number) => {
      const row = `${caller?.ani},${caller?.date_added},${value}`;
      writeFileSync(join(folder, name), `phone,time,value\n${row}\n`);
      return name;
    };
    const config = {
      timeZone: 'America/New_York',
      service: { log: 'off' },
      accounts: {
        harbor: { id: '101', outcomes: { sales: file('harbor.csv', 100) } },
        boston: {
          id: '102',
          outcomes: { sales: file('boston.csv', 200), crm: file('crm.csv', 300) },
        },
      },
      reports: {
        sold: { title: 'Sold', by: 'month', outcomes: 'sales', from: '2026-01-01' },
        plain: { title: 'Plain', by: 'day', account: 'boston' },
      },
      page: {
        viewers: [{ user: 'boston', passwordEnv: 'CALLS_BOSTON_PASSWORD', accounts: ['102'] }],
      },
    };
    writeFileSync(join(folder, 'sold.json'), JSON.stringify(config));
    const passwords = {
      CALLS_PAGE_PASSWORD: 'the password of all',
      CALLS_BOSTON_PASSWORD: 'boston password 1',
    };
    const args = ['serve', '--store', 'sqlite:sold.db', '--config', 'sold.json'];
    const attempt = async (url: string) => {
      const signIn = async (user: string, password: string) => {
        const signed = await fetch(`${url}/sign-in`, {
          method: 'POST',
          redirect: 'manual',
          body: new URLSearchParams({ user, password }),
        });
        const cookie = signed.headers.get('set-cookie')?.split(';')[0] ?? '';
        return async (path: string, account: string) => {
          const asked = `${url}/page/${path}${path.includes('?') ? '&' : '?'}account=${account}`;
          return (await (await fetch(asked, { headers: { cookie } })).json()) as {
            readonly reports: readonly { readonly name: string }[];
            readonly total: object;
          };
        };
      };
      type Asked = ReturnType<Awaited<ReturnType<typeof signIn>>>;
      const namesIn = ({ reports }: Awaited<Asked>) => reports.map(({ name }) => name);

      const all = await signIn('', passwords.CALLS_PAGE_PASSWORD);
      const sales = ['campaign:sales', 'keyword:sales'];
      const crm = ['campaign:crm', 'keyword:crm'];
      expect(namesIn(await all('setup.json', '101'))).toEqual(['sold', ...sales]);
      expect(namesIn(await all('setup.json', '102'))).toEqual(['sold', 'plain', ...sales, ...crm]);
      for (const [account, revenue] of [
        ['101', 100],
        ['102', 200],
      ] as const)
        expect((await all('report.json?report=sold', account)).total).toMatchObject({ revenue });
      const unknown = { code: 'malformed_parameter' };
      expect(await all('report.json?report=campaign:crm', '101')).toMatchObject(unknown);

      const viewer = await signIn('boston', passwords.CALLS_BOSTON_PASSWORD);
      expect(namesIn(await viewer('setup.json', '102'))).toEqual(['plain']);
      for (const report of ['sold', ...crm])
        expect(await viewer(`report.json?report=${report}`, '102')).toMatchObject(unknown);
      expect(await viewer('setup.json', '101')).not.toHaveProperty('reports');
    };
    expect((await during(args, attempt, passwords)).code).toBe(0);
  });

  test('a port that is in use is refused with the option that names another', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    const { code, stderr } = await calls(['serve', '--records', '1', '--port', port]);
    other.close();
    expect(code).toBe(2);
    expect(stderr).toMatch(/another program listens there[\s\S]*--port N names another one/);
  });
});

describe('calls serve --store', () => {
  test('it fills a store and makes keys; calls serve opens with them and logs without them', async () => {
    expect(await store(['accounts', 'add', '--account', '101', '--name', 'Main'])).toMatchObject({
      code: 0,
      stderr: '',
    });
    await using filled = await openStore(mirror);
    await filled.upsert('101', generate({ records: 40 }));
    const keys = JSON.parse((await store(['accounts', 'key', '--account', '101'])).stdout);

    const { ready: served, live } = await ready(['--store', mirror]);
    expect(served.accounts).toEqual([{ id: '101', name: 'Main' }]);
    const response = await fetch(served.url + listPath, { headers: keysOf(keys) });
    expect(response.headers.get('content-range')).toBe('1-1/40');
    expect(await live.stop('SIGINT')).toBe(stopped);
    const lines = live.said().stderr.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ message: 'listening', url: served.url }),
      expect.objectContaining({ message: 'completed', status: 200, account: '101' }),
    ]);
    for (const secret of [keys.accessKey, keys.secretKey, keys.bearerToken])
      expect(live.said().stderr).not.toContain(secret);
  });

  test('calls serve opens the store that CALLS_STORE names, and a sandbox with --store none', async () => {
    const env = { CALLS_STORE: mirror };
    const { ready: own, live } = await ready([], env);
    expect(own.accounts).toEqual([{ id: '101', name: 'Main' }]);
    await live.stop('SIGINT');
    const made = await ready(['--store', 'none', '--records', '5'], env);
    expect(made.ready.accounts[0]).toHaveProperty('secretKey');
    await made.live.stop('SIGINT');
    const refused = await calls(['serve', '--records', '5'], { env });
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--records is for the sandbox, which --store none serves/),
    });
  });
});

const account = stage.sandbox.accounts[0]?.id ?? '';
const secret = { CALLS_FEED_PASSWORD: 'correct horse battery' };
const basic = {
  authorization: `Basic ${Buffer.from('google:correct horse battery').toString('base64')}`,
};
const feed = {
  path: '/feeds/clicks.csv',
  format: 'google-ads-clicks',
  account,
  window: '14d',
  conversionName: 'Phone lead',
  user: 'google',
  passwordEnv: 'CALLS_FEED_PASSWORD',
};
const { user: _, passwordEnv: __, ...open } = feed;

function feedFile(name: string, ...feeds: object[]): string {
  writeFileSync(join(folder, name), JSON.stringify({ timeZone: 'America/New_York', feeds }));
  return name;
}

const quiet = ['--config', 'quiet.json'];
writeFileSync(join(folder, 'quiet.json'), '{ "service": { "log": "off" } }');

/** Runs a command that goes on until it is stopped, and tries it while it runs. */
async function during(
  args: readonly string[],
  attempt: (url: string) => Promise<void>,
  env: Record<string, string> = {},
) {
  const port = await freePort();
  const stop = new AbortController();
  const ended = stage.quick([...args, '--port', String(port)], {
    cwd: folder,
    env: { ...secret, ...env },
    signal: stop.signal,
  });
  const url = `http://127.0.0.1:${port}`;
  let isOver = false;
  void ended.finally(() => {
    isOver = true;
  });

  try {
    for (;;) {
      const response = await fetch(`${url}/readyz`).catch(() => null);
      if (response?.status === 200) break;
      if (isOver) throw new Error((await ended).stderr);
      await new Promise((done) => setTimeout(done, 20));
    }
    await attempt(url);
  } finally {
    stop.abort();
  }

  return ended;
}

describe('calls serve --every', () => {
  test('it syncs, serves the feed, reports health and metrics, and stops at Ctrl-C', async () => {
    const file = feedFile('feeds.json', feed);
    const args = ['serve', '--feeds', file, '--store', 'sqlite:fresh.db', '--every', '1h'];
    const { code, stderr, stdout } = await during(args, async (url) => {
      expect((await fetch(url + feed.path)).status).toBe(401);
      const response = await fetch(url + feed.path, { headers: basic });
      const lines = (await response.text()).trim().split('\r\n');
      expect(lines[0]).toMatch(/^Google Click ID,/);
      expect(lines.length).toBeGreaterThan(5);
      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).toMatch(/^calls_sync_runs_total\{result="ok"\} 1$/m);
      expect(metrics).toMatch(/^calls_sync_lag_seconds 0$/m);
      expect(metrics).toContain(`calls_feed_rows{feed="${feed.path}"} ${lines.length - 1}`);
    });
    expect([code, stdout]).toEqual([0, '']);
    const log = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(log.find(({ message }) => message === 'synced')).toMatchObject({
      account,
      changed: 0,
      skipped: 0,
    });
    expect(log.find(({ rows }) => rows !== undefined)).toMatchObject({
      route: feed.path,
      status: 200,
      user: 'google',
    });
    expect(stderr).not.toContain('correct horse');
  });

  test('a feed without a time zone has that of the configuration file', async () => {
    writeFileSync(
      join(folder, 'zoned.json'),
      '{ "timeZone": "America/New_York", "service": { "log": "off" } }',
    );
    writeFileSync(join(folder, 'no-zone.json'), JSON.stringify({ feeds: [open] }));
    const args = ['serve', '--feeds', 'no-zone.json', '--store', 'sqlite:fresh.db', '--config'];
    const { code } = await during(
      [...args, 'zoned.json'],
      async (url) => {
        expect((await fetch(url + feed.path)).status).toBe(200);
      },
      { CALLS_TIME_ZONE: '' },
    );
    expect(code).toBe(0);
    const without = await stage.quick([...args, 'quiet.json'], {
      cwd: folder,
      env: { CALLS_TIME_ZONE: '' },
    });
    expect([without.code, without.stderr]).toEqual([2, expect.stringMatching(/time ?zone/i)]);
  });

  test('it is not ready while the API does not respond, and says so', async () => {
    const file = feedFile('feeds.json', feed);
    stage.sandbox.faults.set('*', 'status=503');
    const port = await freePort();
    const stop = new AbortController();
    const line = `serve --feeds ${file} --store sqlite:down.db --every 15m --port ${port}`;
    const ended = stage.quick(line, { cwd: folder, env: secret, signal: stop.signal });
    let text = '';
    while (!text.includes('no sync')) {
      text = await fetch(`http://127.0.0.1:${port}/readyz`).then(
        (response) => response.text(),
        () => '',
      );
      await new Promise((done) => setTimeout(done, 20));
    }

    expect(text).toBe('no sync has finished yet\n');
    stop.abort();
    expect((await ended).code).toBe(0);
    stage.sandbox.faults.clear();
  });

  test('what it is missing is said before anything is read', async () => {
    const refused = async (args: readonly string[], env = {}) => {
      const all = ['serve', '--every', '1h', '--store', 'sqlite:none.db', ...args];
      const run = await stage.quick(all, { cwd: folder, env });
      expect(run.code).toBe(2);
      return run.stderr;
    };

    expect(await refused(['--feeds', 'nowhere.json'])).toContain(
      '--feeds nowhere.json: there is no such file',
    );
    const two = feedFile('two.json', feed, { ...feed, path: '/b.csv', account: '999' });
    expect(await refused(['--feeds', two], secret)).toContain(
      'there are feeds of account 999, and what is synced is account',
    );
    const unset = feedFile('unset.json', feed);
    expect(await refused(['--feeds', unset])).toContain(
      'passwordEnv names CALLS_FEED_PASSWORD, which holds no password',
    );
  });

  test.each(['sqlite:plain.db', 'named.db'])(
    'without feeds it keeps the copy of CALLS_STORE up to date: %s',
    async (store) => {
      const headers = {
        access_key: stage.env.CALLS_ACCESS_KEY ?? '',
        secret_key: stage.env.CALLS_SECRET_KEY ?? '',
      };

      const look = async (url: string): Promise<void> => {
        const metrics = await (await fetch(`${url}/metrics`)).text();
        expect(metrics).toMatch(/^calls_sync_runs_total\{result="ok"\} 1$/m);
        const list = await fetch(`${url}/v3/user/bid-management?q=inc_gce:1&rows=1`, { headers });
        expect(list.headers.get('content-range')).toBe('1-1/300');
      };

      const { code, stderr } = await during(['serve', '--every', '1h'], look, {
        CALLS_STORE: store,
      });
      expect([code, stderr]).toEqual([0, expect.stringContaining('"message":"synced"')]);
    },
  );

  test.each([
    ['--store sqlite:x.db --lookback 1d', '--lookback goes with --every'],
    ['--account 101', '--account goes with --every'],
    [
      '--every 1h --lookback 1d --sandbox',
      '--every is for your own store; remove --every or --sandbox',
    ],
    ['--every 1h --records 5', '--records is for the sandbox'],
    ['--every 1h', 'calls serve --every needs a store: --store sqlite:calls.db'],
    ['--every soon --store sqlite:x.db', '--every must be'],
  ])('serve %s is refused', async (options, said) => {
    const { code, stderr } = await stage.quick(`serve ${options}`, { cwd: folder });
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
  });
});

/** What the script of the guide writes into a sheet of Google, with stand-ins of Google's services. */
async function sheetOfScript(address: string): Promise<unknown> {
  const guide = readFileSync(
    join(import.meta.dirname, '../../../../docs/guides/reports-in-a-spreadsheet.md'),
    'utf8',
  );
  const script = (/```javascript weekly\.gs\n([\s\S]*?)```/.exec(guide)?.[1] ?? '')
    .replace(/https:[^']*/, address)
    .replace('sheets:', 'google:');
  let asked: { url: string; headers: Record<string, string> } | null = null;
  let answer: string | null = null;
  let written: unknown = null;
  const range = {
    setValues(rows: unknown) {
      written = rows;
    },
  };
  const sheet = { clearContents: () => sheet, getRange: () => range };
  const services = {
    PropertiesService: {
      getScriptProperties: () => ({ getProperty: () => secret.CALLS_FEED_PASSWORD }),
    },
    Utilities: {
      base64Encode: (text: string) => Buffer.from(text).toString('base64'),
      parseCsv: (text: string) =>
        text
          .trimEnd()
          .split('\r\n')
          .map((line) => line.split(',')),
    },
    // It waits for its answer, which a program of Node.js cannot: the first run only asks.
    UrlFetchApp: {
      fetch(url: string, { headers }: { headers: Record<string, string> }) {
        asked = { url, headers };
        if (answer === null) throw new Error('not fetched yet');
        return { getContentText: () => answer };
      },
    },
    SpreadsheetApp: { getActive: () => ({ getSheetByName: () => sheet }) },
  };
  const run = () =>
    new Function(...Object.keys(services), `${script}; weekly();`)(...Object.values(services));
  expect(run).toThrow('not fetched yet');
  const { url = '', headers = {} } = asked ?? {};
  answer = await (await fetch(url, { headers })).text();
  run();
  return written;
}

describe('calls serve --feeds', () => {
  test('it serves feeds next to the API, from a store', async () => {
    const file = feedFile('feeds.json', feed);
    const store = 'sqlite:serve.db';
    await stage.quick(['sync', '--store', store], { cwd: folder });
    await during(['serve', '--store', store, '--feeds', file, ...quiet], async (url) => {
      const response = await fetch(url + feed.path, { headers: basic });
      expect([store, response.status]).toEqual([store, 200]);
      expect((await response.text()).split('\r\n').length).toBeGreaterThan(5);
      expect((await fetch(`${url}/v3/user/bid-management?rows=1`)).status).toBe(401);
    });
  });

  test('a feed may call its account by its name in the configuration, which a synced store knows too', async () => {
    const keys = { accessKeyEnv: 'CALLS_ACCESS_KEY', secretKeyEnv: 'CALLS_SECRET_KEY' };
    const accounts = { home: { id: account, ...keys } };
    writeFileSync(join(folder, 'home.json'), JSON.stringify({ accounts, service: { log: 'off' } }));
    const file = feedFile('named.json', { ...feed, account: 'home' });
    const fill = ['sync', '--store', 'sqlite:named.db', '--config', 'home.json'];
    const rows = async (config: string): Promise<number> => {
      let found = 0;
      const args = ['serve', '--store', 'sqlite:named.db', '--feeds', file, '--config', config];
      await during(args, async (url) => {
        const response = await fetch(url + feed.path, { headers: basic });
        found = (await response.text()).split('\r\n').length;
      });
      return found;
    };

    await stage.quick(fill, { cwd: folder });
    expect(await rows('home.json')).toBeGreaterThan(5);
    await stage.quick([...fill, '--account', 'home'], { cwd: folder });
    expect(await rows('quiet.json')).toBeGreaterThan(5);
  });

  test.each(['', '--every 1h'])(
    'a feed and its report may call the account by the name that calls sync --name gave it: serve %s',
    async (every) => {
      const name = 'Harbor Dental';
      const store = 'sqlite:harbor.db';
      await stage.quick(['sync', '--store', store, '--name', name], { cwd: folder });
      const reports = { mine: { by: 'day', account: name }, same: { by: 'day', account } };
      const config = { timeZone: 'America/New_York', service: { log: 'off' }, reports };
      writeFileSync(join(folder, 'harbor.json'), JSON.stringify(config));
      const access = { user: feed.user, passwordEnv: feed.passwordEnv };
      const file = feedFile(
        'harbor-feeds.json',
        { ...feed, account: name },
        { ...access, path: '/mine.csv', report: 'mine', account: name },
        { ...access, path: '/same.csv', report: 'same', account },
      );
      const args = ['serve', '--store', store, '--feeds', file, '--config', 'harbor.json'];
      await during([...args, ...every.split(' ').filter(Boolean)], async (url) => {
        for (const path of [feed.path, '/mine.csv', '/same.csv']) {
          const response = await fetch(url + path, { headers: basic });
          expect([path, response.status]).toEqual([path, 200]);
          expect((await response.text()).split('\r\n').length).toBeGreaterThan(5);
        }
      });
    },
  );

  test('a report of the configuration is a feed, with the rows and the words of calls report', async () => {
    const definitions = { lead: 'talk_minutes >= 2' };
    const measures = 'calls,count(lead) as leads,missed_rate';
    const config = {
      definitions,
      timeZone: 'America/New_York',
      exclude: 'lead',
      reports: {
        weekly: { by: 'campaign', measures, period: 'last 30 days', 'no-exclude': true },
        callers: { by: 'ani', period: 'last 30 days' },
        others: { by: 'day', account: 'elsewhere' },
        sold: { by: 'month', period: 'last 30 days', outcomes: 'sales', 'no-exclude': true },
      },
      outcomes: { sales: 'reports-sales.csv' },
      service: { log: 'off' },
    };
    const sales = join(folder, 'reports-sales.csv');
    writeFileSync(sales, 'phone,time,value\n2125550999,2026-11-20,99.5\n');
    writeFileSync(join(folder, 'reports.json'), JSON.stringify(config));
    await stage.quick(['sync', '--store', 'sqlite:serve.db'], { cwd: folder });
    const { user, passwordEnv } = feed;
    const entry = { path: '/weekly.csv', report: 'weekly', account, user, passwordEnv };
    const args = ['--store', 'sqlite:serve.db', '--config', 'reports.json'];
    const sold = { ...entry, path: '/sold.csv', report: 'sold' };
    const file = feedFile('reports-feed.json', feed, entry, sold);
    await during(['serve', ...args, '--feeds', file], async (url) => {
      const response = await fetch(`${url}/weekly.csv`, { headers: basic });
      expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
      const typed = ['report', 'weekly', '--format', 'csv', ...args];
      const text = await response.text();
      expect(text).toBe((await stage.quick(typed, { cwd: folder })).stdout);
      const etag = response.headers.get('etag') ?? '';
      const again = { headers: { ...basic, 'if-none-match': etag } };
      expect((await fetch(`${url}/weekly.csv`, again)).status).toBe(304);

      // Excel asks without a password first, and then takes the file packed.
      const stranger = await fetch(`${url}/weekly.csv`);
      expect([stranger.status, stranger.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringMatching(/^Basic realm=/),
      ]);
      const packed = await fetch(`${url}/weekly.csv`, {
        headers: { ...basic, accept: '*/*', 'accept-encoding': 'gzip, deflate' },
      });
      expect(await packed.text()).toBe(text);
      expect(await sheetOfScript(`${url}/weekly.csv`)).toEqual(
        text
          .trimEnd()
          .split('\r\n')
          .map((line) => line.split(',')),
      );
      const bySales = await (await fetch(`${url}/sold.csv`, { headers: basic })).text();
      const ofSales = ['report', 'sold', '--format', 'csv', ...args];
      expect(bySales).toContain('month,calls,outcomes,revenue');
      expect(bySales).toBe((await stage.quick(ofSales, { cwd: folder })).stdout);
      const status = await (await fetch(`${url}/feeds`, { headers: basic })).text();
      expect(status).toContain('<td>/weekly.csv</td><td>report weekly</td>');
    });
    await during(['serve', ...args, '--feeds', file], async (url) => {
      writeFileSync(sales, 'phone,time,value\n2125550999,2026');
      const cut = await fetch(`${url}/sold.csv`, { headers: basic });
      expect([cut.status, cut.headers.get('retry-after')]).toEqual([503, '60']);
      expect(await cut.text()).toContain('sales, row 2: it ends before its last column');
      expect((await fetch(`${url}/feeds`, { headers: basic })).status).toBe(200);
      rmSync(sales);
      expect((await fetch(`${url}/sold.csv`, { headers: basic })).status).toBe(503);
      writeFileSync(sales, 'phone,time,value\n');
    });

    for (const [wrong, reason] of [
      [{ report: 'callers' }, /names callers, whose groups of ani are personal data/],
      [
        { report: 'weakly' },
        /report names "weakly", and the configuration file has weekly, callers/,
      ],
      [{ report: 'others' }, /reports\.others is of account elsewhere/],
      [{ path: '/weekly.tsv' }, /ends in \.csv/],
      [{ window: '14d' }, /window/],
      [{ account: undefined }, /account/],
    ] as const) {
      const bad = feedFile('bad.json', { ...entry, ...wrong });
      const run = await stage.quick(['serve', ...args, '--feeds', bad, '--port', '0'], {
        cwd: folder,
        env: secret,
      });
      expect([run.code, run.stderr]).toEqual([2, expect.stringMatching(reason)]);
    }
  });

  test('it makes the hash of a password for the file', async () => {
    const run = (input: string) =>
      stage.quick(['serve', '--hash-password'], { cwd: folder, input });
    const { stdout } = await run('correct horse battery\n');
    expect(stdout).toMatch(/^scrypt\$16384\$8\$1\$[^$]+\$[^$]+\n$/);
    const { passwordEnv: _hidden, ...hashed } = { ...feed, passwordHash: stdout.trim() };
    await stage.quick(['sync', '--store', 'sqlite:serve.db'], { cwd: folder });
    const args = [
      'serve',
      '--store',
      'sqlite:serve.db',
      '--feeds',
      feedFile('hash.json', hashed),
      ...quiet,
    ];
    await during(args, async (url) => {
      expect((await fetch(url + feed.path, { headers: basic })).status).toBe(200);
    });
    expect((await run('short\n')).stderr).toContain('must have at least 12 characters');
  });

  test('a feed without a password for others, or of another account, is refused at start', async () => {
    await stage.quick(['sync', '--store', 'sqlite:serve.db'], { cwd: folder });

    const refused = async (file: string, ...args: string[]) => {
      const all = ['serve', '--store', 'sqlite:serve.db', '--feeds', file, '--port', '0', ...args];
      const run = await stage.quick(all, { cwd: folder, env: secret });
      expect(run.code).toBe(2);
      return run.stderr;
    };

    const bare = feedFile('open.json', open);
    expect(await refused(bare, '--host', '0.0.0.0')).toContain(
      'The feed /feeds/clicks.csv has no password',
    );
    const strange = feedFile('strange.json', { ...feed, account: '999' });
    expect(await refused(strange)).toContain(
      'the feed /feeds/clicks.csv is of account 999, which is not in the store',
    );
  });
});
