import { readOutcomes, usualWindow } from '@call-attribution/questions';
import { openStore, type Store } from '@call-attribution/store';
import { callWith } from '@call-attribution/test-tools/call-with';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createService,
  hashPassword,
  type PageSetup,
  readViewers,
  type Service,
} from '../src/index.ts';
import { accountOf, keysOf } from './stage.ts';

const passwords = {
  harbor: 'harbor password 1',
  client: 'client password 2',
  all: 'password of all',
};
const setup: PageSetup = {
  definitions: {
    lead: 'talk_minutes >= 2',
    texan: "state = 'TX'",
    office: "ani IN ('12025550100')",
    texan_lead: 'texan AND lead',
    new_caller: "caller_type = 'first'",
    old_office: 'office AND NOT lead',
  },
  exclude: 'office',
  reports: [
    {
      name: 'weekly',
      title: 'Weekly',
      accounts: ['101'],
      question: {
        groupBy: ['ppc_campaign'],
        measures: ['calls', 'count(lead) as leads'],
        period: 'last week',
        exclude: 'office',
      },
      files: null,
    },
    {
      name: 'cost',
      title: 'Cost',
      accounts: ['101'],
      question: { groupBy: ['campaign'], measures: ['calls'], calls: 'all', spend: [] },
      files: async (account) => ({
        spend: [
          {
            called: 'google',
            said: `google: read for ${account}.`,
            currency: 'USD',
            fields: ['ppc_campaign'],
            covers: null,
            amounts: [{ row: 2, names: ['Burning'], period: null, amount: 20.5 }],
          },
        ],
      }),
    },
    {
      name: 'sold',
      title: 'Sold',
      accounts: ['101'],
      question: {
        groupBy: ['campaign'],
        measures: ['calls', 'outcomes', 'revenue'],
        outcomes: { all: [], window: 0 },
        exclude: 'office',
      },
      files: async () => {
        const cells = [
          ['phone', 'time', 'value'],
          ['2025550101', '2026-10-13', '250'],
          ['2025550100', '2026-10-16', '70'],
          ['2025550199', '2026-10-16', '80'],
        ];
        const rows = cells.map((own, i) => ({ line: i + 1, cells: own }));
        const read = readOutcomes([{ name: 'sales', rows }], { timeZone: 'UTC', dates: null });
        return { outcomes: { all: read.all, window: usualWindow } };
      },
    },
    {
      name: 'every',
      title: 'Every account',
      accounts: null,
      question: { groupBy: ['day'] },
      files: null,
    },
    { name: 'others', title: 'Others', accounts: ['Account 102'], question: {}, files: null },
    {
      name: 'callers',
      title: 'Callers',
      accounts: ['101'],
      question: { groupBy: ['caller'], personal: 'show' },
      files: null,
    },
    {
      name: 'who',
      title: 'Who',
      accounts: ['101'],
      question: { measures: ["count(last_name = 'Doe') as does"] },
      files: null,
    },
  ],
  annotations: [
    { date: '2026-10-05', text: 'a new landing page', account: '101' },
    { date: '2026-10-06', text: 'a fee for all clients', account: null },
    { date: '2026-10-07', text: 'a secret of others', account: '102' },
  ],
};

let store: Store;
let service: Service;
let url = '';

beforeAll(async () => {
  store = await openStore('sqlite::memory:');
  const viewersJson = JSON.stringify([
    {
      user: 'harbor',
      passwordHash: await hashPassword(passwords.harbor),
      accounts: ['101'],
      personal: false,
    },
    { user: 'client', passwordHash: await hashPassword(passwords.client), accounts: ['101'] },
  ]);
  service = createService({
    store,
    accounts: [accountOf('101'), accountOf('102')],
    clock: { now: () => Date.parse('2026-10-21T12:00:00Z') },
    page: {
      setup,
      timeZone: 'UTC',
      password: passwords.all,
      viewers: await readViewers(viewersJson, { source: 'viewers', folder: '.', env: {} }),
    },
  });
  ({ url } = await service.listen());
  const call = (sid: string, day: number, more: object) =>
    callWith({ sid, date_added: `2026-10-${day} 10:00:00`, channel: 'Tracker', ...more });
  await store.upsert('101', [
    call('a', 12, { ani: '12025550101', talk_minutes: '5.0', state: 'TX', ppc_campaign: 'Brand' }),
    call('b', 13, { ani: '12025550102', talk_minutes: '0.0', state: 'TX', ppc_campaign: 'Brand' }),
    call('c', 14, {
      ani: '12025550103',
      talk_minutes: '3.0',
      state: 'CA',
      ppc_campaign: 'Generic',
    }),
    call('d', 15, { ani: '12025550100', talk_minutes: '9.0', state: 'TX', ppc_campaign: 'Brand' }),
    call('e', 16, { ani: '12025550101', talk_minutes: '0.0', state: 'CA', ppc_campaign: 'Brand' }),
  ]);
});
afterAll(async () => {
  await service.close();
  await store.close();
});

