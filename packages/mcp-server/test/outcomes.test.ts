import { fixtureCalls } from '@call-attribution/core/testing';
import { type Outcome, readOutcomes, readSpend } from '@call-attribution/questions';
import { describe, expect, it } from 'vitest';
import { callTool, createServer, type FilesByName } from '../src/index.ts';
import { ask } from './support/ask.ts';
import { fakeClient } from './support/fake-client.ts';
import { request } from './support/handlers.ts';

const numbers = ['13125550142', '2135550167', '4155550188', '9175550133'] as const;
const calls = fixtureCalls(20).map((call, i) => ({
  ...call,
  ani: numbers[i % 2] as string,
  date_added: `2026-10-${String(i + 1).padStart(2, '0')} 10:00:00`,
  channel: 'Tracker',
  ppc_campaign: i % 2 === 0 ? 'Brand' : 'Generic',
}));
const sales = [
  ['Phone', 'Time', 'Value', 'Id'],
  ['+1 (312) 555-0142', '2026-10-20 12:00', '100.50', 'A1'],
  ['213.555.0167', '2026-10-21', '40', 'A2'],
  ['2135550167', '2026-12-24', '70', 'A3'],
  ['4155550188', '2026-10-21', '999', 'A4'],
  ['Anonymous', '2026-10-21', '999', 'A5'],
];
const later = [
  ['Phone', 'Time', 'Value', 'Id'],
  ['3125550142', '2026-10-22', '90', 'A1'],
];
const rows = (cells: readonly (readonly string[])[]) =>
  cells.map((own, i) => ({ line: i + 1, cells: own }));
const files: Readonly<Record<string, readonly (readonly string[])[]>> = {
  sales,
  later,
  cut: [...sales, [numbers[3], '2026']],
};
const outcomes: FilesByName<Outcome> = {
  names: Object.keys(files),
  read: async (names) => {
    const opened = names.map((name) => ({ name, rows: rows(files[name] ?? []) }));
    return readOutcomes(opened, { timeZone: 'UTC', dates: null }).all;
  },
};
const spend = {
  names: ['google'],
  read: async () => [
    readSpend(
      {
        name: 'google',
        rows: rows([
          ['Campaign', 'Cost'],
          ['Brand', '50.25'],
        ]),
      },
      null,
    ),
  ],
};
const configured = {
  outcomes,
  spend,
  definitions: { office: `ani = '${numbers[0]}'` },
  reports: new Map([
    ['sold', { by: 'campaign', period: '2026-10', outcomes: 'sales' }],
    ['soon', { by: 'campaign', period: '2026-10', outcomes: 'sales', 'outcome-window': '1h' }],
    ['path', { by: 'campaign', period: '2026-10', outcomes: 'sales.csv' }],
    ['callers', { by: 'caller', period: '2026-10', outcomes: 'sales' }],
  ]),
};
const options = { configured, timeZone: 'UTC', pseudonymKey: 'a key' };
const server = createServer(fakeClient(calls), options);
const asked = { group_by: 'campaign', period: '2026-10', outcomes: 'sales' };
const refusal = async (args: object, own = server) => {
  const result = await callTool(own, 'analyze_calls', { ...asked, ...args });
  expect(result.isError).toBe(true);
  return JSON.stringify(result.content).replaceAll('\\"', '"');
};

describe('outcomes of the operator', () => {
  it('are matched by pseudonym, and those without a call are a count', async () => {
    const { columns, rows: found, totals, notes } = await ask(server, 'analyze_calls', asked);
    expect(columns).toEqual(['ppc_campaign', 'calls', 'outcomes', 'revenue', 'revenue_per_call']);
    expect(found).toEqual([
      ['«Brand»', 10, 1, 100.5, 10.05],
      ['«Generic»', 10, 1, 40, 4],
    ]);
    expect(totals).toMatchObject({ calls: 20, outcomes: 2, revenue: 140.5 });
    expect(notes.join('\n')).toMatch(
      /2 of 5 outcomes belong to calls that are counted\. Not counted: 1 no_number \([^)]*\); 1 no_call \([^)]*\); 1 too_late/,
    );
  });
  it('are matched where numbers are revealed, too', async () => {
    const open = createServer(fakeClient(calls), { ...options, reveal: ['caller'] });
    const { totals } = await ask(open, 'analyze_calls', asked);
    expect(totals).toMatchObject({ outcomes: 2, revenue: 140.5 });
  });
  it('go with spend, and of two files the newest row of an id holds', async () => {
    const args = { ...asked, outcomes: ['sales', 'later'], spend: 'google' };
    const { rows: found, columns } = await ask(server, 'analyze_calls', args);
    expect(columns.slice(-4)).toEqual([
      'spend',
      'cost_per_call',
      'cost_per_outcome',
      'return_on_ad_spend',
    ]);
    expect(found[0]).toEqual(['«Brand»', 10, 1, 90, 9, 50.25, 5.03, 50.25, 1.79]);
  });
  it('are those of a report that names them, with its window', async () => {
    const ofReport = async (report: string) =>
      (await ask(server, 'analyze_calls', { report })).totals;
    expect(await ofReport('sold')).toMatchObject({ outcomes: 2, revenue: 140.5 });
    expect(await ofReport('soon')).toMatchObject({ outcomes: 0, revenue: 0 });
  });
  it('leave a caller out whom an exclusion of the operator names by the number', async () => {
    const own = createServer(fakeClient(calls), {
      ...options,
      configured: { ...configured, exclude: 'office' },
    });
    const { totals, notes } = await ask(own, 'analyze_calls', asked);
    expect(totals).toMatchObject({ outcomes: 1, revenue: 40 });
    expect(notes.join('\n')).toContain('1 excluded');
  });
  it('are named to agents, who are otherwise told that nobody knows of sales', async () => {
    const told = async (own: typeof server) =>
      (
        await request(own, 'initialize', {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 'test', version: '1' },
        })
      ).instructions;
    expect(await told(server)).toContain(
      'is known as sales, later, cut: outcomes of analyze_calls',
    );
    expect(await told(server)).not.toContain('revenue');
    const other = createServer(fakeClient(calls), {});
    expect(await told(other)).toContain('no data on revenue, sales');
    const data = async (own: typeof server) => JSON.stringify(await callTool(own, 'describe_data'));
    expect(await data(server)).not.toContain('sales and bookings');
    expect(await data(other)).toContain('sales and bookings');
  });
});

