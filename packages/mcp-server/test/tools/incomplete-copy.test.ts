import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeys, type Call, type Client, createClient } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { matcher, parse } from '@call-attribution/query-dsl';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type CallsMcpServer, callTool, createServer } from '../../src/index.ts';

const calls = fixtureCalls(300)
  .map((call): Call => ({ ...call, acct_id: '101' }))
  .sort((a, b) => (`${a.date_added} ${a.sid}` < `${b.date_added} ${b.sid}` ? -1 : 1));
const hidden = new Set(calls.filter((_, i) => i % 60 === 7).map(({ sid }) => sid));

/** A client of a server whose counts know all calls, and whose lists leave some out. */
const shortClient = (): Client =>
  createClient({
    baseUrl: 'http://127.0.0.1:1',
    auth: apiKeys('a', 'b'),
    fetch: async (url) => {
      const asked = new URL(String(url)).searchParams;
      const rows = Math.min(100, Number(asked.get('rows') ?? 20));
      const matches = matcher(parse(asked.get('q') ?? ''));
      const all = calls.filter((call) => matches({ ...call }) && (rows === 1 || !hidden.has(call.sid)));
      const from = Number(asked.get('start') ?? 0) * rows;
      const page = all.slice(from, from + rows);
      const range = page.length === 0 ? '0-0' : `${from + 1}-${from + page.length}`;
      return Response.json(page, { headers: { 'content-range': `${range}/${all.length}` } });
    },
  });

describe('over a local copy that is not whole', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-incomplete-'));
  let server: CallsMcpServer;
  beforeAll(async () => {
    const file = join(folder, 'calls.duckdb');
    const client = shortClient();
    const lines: string[] = [];
    server = createServer([{ name: 'main', client, id: '101' }], {
      mirror: { file },
      log: (line) => void lines.push(line),
    });
    await vi.waitFor(() => expect(lines.join('\n')).toContain('The copy is INCOMPLETE: at the end'), 600_000);
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  it.each([
    ['list_calls', { calls: 'all', rows: 3 }],
    ['count_calls', { calls: 'all' }],
    ['analyze_calls', { calls: 'all', group_by: 'state' }],
    ['get_call', { sid: calls[0]?.sid }],
  ])('%s says INCOMPLETE with the stretch', async (name, args) => {
    const { isError, content, structuredContent } = await callTool(server, name, args);
    expect(isError, content[0]?.text).toBeUndefined();
    expect(structuredContent).toMatchObject({
      notes: expect.arrayContaining([
        expect.stringMatching(
          /^INCOMPLETE: at the end the server counts more calls .*: 5 calls are missing\. The next refresh of the local copy reads them again\.$/,
        ),
      ]),
    });
  });
});
