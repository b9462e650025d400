import { isCallExtension } from '@call-attribution/core/fields';
import { fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, it } from 'vitest';
import { callTool, createServer } from '../../src/index.ts';
import { fakeClient } from '../support/fake-client.ts';

const calls = fixtureCalls(137);
const expected = calls.filter((call) => call.date_added.startsWith('2024-01-01'));
const extensions = expected.filter(isCallExtension).length;
const clientOver = (list: typeof calls) => fakeClient(list);

describe('count_calls', () => {
  it('says what was counted, and how many calls through call extensions were left out', async () => {
    const server = createServer(clientOver(calls));
    const { structuredContent } = await callTool(server, 'count_calls', {
      from: '2024-01-01',
      to: '2024-01-01',
    });
    expect(structuredContent).toMatchObject({ total: expected.length - extensions });
    expect(structuredContent?.summary).toMatch(
      new RegExp(
        `^${expected.length - extensions} website calls on 2024-01-01 \\(call extensions left out; calls="all" adds them`,
      ),
    );
  });

  it('says which of the usual differences another number comes from', async () => {
    const server = createServer(clientOver(calls), { timeZone: 'America/New_York' });
    const args = { from: '2024-01-01', to: '2024-01-01', expected: expected.length };
    const { structuredContent } = await callTool(server, 'count_calls', args);
    expect(structuredContent?.summary).toContain(
      `${expected.length} is the number of all calls, call extensions included`,
    );
    const rows = structuredContent?.rows as [string, number][];
    expect(rows.find(([what]) => what === 'answered calls only')?.[1]).toBe(
      expected.filter((call) => !isCallExtension(call) && Number(call.talk_minutes) > 0).length,
    );
    const other = await callTool(server, 'count_calls', { ...args, expected: 7777 });
    expect(other.structuredContent?.summary).toContain('None of the usual differences gives 7,777.');
  });
});
