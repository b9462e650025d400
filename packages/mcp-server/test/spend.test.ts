import { fixtureCalls } from '@call-attribution/core/testing';
import { readSpend, type Spend } from '@call-attribution/questions';
import { describe, expect, it } from 'vitest';
import { callTool, createServer, type FilesByName } from '../src/index.ts';
import { ask } from './support/ask.ts';
import { fakeClient } from './support/fake-client.ts';
import { request } from './support/handlers.ts';

const calls = fixtureCalls(20).map((call, i) => ({
  ...call,
  date_added: '2026-10-05 10:00:00',
  channel: i % 4 === 0 ? 'Call Extension' : 'Tracker',
  ppc_campaign: i % 2 === 0 ? 'Brand' : 'Generic',
}));
const rows = [
  { line: 1, cells: ['October 1, 2026 - October 31, 2026'] },
  { line: 2, cells: ['Campaign', 'Cost'] },
  { line: 3, cells: ['Brand', '1,033.33'] },
  { line: 4, cells: ['Implants', '20.00'] },
];
const spend: FilesByName<Spend> = {
  names: ['google', 'cut'],
  read: async (names) =>
    names.map((name) =>
      readSpend(
        { name, rows: name === 'cut' ? [...rows, { line: 5, cells: ['Generic'] }] : rows },
        null,
      ),
    ),
};
const reports = new Map([
  ['cost', { by: 'campaign', measures: 'calls', period: '2026-10', spend: 'google' }],
]);
const server = createServer(fakeClient(calls), {
  configured: { spend, reports },
  timeZone: 'UTC',
});
const initialize = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};
const asked = { group_by: 'campaign', measures: 'calls', period: '2026-10' };

describe('spend of the operator', () => {
  it('is used by its name, with all calls, and what had no call is a row', async () => {
    const { columns, rows, totals, notes } = await ask(server, 'analyze_calls', {
      ...asked,
      spend: 'google',
    });
    expect(columns).toEqual(['ppc_campaign', 'calls', 'spend', 'cost_per_call']);
    expect(rows).toEqual([
      ['«Brand»', 10, 1033.33, 103.33],
      ['«Generic»', 10, null, null],
      ['«Implants»', 0, 20, null],
    ]);
    expect(totals).toMatchObject({ calls: 20, spend: 1053.33 });
    expect(notes.join('\n')).toContain('google: 2 amounts in a currency that it does not name');
    expect(notes.join('\n')).toContain('«There was spend but no call for');
  });
  it('is that of a report which names it', async () => {
    const { totals } = await ask(server, 'analyze_calls', { report: 'cost' });
    expect(totals).toMatchObject({ calls: 20, spend: 1053.33 });
  });
  it('is refused with the row of a file, and where the file does not fit the question', async () => {
    for (const [args, message] of [
      [
        { spend: 'cut' },
        "The operator's file cannot be used: cut, row 5: it ends before its last column",
      ],
      [
        { spend: 'google', period: '2026-09' },
        'google is of 2026-10-01 to 2026-10-31 and has no column of days',
      ],
      [
        { spend: 'google', group_by: 'keyword' },
        'google says what was spent on campaigns, not on keywords',
      ],
      [
        { spend: '/etc/passwd' },
        'write each entry as "Brand=1200.50", or name what the operator knows: google, cut.',
      ],
    ] as const) {
      const result = await callTool(server, 'analyze_calls', { ...asked, ...args });
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result.content).replaceAll('\\"', '"')).toContain(message);
    }
  });
  it('is told to agents, who otherwise hear that there is none', async () => {
    const told = async (own: typeof server) =>
      (await request(own, 'initialize', initialize)).instructions;
    expect(await told(server)).toContain('What was spent by campaign is known as google, cut');
    const other = createServer(fakeClient(calls), {});
    expect(await told(other)).toContain('or spend. Say so');
    expect(JSON.stringify(await callTool(server, 'describe_data', {}))).not.toContain('ad spend');
    expect(JSON.stringify(await callTool(other, 'describe_data', {}))).toContain('ad spend');
  });
});