const q = 'date_added:[2026-10-12 00:00:00 TO 2026-10-19 00:00:00}';

/** Asks as somebody, with HTTP Basic. */
async function ask(
  who: keyof typeof passwords,
  path: string,
  parameters: Record<string, string> = {},
) {
  const authorization = `Basic ${Buffer.from(`${who}:${passwords[who]}`).toString('base64')}`;
  const query = new URLSearchParams({ account: '101', ...parameters });
  const response = await fetch(`${url}/page/${path}?${query}`, { headers: { authorization } });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return { status: response.status, text, json: isJson ? JSON.parse(text) : null };
}
const summaryOf = async (parameters: Record<string, string> = {}) =>
  (await ask('all', 'summary.json', { q, ...parameters })).json;
const sidsOf = async (parameters: Record<string, string> = {}) => {
  const { json } = await ask('all', 'calls.json', { q, fields: 'sid', ...parameters });
  return json.calls.map(({ sid }: { readonly sid: string }) => sid).join('');
};

describe('definitions are switches', () => {
  test('numbers, table and files are those of the calls that meet them all, each with its count', async () => {
    const all = await summaryOf();
    expect(all.total.calls).toBe(4);
    expect(all.excluded).toBe(1);
    expect(all.definitions).toEqual({
      lead: 2,
      texan: 2,
      texan_lead: 1,
      new_caller: 3,
      old_office: 0,
    });
    expect(await sidsOf()).toBe('ecba');

    const texan = await summaryOf({ definitions: 'texan' });
    expect(texan.total).toMatchObject({ calls: 2, missed: 1 });
    expect(texan.definitions.lead).toBe(1);
    expect(texan.buckets.map(({ calls }: { readonly calls: number }) => calls).join('')).toBe(
      '1100000',
    );
    expect(texan.groups.ppc_campaign).toEqual([{ value: 'Brand', calls: 2, missed: 1 }]);

    expect(await sidsOf({ definitions: 'texan' })).toBe('ba');
    expect(await sidsOf({ definitions: 'texan,lead' })).toBe('a');
    expect(await sidsOf({ definitions: 'new_caller', rows: '1', start: '1' })).toBe('b');
    const csv = await ask('all', 'calls.csv', { q, fields: 'sid', definitions: 'texan_lead' });
    expect(csv.text).toBe('sid\r\na\r\n');
    const groups = await ask('all', 'groups.csv', {
      q,
      field: 'ppc_campaign',
      definitions: 'lead',
    });
    expect(groups.text).toBe('ppc_campaign,calls,missed\r\nBrand,1,0\r\nGeneric,1,0\r\n');
  });

  test('what is excluded can be counted, and is a switch then', async () => {
    const counted = await summaryOf({ exclude: 'no' });
    expect([counted.total.calls, counted.excluded, counted.definitions.office]).toEqual([5, 0, 1]);
    expect(await sidsOf({ exclude: 'no' })).toBe('edcba');
    expect(await sidsOf({ exclude: 'no', definitions: 'office' })).toBe('d');
  });

  test.each([
    { definitions: 'nobody' },
    { definitions: "state = 'TX'" },
    { definitions: 'lead,xxx' },
    { exclude: 'maybe' },
  ])('%j is refused with a reason', async (parameters) => {
    const refused = await ask('all', 'summary.json', { q, ...parameters } as Record<
      string,
      string
    >);
    expect([refused.status, refused.json.code]).toEqual([400, 'malformed_parameter']);
  });

  test('definitions and reports with a mistake are refused when the service is created', () => {
    const create = (wrong: Partial<PageSetup>) => () =>
      createService({ store, page: { setup: { ...setup, ...wrong } } });
    expect(create({ definitions: { office: 'ani = 1', lead: 'talk >' } })).toThrow(
      /definitions.office: ani/,
    );
    expect(create({ exclude: 'home' })).toThrow(/home/);
    expect(
      create({
        reports: [
          { name: 'a', title: 'A', accounts: null, question: { groupBy: ['x'] }, files: null },
        ],
      }),
    ).toThrow(/"x"/);
  });
});

