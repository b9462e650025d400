import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { apiKeys, type Call, type Client, createClient } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import { matcher, parse } from '@call-attribution/query-dsl';
import { afterEach, describe, expect, it } from 'vitest';
import { type CallsMcpServer, callTool, createServer } from '../../src/index.ts';

// A local copy while it is loaded for the first time, from a server that gives the older calls only when the test says so.

const end = parseNaive('2026-11-01 00:00:00');
const hour = 3_600_000;
const calls: readonly Call[] = fixtureCalls(3000).map((call, i, all) => ({
  ...call,
  acct_id: '101',
  date_added: formatNaive(end - (all.length - i) * 2 * hour),
}));
const lastWeeks = { from: '2026-10-05', to: '2026-10-31', calls: 'all' };
const inLastWeeks = calls.filter(({ date_added: at }) => at >= '2026-10-05').length;

/** A promise, and what keeps it. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
}

/** A client of a server that holds back pages with calls from before a time until it is opened. */
function slowClient(since: string) {
  const open = gate();
  const asked = gate();
  const client: Client = createClient({
    baseUrl: 'http://127.0.0.1:1',
    auth: apiKeys('a', 'b'),
    fetch: async (url) => {
      const query = new URL(String(url)).searchParams;
      const rows = Math.min(100, Number(query.get('rows') ?? 20));
      const matches = matcher(parse(query.get('q') ?? ''));
      const all = calls.filter((call) => matches({ ...call }));
      const from = Number(query.get('start') ?? 0) * rows;
      const page = all.slice(from, from + rows);
      if (rows > 1 && page.some(({ date_added: at }) => at < since)) {
        asked.open();
        await open.opened;
      }
      const range = page.length === 0 ? '0-0' : `${from + 1}-${from + page.length}`;
      return Response.json(page, { headers: { 'content-range': `${range}/${all.length}` } });
    },
  });
  return { client, open: open.open, asked: asked.opened };
}

describe('while a local copy is loaded for the first time', () => {
  const folders: string[] = [];
  const servers: CallsMcpServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  /** A server whose clock goes on by so many milliseconds with each look at it, and whose timers never end. */
  const start = (client: Client, step: number) => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-loading-'));
    folders.push(folder);
    const lines: string[] = [];
    let now = end;
    const clock = {
      now: () => {
        now += step;
        return now;
      },
      timer: () => () => undefined,
    };
    const server = createServer([{ name: 'main', client, id: '101' }], {
      mirror: { file: join(folder, 'calls.duckdb') },
      log: (line) => void lines.push(line),
      clock,
    });
    servers.push(server);
    return { server, lines };
  };

  it('the newest calls come first: the last weeks are exact while the older ones are still to come', async () => {
    const { client, open } = slowClient('2026-08-01');
    // So slow that the rest takes longer than a question waits for, however few looks there were.
    const { server, lines } = start(client, 10_000);
    const ask = async (args: object) =>
      (await callTool(server, 'count_calls', { ...args })).structuredContent;
    await expect
      .poll(() => ask(lastWeeks))
      .toMatchObject({
        total: inLastWeeks,
        notes: expect.not.arrayContaining([expect.stringContaining('read from the API')]),
      });
    expect(lines.join('\n')).not.toContain('The copy is complete');
    const { notes, total } = Object(await ask({ calls: 'all', from: '2026-06-01', to: '2026-06-30' }));
    expect(total).toBe(calls.filter(({ date_added: at }) => at.startsWith('2026-06')).length);
    expect(notes.join()).toMatch(
      /The local copy is loading \([\d,]+ of at least [\d,]+ calls.*\); this was read from the API/,
    );
    open();
    await expect.poll(() => lines).toContain('The copy is complete: 3000 calls.');
  });

  it('a question waits for the copy when little of it is left', async () => {
    const oldest = String(calls[90]?.date_added);
    const { client, open, asked } = slowClient(oldest);
    const { server, lines } = start(client, 1);
    await asked;
    let isAnswered = false;
    const question = callTool(server, 'count_calls', { calls: 'all' }).finally(() => {
      isAnswered = true;
    });
    for (let i = 0; i < 300; i += 1) await turn();
    expect(isAnswered).toBe(false);
    open();
    const { notes, total } = Object((await question).structuredContent);
    expect(total).toBe(3000);
    expect(notes.join()).not.toContain('read from the API');
    expect(lines).toContain('The copy is complete: 3000 calls.');
  });
});
