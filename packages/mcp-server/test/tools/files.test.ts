import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpError } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { type CallsMcpOptions, callTool, createServer } from '../../src/index.ts';
import { fakeClient } from '../support/fake-client.ts';
import { request } from '../support/handlers.ts';

const calls = fixtureCalls(700);
const exportFolder = mkdtempSync(join(tmpdir(), 'mcp-files-'));
afterAll(() => rmSync(exportFolder, { recursive: true }));

const refused = () => {
  throw new HttpError('forbidden', 'Not allowed.', { status: 403 });
};

const twoAccounts = (options: CallsMcpOptions, berlin = fakeClient(fixtureCalls(40, 2))) =>
  createServer(
    [
      { name: 'main', client: fakeClient(calls, { maxRows: 50 }) },
      { name: 'berlin', client: berlin },
    ],
    { exportFolder, ...options },
  );

const linesOf = (text: string): number => text.trimEnd().split(/\r?\n/).length - 1;

/** How many rows the file has that an answer names. */
function written({ structuredContent, content }: Awaited<ReturnType<typeof callTool>>): number {
  const file = /CSV to (.+)\.$/.exec(String(structuredContent?.summary))?.[1];
  expect(file, content[0]?.text).toBeDefined();
  return linesOf(readFileSync(file ?? '', 'utf8'));
}

/** What an answer says to call next, and the answer to that, until it is finished. */
async function finish(server: ReturnType<typeof createServer>, tool: string, args: Record<string, unknown>) {
  for (let next = args, left = 20; left > 0; left -= 1) {
    const result = await callTool(server, tool, next);
    const call = /(\{"cursor":"u_.*?\})\. Do not/.exec(String(result.structuredContent?.summary))?.[1];
    if (call === undefined) return result;
    next = JSON.parse(call);
  }
  throw new Error('it never ends');
}

describe('a file of rows', () => {
  it.each([
    ['analyze_calls', { group_by: ['city'], calls: 'all' }],
    ['list_calls', { fields: ['sid'], calls: 'all', order: 'sid' }],
  ])('is not written when the API fails in the middle: %s', async (tool, args) => {
    let requests = 0;
    const before = () => {
      requests += 1;
      if (requests > 5) throw new HttpError('server_error', 'Down.', { status: 503 });
    };
    const server = createServer(fakeClient(calls, { maxRows: 50, before }), { exportFolder });
    const { isError, content } = await callTool(server, tool, { ...args, to_file: true });
    expect(isError).toBe(true);
    expect(content[0]?.text).toMatch(
      new RegExp(
        `^${tool} wrote no file\\.\nWhy: Not all rows could be read\\. INCOMPLETE: read \\d+ of 700`,
      ),
    );
  });

  it('is not written without an account that cannot be read, which is named', async () => {
    const server = twoAccounts({}, fakeClient([], { before: refused }));
    const { content } = await callTool(server, 'analyze_calls', { group_by: ['city'], to_file: true });
    expect(content[0]?.text).toMatch(/wrote no file\.\nWhy: .*berlin could not be read.*berlin failed/);
  });

  it('has all groups', async () => {
    const server = createServer(fakeClient(calls), { exportFolder });
    const asked = { group_by: ['sid'], calls: 'all', to_file: true };
    expect(written(await callTool(server, 'analyze_calls', asked))).toBe(700);
  });

  it('has all calls of a list that the API gives page by page, in its order', async () => {
    const many = fixtureCalls(2300);
    const server = createServer(fakeClient(many), { exportFolder });
    const asked = { fields: ['sid'], calls: 'all', to_file: true };
    const answer = await callTool(server, 'list_calls', asked);
    expect(written(answer)).toBe(2300);
    const file = /CSV to (.+)\.$/.exec(String(answer.structuredContent?.summary))?.[1] ?? '';
    const sids = readFileSync(file, 'utf8').trimEnd().split(/\r?\n/).slice(1);
    expect(sids).toEqual(many.map(({ sid }) => sid));
  });

  it('is of the accounts that were named, also when it takes several reads', async () => {
    const server = twoAccounts({ summaryLimits: { maxCalls: 100 } });
    const asked = { account: ['main'], group_by: ['sid'], calls: 'all', to_file: true };
    expect(written(await finish(server, 'analyze_calls', asked))).toBe(700);
  });

  it.each([
    ['analyze_calls', { group_by: ['sid'], calls: 'all' }],
    ['list_calls', { fields: ['sid'], calls: 'all', order: 'sid' }],
  ])('is written by the call that finishes, and none takes longer than others: %s', async (tool, args) => {
    let now = Date.parse('2026-11-22T15:00:00Z');
    const before = () => {
      now += 6000;
    };
    const client = fakeClient(calls, { maxRows: 50, before });
    const server = createServer(client, { exportFolder, clock: { now: () => now } });
    let asked: Record<string, unknown> = { ...args, to_file: true };
    let answer = await callTool(server, tool, asked);
    for (let steps = 0; typeof answer.structuredContent?.go_on === 'string'; steps += 1) {
      expect(answer.structuredContent.summary).toMatch(/^NOT FINISHED: .* To go on: /);
      expect(steps).toBeLessThan(20);
      asked = { cursor: answer.structuredContent.go_on };
      const began = now;
      answer = await callTool(server, tool, asked);
      expect(now - began).toBeLessThanOrEqual(45_000);
    }
    expect(asked).toHaveProperty('cursor');
    expect(written(answer)).toBe(700);
  });

  it.each([
    ['analyze_calls', { account: ['main'], group_by: ['city'], calls: 'all', limit: 1 }],
    ['list_calls', { account: ['main'], where: "city = 'Springfield'", calls: 'all', rows: 1, order: 'sid' }],
  ])('behind a link has the rows of the question, also of one that was continued: %s', async (tool, args) => {
    const server = twoAccounts({ summaryLimits: { maxCalls: 100 } });
    const { content } = await finish(server, tool, args);
    const uri = content.find(({ type }) => type === 'resource_link')?.uri;
    expect(uri, content[0]?.text).toBeDefined();
    const { contents } = (await request(server, 'resources/read', { uri })) as {
      contents: { text: string }[];
    };
    const cities = new Set(calls.map(({ city }) => city));
    const inSpringfield = calls.filter(({ city }) => city === 'Springfield').length;
    expect(linesOf(contents[0]?.text ?? '')).toBe(tool === 'list_calls' ? inSpringfield : cities.size);
  });

  it('is refused for a question that another process began', async () => {
    const options = { exportFolder, pseudonymKey: 'one key', summaryLimits: { maxCalls: 100 } };
    const open = () => createServer(fakeClient(calls, { maxRows: 50 }), options);
    const { structuredContent } = await callTool(open(), 'list_calls', { order: 'sid', calls: 'all' });
    const again = { cursor: String(structuredContent?.go_on), to_file: true };
    const { content } = await callTool(open(), 'list_calls', again);
    expect(content[0]?.text).toContain('Ask it again, with all its arguments and without the cursor.');
  });
});