describe('reports and annotations', () => {
  test('a report answers its own question about the account, whatever else is chosen', async () => {
    const { json } = await ask('all', 'report.json', { report: 'weekly' });
    expect(json).toMatchObject({
      title: 'Weekly',
      rows: [
        { ppc_campaign: 'Brand', calls: 3, leads: 1 },
        { ppc_campaign: 'Generic', calls: 1, leads: 1 },
      ],
      total: { calls: 4, leads: 2 },
      period: { from: '2026-10-12 00:00:00', to: '2026-10-19 00:00:00' },
    });
    expect(json.notes.join(' ')).toContain('Without office: 1 call');
    expect((await ask('all', 'report.json', { report: 'nobody' })).status).toBe(400);
  });

  test('who sees all accounts sees those of the account and those of all', async () => {
    const { json } = await ask('all', 'setup.json');
    expect(json).toEqual({
      definitions: Object.keys(setup.definitions),
      exclude: 'office',
      reports: ['weekly', 'cost', 'sold', 'every', 'callers', 'who'].map((name) => ({
        name,
        title: titleOf(name),
      })),
      annotations: setup.annotations.slice(0, 2).map(({ date, text }) => ({ date, text })),
    });
  });

  test('a report with spend reads it for its account, and is seen by those who see all accounts', async () => {
    const { json } = await ask('all', 'report.json', { report: 'cost' });
    expect(json.rows).toContainEqual({
      ppc_campaign: 'Burning',
      calls: 0,
      spend: 20.5,
      cost_per_call: null,
    });
    expect(json.total).toMatchObject({ spend: 20.5 });
    expect(json.notes).toContain('google: read for 101.');
  });

  test('a report with outcomes has sums, and no number of the file', async () => {
    const { json } = await ask('all', 'report.json', { report: 'sold' });
    expect(json.rows).toEqual([
      { ppc_campaign: 'Brand', calls: 3, outcomes: 1, revenue: 250 },
      { ppc_campaign: 'Generic', calls: 1, outcomes: 0, revenue: 0 },
    ]);
    expect(json.total).toMatchObject({ outcomes: 1, revenue: 250 });
    expect(json.notes.join(' ')).toContain('1 of 3 outcomes belongs to calls that are counted');
    expect(JSON.stringify(json)).not.toMatch(/20255501|sales, row/);
  });

  test('a viewer of some accounts sees only those that name the account', async () => {
    const { json } = await ask('client', 'setup.json');
    expect(json.reports.map(({ name }: { readonly name: string }) => name)).toEqual([
      'weekly',
      'callers',
      'who',
    ]);
    expect(json.annotations).toEqual([{ date: '2026-10-05', text: 'a new landing page' }]);
    for (const report of ['every', 'others', 'cost', 'sold'])
      expect((await ask('client', 'report.json', { report })).status).toBe(400);
  });

  test('without personal data, definitions and reports that look at it are not there, and the exclusion holds', async () => {
    const { json, text } = await ask('harbor', 'setup.json');
    expect(json.definitions).toEqual(['lead', 'texan', 'texan_lead', 'new_caller']);
    expect(json.exclude).toBeNull();
    expect(json.reports).toEqual([{ name: 'weekly', title: 'Weekly' }]);
    expect(text).not.toContain('office');

    const weekly = await ask('harbor', 'report.json', { report: 'weekly' });
    expect(weekly.text).toContain('1 call is left out.');
    expect(weekly.text).not.toContain('office');
    const summary = await ask('harbor', 'summary.json', { q });
    expect(summary.json.total.calls).toBe(4);
    expect(summary.text).not.toContain('office');
    for (const parameters of [
      { definitions: 'office' },
      { definitions: 'old_office' },
      { exclude: 'no' },
    ])
      for (const path of ['summary.json', 'calls.json', 'calls.csv', 'groups.csv']) {
        const refused = await ask('harbor', path, { q, ...parameters } as Record<string, string>);
        expect([path, refused.status]).toEqual([path, 400]);
        expect(refused.text).not.toContain('2025550100');
      }

    for (const report of ['callers', 'who'])
      expect((await ask('harbor', 'report.json', { report })).status).toBe(400);
  });

  test('keys open what names their account, and all of it where there is one account only', async () => {
    const namesFor = async (accounts: readonly string[]) => {
      const own = await openStore('sqlite::memory:');
      await using keyed = createService({
        store: own,
        accounts: accounts.map(accountOf),
        page: { setup },
      });
      const { url: at } = await keyed.listen();
      expect((await fetch(`${at}/page/setup.json`)).status).toBe(401);
      const response = await fetch(`${at}/page/setup.json`, { headers: keysOf('101') });
      const { reports } = (await response.json()) as { reports: { readonly name: string }[] };
      await own.close();
      return reports.map(({ name }) => name);
    };
    expect(await namesFor(['101', '102'])).toEqual(['weekly', 'callers', 'who']);
    expect(await namesFor(['101'])).toEqual(['weekly', 'cost', 'sold', 'every', 'callers', 'who']);
  });
});

const titleOf = (wanted: string) => setup.reports.find(({ name }) => name === wanted)?.title;
