import { readFileSync } from 'node:fs';
import { apiKeys, bearerToken, type Client, createClient } from '@call-attribution/core';
import { generate, type Sandbox, startSandbox } from '@call-attribution/sandbox';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toJsonSchema } from '../../src/arguments/json-schema.ts';
import { type CallsMcpServer, callTool, createServer, pseudonymKeyFrom, tools } from '../../src/index.ts';
import { estimateTokens } from '../../src/results/table.ts';

// Questions that people ask, the tool call that answers each, and the answer computed from the records themselves.
const calls = [...generate({ records: 2000 })];
const tracked = calls.filter((call) => call.channel === 'Tracker');
const on = (from: string, to: string) => (call: { date_added: string }) =>
  call.date_added >= `${from} 00:00:00` && call.date_added <= `${to} 23:59:59`;
const minutes = (list: typeof calls) =>
  list.reduce((sum, call) => sum + Math.round(Number(call.talk_minutes) * 10), 0) / 10;
const top = (list: typeof calls, field: keyof (typeof calls)[number]) => {
  const counts = new Map<unknown, number>();
  for (const call of list) counts.set(call[field], (counts.get(call[field]) ?? 0) + 1);
  return Math.max(...counts.values());
};

let sandbox: Sandbox;
let v2: Client;
let v3: Client;

beforeAll(async () => {
  sandbox = await startSandbox();
  const account = sandbox.accounts[0] as Sandbox['accounts'][number];
  const base = { baseUrl: sandbox.url, legacyBaseUrl: sandbox.legacyUrl };
  const keys = apiKeys(account.accessKey, account.secretKey);
  v3 = createClient({ ...base, auth: keys });
  v2 = createClient({ ...base, version: 'v2', auth: bearerToken(account.bearerToken), legacyAuth: keys });
});

afterAll(async () => {
  await v2.close();
  await v3.close();
  await sandbox.close();
});

// biome-ignore lint/suspicious/noExplicitAny: each question knows the shape of its own answer.
type Content = Record<string, any>;

interface Question {
  readonly ask: string;
  readonly tool: string;
  readonly args: Record<string, unknown>;
  /** Must hold for the structured content. */
  readonly answer: (content: Content) => void;
}

