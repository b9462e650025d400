import {
  appendFileSync,
  existsSync,
  lutimesSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fixtureCalls } from '@call-attribution/core/testing';
import { afterAll, describe, expect, it } from 'vitest';
import {
  type CallsMcpOptions,
  type CallsMcpServer,
  callTool,
  createServer,
} from '../../src/index.ts';
import { failed, fakeClient } from '../support/fake-client.ts';
import { request } from '../support/handlers.ts';

const calls = fixtureCalls(700);
const exportFolder = mkdtempSync(join(tmpdir(), 'mcp-files-'));
afterAll(() => rmSync(exportFolder, { recursive: true }));

const twoAccounts = (options: CallsMcpOptions, berlin = fakeClient(fixtureCalls(40, 2))) =>
  createServer(
    [
      { name: 'main', client: fakeClient(calls, { maxRows: 50 }) },
      { name: 'berlin', client: berlin },
    ],
    { exportFolder, ...options },
  );

const save = (server: CallsMcpServer, tool: string, args: object) =>
  callTool(server, 'save_csv', { tool, arguments: JSON.stringify(args) });

const linesOf = (text: string): number => text.trimEnd().split(/\r?\n/).length - 1;

/** How many rows the file has that an answer names. */
function written({ structuredContent, content }: Awaited<ReturnType<typeof callTool>>): number {
  const file = /CSV to (.+)\.$/.exec(String(structuredContent?.summary))?.[1];
  expect(file, content[0]?.text).toBeDefined();
  return linesOf(readFileSync(file ?? '', 'utf8'));
}

describe('a file of rows', () => {
  it.each([
    ['analyze_calls', { group_by: ['city'], calls: 'all' }],
    ['list_calls', { fields: ['sid'], calls: 'all', order: 'sid' }],
  ])('is not written when the API fails in the middle: %s', async (tool, args) => {
    let requests = 0;

    const before = () => {
      requests += 1;
      if (requests > 5) return failed(503);
    };

    const server = createServer(fakeClient(calls, { maxRows: 50, before }), { exportFolder });
    const { isError, content } = await save(server, tool, args);
    expect(isError).toBe(true);
    expect(content[0]?.text).toMatch(/^save_csv failed \(HTTP 503\)/);
  });

  it('is not written without an account that cannot be read, which is named', async () => {
    const server = twoAccounts({}, fakeClient([], { before: () => failed(403) }));
    const { content } = await save(server, 'analyze_calls', { group_by: ['city'] });
    expect(content[0]?.text).toMatch(
      /wrote no file\.\nWhy: .*berlin could not be read.*berlin failed/,
    );
  });

  it('has all groups', async () => {
    const server = createServer(fakeClient(calls), { exportFolder });
    const asked = { group_by: ['sid'], calls: 'all' };
    expect(written(await save(server, 'analyze_calls', asked))).toBe(700);
  });

  it('has all calls of a list that the API gives page by page, in its order', async () => {
    const many = fixtureCalls(2300);
    const server = createServer(fakeClient(many), { exportFolder });
    const asked = { fields: ['sid'], calls: 'all' };
    const answer = await save(server, 'list_calls', asked);
    expect(written(answer)).toBe(2300);
    const file = /CSV to (.+)\.$/.exec(String(answer.structuredContent?.summary))?.[1] ?? '';
    const sids = readFileSync(file, 'utf8').trimEnd().split(/\r?\n/).slice(1);
    expect(sids).toEqual(many.map(({ sid }) => sid).reverse());
  });

  it('may be asked for with the cursor of a page, and has the whole list', async () => {
    const server = createServer(fakeClient(calls), { exportFolder });
    const asked = { fields: ['sid'], calls: 'all', rows: 3 };
    const { structuredContent } = await callTool(server, 'list_calls', asked);
    const cursor = structuredContent?.next_cursor;
    expect(cursor).toBeDefined();
    expect(written(await save(server, 'list_calls', { ...asked, cursor }))).toBe(700);
  });

  it('is readable by its owner only, and has no formulas and no numbers of callers', async () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'mcp-files-')), 'exports');
    const odd = calls.map((call, i) => ({
      ...call,
      search_term: i === 3 ? '=1+1 call 212-555-0100' : null,
    }));
    const server = createServer(fakeClient(odd), { exportFolder: folder });
    const asked = { fields: ['sid', 'search_term'], calls: 'all' };
    expect(written(await save(server, 'list_calls', asked))).toBe(700);
    const [name = ''] = readdirSync(folder);
    expect([statSync(folder).mode & 0o777, statSync(join(folder, name)).mode & 0o777]).toEqual([
      0o700, 0o600,
    ]);
    expect(readFileSync(join(folder, name), 'utf8')).not.toMatch(/212-555-0100|,=/);
    rmSync(folder, { recursive: true });
  });

  it('goes after thirty days, when the next one is written; what is not ours, or not any more, stays', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-files-'));
    const server = createServer(fakeClient(calls), { exportFolder: folder });
    const write = async (): Promise<string> => {
      const { structuredContent } = await save(server, 'list_calls', {});
      return /CSV to (.+)\.$/.exec(String(structuredContent?.summary))?.[1] ?? '';
    };

    const unused = await write();
    const edited = await write();
    const taken = await write();
    appendFileSync(edited, 'noted by hand\r\n');
    rmSync(taken);
    symlinkSync(edited, taken);
    const others = ['leads-202509301200.csv', 'list_calls-0123456789ab.csv', 'notes.csv'];
    for (const name of others) writeFileSync(join(folder, name), '');
    const longAgo = Date.now() / 1000 - 31 * 86_400;
    for (const name of readdirSync(folder)) lutimesSync(join(folder, name), longAgo, longAgo);
    const last = await write();
    const left = [edited, taken, last].map((file) => basename(file));
    const isShown = (name: string) => !name.startsWith('.');
    expect(existsSync(unused)).toBe(false);
    expect(readdirSync(folder).filter(isShown).sort()).toEqual([...left, ...others].sort());

    // It is theirs now.
    for (const name of readdirSync(folder)) lutimesSync(join(folder, name), longAgo, longAgo);
    await write();
    expect(readdirSync(folder)).toEqual(expect.arrayContaining([basename(edited), ...others]));
    expect(existsSync(last)).toBe(false);
    rmSync(folder, { recursive: true });
  });
});

