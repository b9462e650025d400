import { describe, expect, it } from 'vitest';
import { callTool, createServer } from '../../src/index.ts';
import { estimateTokens } from '../../src/tools/table.ts';
import { fakeClient } from '../support/fake-client.ts';

describe('list_sms_numbers', () => {
  it('shows where messages go, without the secrets in the URL', async () => {
    const smsNumbers = [
      {
        number: '15555550100',
        smsEnabled: true,
        url: 'https://me:pw@listener.example.com/in?key=s3cret&a=1',
      },
    ];
    const result = await callTool(createServer(fakeClient([], { smsNumbers })), 'list_sms_numbers');
    expect(result.structuredContent).toEqual({
      summary: '1 number, which takes text messages.',
      columns: ['number', 'sms_enabled', 'url'],
      rows: [['15555550100', true, 'https://listener.example.com/in']],
      total: 1,
    });
  });

  it('shows as many as fit into the budget, and says how many there are', async () => {
    const smsNumbers = Array.from({ length: 400 }, (_, i) => ({
      number: `1555555${String(i).padStart(4, '0')}`,
      smsEnabled: '1',
      url: '',
    }));
    const server = createServer(fakeClient([], { smsNumbers }), { budget: 1500 });
    const { structuredContent: page } = await callTool(server, 'list_sms_numbers');
    expect(estimateTokens(JSON.stringify(page))).toBeLessThanOrEqual(1500);
    expect(page).toMatchObject({
      total: 400,
      summary: expect.stringMatching(/^400 numbers, .* The first \d+ are/),
    });
    expect((page as { rows: unknown[] }).rows.length).toBeGreaterThan(50);
  });
});
