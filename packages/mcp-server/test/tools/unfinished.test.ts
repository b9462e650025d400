import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { HttpError, type ListQuery } from '@call-attribution/core';
import { createManualClock, fixtureCalls } from '@call-attribution/core/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CallsMcpOptions, callTool, createServer } from '../../src/index.ts';
import { fakeClient } from '../support/fake-client.ts';

const calls = fixtureCalls(1200);
// These tests damage and remove the folder of unfinished questions, which other tests use at the same time.
const usualTemporary = process.env.TMPDIR;
const temporary = mkdtempSync(join(tmpdir(), 'unfinished-'));
beforeAll(() => {
  process.env.TMPDIR = temporary;
});
afterAll(() => {
  if (usualTemporary === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = usualTemporary;
  rmSync(temporary, { recursive: true, force: true });
});
const folder = join(temporary, `call-attribution-mcp-${userInfo().uid}`);
const limits = { maxCalls: 150 };

interface Answer {
  readonly summary: string;
  readonly rows: unknown[][];
  readonly totals?: unknown;
  readonly calls?: number;
  readonly total?: number;
  readonly complete?: boolean;
}

const open = (options: CallsMcpOptions = {}, before?: (query: ListQuery) => void) =>
  createServer(fakeClient(calls, { maxRows: 200, ...(before ? { before } : {}) }), {
    summaryLimits: limits,
    pseudonymKey: 'one key',
    ...options,
  });

const cursorOf = (summary: string): string | undefined => /\{"cursor":"(u_[\w-]{22})"\}/.exec(summary)?.[1];

/** Changes the text of a file, which must have what is replaced. */
const changed = (what: string | RegExp, by: string) => (file: string) => {
  const text = readFileSync(file, 'utf8');
  const other = text.replace(what, by);
  expect(other).not.toBe(text);
  expect(() => JSON.parse(other)).not.toThrow();
  writeFileSync(file, other);
};

/** Follows the cursors, each time with what `server` returns. */
async function follow(
  server: () => ReturnType<typeof open>,
  tool: string,
  args: Record<string, unknown>,
): Promise<{ readonly last: Answer; readonly steps: readonly Answer[] }> {
  const steps: Answer[] = [];
  let next = args;
  for (let i = 0; i < 20; i += 1) {
    const result = await callTool(server(), tool, next);
    expect(result.isError, result.content[0]?.text).toBeUndefined();
    const answer = result.structuredContent as unknown as Answer;
    steps.push(answer);
    const cursor = cursorOf(answer.summary);
    if (cursor === undefined) return { last: answer, steps };
    next = { cursor };
  }
  throw new Error('it never ends');
}

/** A chain of servers, each as new as after a kill. */
const restarted = () => open();

describe('a question that one tool call cannot finish', () => {
  let whole: ReturnType<typeof open>;
  beforeEach(() => {
    whole = open({ summaryLimits: { maxCalls: 100_000 } });
  });

  it.each([
    ['analyze_calls', { group_by: ['city'], measures: ['calls', 'talk_median', 'callers'], calls: 'all' }],
    ['analyze_calls', { group_by: ['hour'], having: 'calls >= 10', order: 'calls desc', limit: 3 }],
    ['analyze_calls', { measures: ['calls', 'repeat_callers', 'talk_p90', 'distinct(city)'], calls: 'all' }],
    ['analyze_calls', { group_by: ['caller_type'], calls: 'all' }],
    [
      'analyze_calls',
      { from: calls[500]?.date_added, to: calls[1100]?.date_added, compare: 'previous', group_by: ['city'] },
    ],
    ['count_calls', { where: "city = 'Boston' OR talk_minutes > 3", calls: 'all' }],
    ['list_calls', { order: 'talk_minutes desc', rows: 7, fields: 'sid,talk_minutes,ani', calls: 'all' }],
  ])('is continued until it is exact: %s %j', async (tool, args) => {
    const plain = ({ summary: _, ...answer }: Answer): unknown => ({ ...answer, next_cursor: undefined });
    const expected = (await callTool(whole, tool, args)).structuredContent as unknown as Answer;
    const one = open();
    const inOne = await follow(() => one, tool, args);
    expect(plain(inOne.last)).toEqual(plain(expected));
    const afterKills = await follow(restarted, tool, args);
    expect(plain(afterKills.last)).toEqual(plain(expected));
    expect(afterKills.steps.length).toBeGreaterThan(1);
    for (const { rows = [], calls: counted, total } of afterKills.steps.slice(0, -1)) {
      expect(rows, 'no numbers that an agent could add').toEqual([]);
      expect([counted, total]).toEqual([undefined, undefined]);
    }
  });

  it('says how far it is and what to call', async () => {
    const { structuredContent } = await callTool(open(), 'analyze_calls', { group_by: 'city' });
    expect(structuredContent?.summary).toMatch(
      /^NOT FINISHED: read \d+ of 1,200 calls; there are no numbers yet\. To go on: analyze_calls \{"cursor":"u_[\w-]{22}"\}\. Do not add up anything\.$/,
    );
  });

  it('keeps its state in a file that only its owner reads, with no number of a caller', async () => {
    const { structuredContent } = await callTool(open(), 'analyze_calls', {
      measures: ['callers'],
      group_by: ['caller'],
    });
    const cursor = cursorOf(String(structuredContent?.summary)) ?? '';
    const file = join(folder, cursor);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const text = readFileSync(file, 'utf8');
    const numbers = new Set(calls.map(({ ani }) => String(ani).replace(/\D/g, '').slice(-10)));
    for (const number of numbers) if (number.length === 10) expect(text).not.toContain(number);
    expect(readdirSync(folder)).toContain(cursor);
  });

  it.each([
    ['an hour later', (file: string) => utimesSync(file, 0, 0), {}],
    ['on a server that reveals something else', () => {}, { reveal: ['caller'] }],
    ['on a server with another key', () => {}, { pseudonymKey: 'another' }],
    ['when its file is cut', (file: string) => writeFileSync(file, '{"seal'), {}],
    ['when its parts are no list', changed('"parts":[', '"parts":7,"x":['), {}],
    ['when one of its parts is nothing', changed('"parts":[{', '"parts":[null,{'), {}],
    ['when a count in it is another one', changed(/"calls":\d+/g, '"calls":7'), {}],
    ['when its groups are no groups', changed('"now":[', '"now":[1,'), {}],
  ] as const)('is refused %s, and says what to do', async (_, change, options) => {
    const { structuredContent } = await callTool(open(), 'analyze_calls', { group_by: 'city' });
    const cursor = String(structuredContent?.go_on);
    change(join(folder, cursor));
    const result = await callTool(open(options as CallsMcpOptions), 'analyze_calls', { cursor });
    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toBe(
      'The question of this cursor is not kept: it was begun over an hour ago or on another server, or its file was damaged. Ask it again, with all its arguments and without the cursor.',
    );
  });

  it('is refused with another argument', async () => {
    const { structuredContent } = await callTool(open(), 'analyze_calls', { group_by: 'city' });
    const cursor = structuredContent?.go_on;
    const { content } = await callTool(open(), 'analyze_calls', { cursor, limit: 3 });
    expect(content[0]?.text).toContain('The cursor does not belong to this call.');
  });

  it('is removed after an hour by any server of the user: when it starts, and each minute', async () => {
    const { structuredContent } = await callTool(open(), 'analyze_calls', { group_by: 'city' });
    const file = join(folder, String(structuredContent?.go_on));
    const old = join(folder, `u_${'A'.repeat(22)}`);
    const leave = () => {
      writeFileSync(old, '{}');
      utimesSync(old, 0, 0);
    };
    leave();
    const clock = createManualClock();
    const server = open({ clock });
    expect([existsSync(old), existsSync(file)]).toEqual([false, true]);
    leave();
    await clock.advance(60_000);
    expect(existsSync(old)).toBe(false);
    await server.close();
    expect(clock.pending()).toBe(0);
  });

  it.each(['u_../../../../etc/passwd', 'x'])('is refused for the cursor %s', async (cursor) => {
    const result = await callTool(open(), 'analyze_calls', { cursor });
    expect(result.content[0]?.text).toMatch(/The cursor does not belong to this call/);
  });

  it('keeps what it read before the API failed, and goes on there', async () => {
    let requests = 0;
    let fails = true;
    const server = open({ summaryLimits: { maxCalls: 100_000 } }, () => {
      requests += 1;
      if (fails && requests > 6)
        throw new HttpError('server_error', 'Down.', { status: 503, isRetryable: true });
    });
    const failed = await callTool(server, 'analyze_calls', { calls: 'all' });
    expect(failed.structuredContent).toMatchObject({ complete: false });
    expect(failed.structuredContent?.summary).toMatch(
      /^INCOMPLETE: read \d+ of 1,200 calls, then the API failed: /,
    );
    fails = false;
    const cursor = cursorOf(String(failed.structuredContent?.summary));
    const { structuredContent } = await callTool(server, 'analyze_calls', { cursor });
    expect(structuredContent).toMatchObject({ calls: 1200, complete: true });
  });

  it('stops after the time that one tool call may take', async () => {
    let now = Date.parse('2026-11-22T15:00:00Z');
    const server = open({ summaryLimits: { maxTime: 20_000 }, clock: { now: () => now } }, () => {
      now += 11_000;
    });
    const { last, steps } = await follow(() => server, 'analyze_calls', { calls: 'all' });
    expect(steps.length).toBeGreaterThan(1);
    expect(last).toMatchObject({ calls: 1200, complete: true });
  });

  it.each([{ from: '2023-12-01', to: 'today' }, { period: 'last 60 days' }])(
    'is about the time that was meant when it began, also the next day or month: %j',
    async (words) => {
      const at = Date.parse('2024-01-31T23:00:00Z');
      const later = (days: number) => () => at + days * 86_400_000;
      const asked = { ...words, calls: 'all', measures: ['calls', 'first', 'last'] };
      const begin = open({ clock: { now: () => at } });
      const large = { maxCalls: 100_000 };
      const expected = await callTool(
        open({ clock: { now: () => at }, summaryLimits: large }),
        'analyze_calls',
        asked,
      );
      const first = await callTool(begin, 'analyze_calls', asked);
      const cursor = cursorOf(String(first.structuredContent?.summary));
      expect(cursor).toBeDefined();
      const { last } = await follow(() => open({ clock: { now: later(3) } }), 'analyze_calls', { cursor });
      const { rows } = expected.structuredContent as unknown as Answer;
      expect(last).toMatchObject({ rows, complete: true });
    },
  );

  it('begins again where another API answers to the same keys', async () => {
    const { structuredContent } = await callTool(open(), 'analyze_calls', { calls: 'all' });
    const other = { ...fakeClient(fixtureCalls(90, 3)), baseUrl: 'http://127.0.0.1:2' };
    const server = createServer(other, { pseudonymKey: 'one key' });
    const answer = await callTool(server, 'analyze_calls', { cursor: structuredContent?.go_on });
    expect(answer.structuredContent).toMatchObject({ calls: 90, complete: true });
  });

  it('keeps its state although somebody removed the folder', async () => {
    const server = open();
    await callTool(server, 'analyze_calls', { group_by: 'city' });
    const aside = `${folder}-aside`;
    renameSync(folder, aside);
    try {
      const { last } = await follow(() => server, 'analyze_calls', { group_by: 'hour' });
      expect(last.complete).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
      renameSync(aside, folder);
    }
  });

  it('says where its state cannot be written', async () => {
    const file = join(tmpdir(), `not-a-folder-${process.pid}`);
    writeFileSync(file, '');
    const before = process.env.TMPDIR;
    process.env.TMPDIR = file;
    try {
      const { content } = await callTool(open(), 'analyze_calls', { group_by: 'city' });
      expect(content[0]?.text).toContain(`cannot be written to ${file} (ENOTDIR). Set TMPDIR`);
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
      rmSync(file);
    }
  });

  it('stops in time over a slow API, however many accounts and periods there are', async () => {
    const start = Date.parse('2026-11-22T15:00:00Z');
    let now = start;
    const client = () =>
      fakeClient(calls, {
        maxRows: 200,
        // Requests that run at once take the time of one.
        before: async () => {
          const end = now + 6000;
          await new Promise(setImmediate);
          now = Math.max(now, end);
        },
      });
    const accounts = ['a', 'b', 'c', 'd'].map((name) => ({ name, client: client(), pseudonymKey: name }));
    const server = createServer(accounts, { clock: { now: () => now } });
    const { structuredContent } = await callTool(server, 'analyze_calls', {
      calls: 'all',
      measures: ['callers'],
    });
    expect(structuredContent).toMatchObject({ complete: false });
    expect(now - start).toBeLessThanOrEqual(45_000);
    const { last } = await follow(() => server, 'analyze_calls', { cursor: structuredContent?.go_on });
    expect(last).toMatchObject({ calls: 4800, complete: true });
  });

  it('is not explained in parts, which is said at once', async () => {
    const [from, to] = [calls[500]?.date_added, calls[1100]?.date_added];
    const asked = { from, to, compare: 'previous', explain: true };
    const { content } = await callTool(open(), 'analyze_calls', asked);
    expect(content[0]?.text).toMatch(/^The periods are too long to be explained over the API/);
  });
});