describe('what assistants do not learn', () => {
  it.each([
    [{ group_by: 'caller' }, 'outcomes do not go with ani'],
    [{ group_by: 'campaign,sid' }, 'outcomes do not go with sid'],
    [{ group_by: 'pid' }, 'outcomes do not go with pid'],
    [{ group_by: 'date_added' }, 'outcomes do not go with date_added'],
    [{ group_by: 'ppc_gclid' }, 'outcomes do not go with ppc_gclid'],
    [{ where: "click_id = 'x'" }, 'outcomes do not go with click_id'],
    [{ where: "ani = 'phone-123456789012'" }, 'outcomes do not go with ani'],
    [{ where: "NOT (state = 'TX' OR sid = 'a')" }, 'outcomes do not go with sid'],
    [
      { measures: ["count(date_added > '2026-10-05 10:00:00') as n", 'revenue'] },
      'outcomes do not go with date_added',
    ],
    [
      { outcomes: '/etc/passwd' },
      'The operator has no outcomes called "/etc/passwd". Use one of sales',
    ],
    [
      { outcomes: 'cut' },
      "The operator's file cannot be used: cut, row 7: it ends before its last column",
    ],
    [{ measures: 'calls' }, 'outcomes is given, and nothing is measured of it'],
  ])('%j is refused', async (args, message) => {
    expect(await refusal(args)).toContain(message);
  });
  it('a report that groups by callers, or names a path, is refused', async () => {
    for (const [report, message] of [
      ['callers', 'outcomes do not go with ani'],
      ['path', 'The operator has no outcomes called "sales.csv"'],
    ]) {
      const result = await callTool(server, 'analyze_calls', { report });
      expect([result.isError, JSON.stringify(result.content)]).toEqual([
        true,
        expect.stringContaining((message ?? '').replaceAll('"', '\\"')),
      ]);
    }
  });
  it('accounts are asked one by one, since a caller of two cannot be told', async () => {
    const accounts = ['one', 'two'].map((name) => {
      return { name, client: fakeClient(calls), pseudonymKey: `key of ${name}`, timeZone: 'UTC' };
    });
    const both = createServer(accounts, { configured });
    expect(await refusal({}, both)).toContain('ask about one account, such as account="one"');
    const { totals } = await ask(both, 'analyze_calls', { ...asked, account: 'two' });
    expect(totals).toMatchObject({ outcomes: 2, revenue: 140.5 });
  });
  it('no answer and no error has a number of the file, an id or a time of a sale', async () => {
    const answers: string[] = [];
    for (const args of [
      {},
      { outcomes: 'cut' },
      { outcomes: ['sales', 'later'] },
      { group_by: ['day'], explain: true, compare: '2026-09' },
      { group_by: ['caller_type', 'week'], spend: undefined },
      { group_by: ['caller'] },
      { group_by: ['campaign'], measures: ['outcomes', 'callers'], where: 'NOT office' },
      { order: 'phone desc' },
      { having: 'revenue > 13125550142' },
    ]) {
      const { content, structuredContent } = await callTool(server, 'analyze_calls', {
        ...asked,
        ...args,
      });
      answers.push(JSON.stringify([content, structuredContent]));
    }

    const said = answers.join('\n').replaceAll('revenue > 13125550142', '');
    for (const number of [...numbers, '555-0142', '5550142', '5550167', '5550188', '5550133'])
      expect(said).not.toContain(number);
    expect(said).not.toMatch(/\bA[1-5]\b|Anonymous|2026-12-24/);
  });
});