describe('save_csv', () => {
  const listed = async (options: CallsMcpOptions) => {
    const list = await request(createServer(fakeClient([]), options), 'tools/list');
    return list.tools as { readonly name: string; readonly annotations: Record<string, boolean> }[];
  };

  it('is listed where the server can write files, and else refused', async () => {
    const namesIn = async (options: CallsMcpOptions) =>
      (await listed(options)).map(({ name }) => name);
    expect(await namesIn({ exportFolder })).toContain('save_csv');
    expect(await namesIn({})).not.toContain('save_csv');
    const { content } = await save(createServer(fakeClient([])), 'list_calls', {});
    expect(content[0]?.text).toContain('There is no tool "save_csv".');
  });

  it('is the one tool that says that it writes', async () => {
    for (const { name, annotations } of await listed({ exportFolder }))
      expect([name, annotations.readOnlyHint]).toEqual([name, name !== 'save_csv']);
  });

  it('writes nothing for another tool', async () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'mcp-files-')), 'exports');
    const server = createServer(fakeClient(calls), { exportFolder: folder });
    for (const [tool, args] of [
      ['list_calls', {}],
      ['analyze_calls', { group_by: ['city'] }],
      ['count_calls', {}],
      ['describe_data', {}],
    ] as const)
      expect((await callTool(server, tool, args)).isError).toBeUndefined();
    expect(existsSync(folder)).toBe(false);
  });

  it('takes the arguments as an object too, also of one of several accounts', async () => {
    const args = { fields: ['sid'], calls: 'all', account: 'berlin' };
    const asked = { tool: 'list_calls', arguments: args };
    expect(written(await callTool(twoAccounts({}), 'save_csv', asked))).toBe(40);
  });

  it.each([
    [{ tool: 'count_calls' }, /^"tool"/],
    [{ tool: 'list_calls', arguments: 'all of them' }, /one JSON object\. list_calls takes: /],
    [{ tool: 'list_calls', arguments: '{"group_by":["city"]}' }, /no argument "group_by".*list_/],
    [{ tool: 'analyze_calls', arguments: '{"where":"citty = 1"}' }, /Did you mean city\?/],
  ])('says what is wrong with %j', async (asked, text) => {
    const server = createServer(fakeClient(calls), { exportFolder });
    const { isError, content } = await callTool(server, 'save_csv', asked);
    expect(isError).toBe(true);
    expect(content[0]?.text).toMatch(text);
  });
});