const september = ['2026-09-01', '2026-09-30'] as const;
const questions: readonly Question[] = [
  {
    ask: 'How many calls came in September?',
    tool: 'count_calls',
    args: { from: september[0], to: september[1], include_call_extensions: true },
    answer: (content) => expect(content.total).toBe(calls.filter(on(...september)).length),
  },
  {
    ask: 'How many calls did website visits bring in?',
    tool: 'count_calls',
    args: {},
    answer: (content) => expect(content.total).toBe(tracked.length),
  },
  {
    ask: 'How many calls lasted five minutes or more?',
    tool: 'count_calls',
    args: { min_talk_minutes: 5, include_call_extensions: true },
    answer: (content) =>
      expect(content.total).toBe(calls.filter((call) => Number(call.talk_minutes) >= 5).length),
  },
  {
    ask: 'Which channel brings more calls?',
    tool: 'summarize_calls',
    args: { group_by: ['channel'], include_call_extensions: true },
    answer: (content) => {
      const row = (content.rows as unknown[][])[0] as unknown[];
      expect(row.slice(0, 2)).toEqual(['Tracker', tracked.length]);
    },
  },
  {
    ask: 'How many minutes did we talk on September 15?',
    tool: 'summarize_calls',
    args: { from: '2026-09-15', to: '2026-09-15', group_by: 'day', include_call_extensions: true },
    answer: (content) =>
      expect(content.talk_minutes).toBe(minutes(calls.filter(on('2026-09-15', '2026-09-15')))),
  },
  {
    ask: 'Which weekday has the most calls?',
    tool: 'summarize_calls',
    args: { group_by: '["weekday"]', include_call_extensions: true },
    answer: (content) => {
      const rows = content.rows as unknown[][];
      expect(rows).toHaveLength(7);
      expect(rows.reduce((sum, row) => sum + Number(row[1]), 0)).toBe(calls.length);
    },
  },
  {
    ask: 'Which campaign brings the most calls?',
    tool: 'summarize_calls',
    args: { group_by: 'ppc_campaign', include_call_extensions: true, limit: 200 },
    answer: (content) => {
      const rows = content.rows as [string | null, number][];
      const best = Math.max(...rows.filter(([name]) => name !== null).map(([, count]) => count));
      expect(best).toBe(
        top(
          calls.filter((call) => call.ppc_campaign !== null),
          'ppc_campaign',
        ),
      );
    },
  },
  {
    ask: 'Who calls most often?',
    tool: 'summarize_calls',
    args: { group_by: 'ani', include_call_extensions: true, limit: 1 },
    answer: (content) => {
      const [caller, count] = (content.rows as [string, number][])[0] ?? ['', 0];
      expect(caller).toMatch(/^phone-\d{12}$/);
      expect(count).toBe(top(calls, 'ani'));
    },
  },
  {
    ask: 'How far is the attribution of the calls?',
    tool: 'summarize_calls',
    args: { group_by: 'ppc_status', include_call_extensions: true },
    answer: (content) => expect(content).toMatchObject({ calls: calls.length, complete: true }),
  },
  {
    ask: 'Show me the first calls of October.',
    tool: 'list_calls',
    args: { from: '2026-10-01', to: '2026-10-31', rows: 5, include_call_extensions: true },
    answer: (content) => {
      const expected = calls.filter(on('2026-10-01', '2026-10-31'));
      expect((content.rows as string[][]).map((row) => row[0])).toEqual(
        expected.slice(0, 5).map((call) => call.sid),
      );
      expect(content).toMatchObject({ first: 1, last: 5, total: expected.length });
    },
  },
  {
    ask: 'Which ad clicks led to long calls?',
    tool: 'list_calls',
    args: { q: 'talk_minutes:[5 TO *],inc_gce:1', fields: 'sid,talk_minutes,ppc_gclid,ppc_status', rows: 10 },
    answer: (content) => {
      expect(content.columns).toEqual(expect.arrayContaining(['sid', 'talk_minutes', 'ppc_status']));
      for (const row of content.rows as number[][]) expect(row[1]).toBeGreaterThanOrEqual(5);
    },
  },
  {
    ask: 'Tell me everything about this call.',
    tool: 'get_call',
    args: { sid: tracked[7]?.sid },
    answer: (content) =>
      expect(content.call).toMatchObject({
        sid: tracked[7]?.sid,
        date_added: tracked[7]?.date_added,
        channel: 'Tracker',
      }),
  },
  {
    ask: 'Which numbers can get text messages?',
    tool: 'list_sms_numbers',
    args: {},
    answer: (content) => expect((content.rows as unknown[]).length).toBe(content.total),
  },
  {
    ask: 'Why does my filter fail?',
    tool: 'check_filter',
    args: { q: 'talk_minute:[5 TO *]' },
    answer: (content) => {
      expect(content.valid).toBe(false);
      expect(JSON.stringify(content.problems)).toContain('talk_minutes');
    },
  },
];

const ajv = new AjvJsonSchemaValidator();

async function check(server: CallsMcpServer, { tool: name, args, answer }: Question): Promise<void> {
  const tool = tools.find((each) => each.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  const result = await callTool(server, name, args);
  expect(result.isError, result.content[0]?.text).toBeUndefined();
  const valid = ajv.getValidator(toJsonSchema(tool.output, 'output'))(result.structuredContent);
  expect(valid.errorMessage).toBeUndefined();
  expect(estimateTokens(JSON.stringify(result.structuredContent))).toBeLessThanOrEqual(8000);
  answer(result.structuredContent as Content);
}

describe('one tool call answers the question', () => {
  it.each(questions.map((question) => [question.ask, question] as const))('%s', async (_ask, question) => {
    await check(createServer(v3), question);
  });

  it('counts and lists in v2 too', async () => {
    const server = createServer(v2);
    const count = await callTool(server, 'count_calls', { from: september[0], to: september[1] });
    expect(count.structuredContent).toMatchObject({ source: 'count' });
    const list = await callTool(server, 'list_calls', { rows: 3 });
    expect(list.isError).toBeUndefined();
  });
});

describe('the transcript in the README', () => {
  it('is what the server returns', async () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const transcript = /```text\n([\s\S]+?)```/.exec(readme)?.[1] ?? '';
    const exchanges = transcript.split(/^> /m).slice(1);
    expect(exchanges).toHaveLength(3);
    const secretKey = sandbox.accounts[0]?.secretKey;
    const server = createServer(v3, {
      timeZone: 'America/New_York',
      pseudonymKey: pseudonymKeyFrom(secretKey ?? ''),
    });
    const plain = (text: string) => text.replace(/\s/g, '');
    for (const exchange of exchanges) {
      const [, name = '', args = ''] = /^(\w+) (.+)$/m.exec(exchange) ?? [];
      const result = await callTool(server, name, JSON.parse(args));
      expect(plain(exchange)).toBe(plain(`${name} ${args} ${result.content[0]?.text}`));
    }
  });
});
