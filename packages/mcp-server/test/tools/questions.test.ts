import { readFileSync } from 'node:fs';
import { apiKeys, bearerToken, type Client, createClient } from '@call-attribution/core';
import { isCallExtension } from '@call-attribution/core/fields';
import { generate, type Sandbox, startSandbox } from '@call-attribution/sandbox';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallsMcpServer, callTool, createServer, tools } from '../../src/index.ts';
import { pseudonymKeyFrom } from '../../src/privacy/mask.ts';
import { tools as readingTools } from '../../src/tools/list.ts';
import { estimateTokens } from '../../src/tools/table.ts';
import { toJsonSchema } from '../../src/tools/tool.ts';
import type { Content } from '../support/ask.ts';
import { type Ask, askedAt, questions, zone } from '../support/questions.ts';

const calls = [...generate({ records: 2000 })];

let sandbox: Sandbox;
let v2: Client;
let v3: Client;

beforeAll(async () => {
  sandbox = await startSandbox({ to: '2026-11-01 00:00:00' });
  const account = sandbox.accounts[0] as Sandbox['accounts'][number];
  const base = { baseUrl: sandbox.url, legacyBaseUrl: sandbox.url };
  const keys = apiKeys(account.accessKey, account.secretKey);
  v3 = createClient({ ...base, auth: keys });
  v2 = createClient({
    ...base,
    version: 'v2',
    auth: bearerToken(account.bearerToken),
    legacyAuth: keys,
  });
});

afterAll(async () => {
  await v2.close();
  await v3.close();
  await sandbox.close();
});

const ajv = new AjvJsonSchemaValidator();

async function ask(server: CallsMcpServer, [name, args]: Ask): Promise<Content> {
  const tool = tools.find((each) => each.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  const result = await callTool(server, name, args);
  expect(result.isError, result.content[0]?.text).toBeUndefined();
  const valid = ajv.getValidator(toJsonSchema(tool.output, 'output'))(result.structuredContent);
  expect(valid.errorMessage).toBeUndefined();
  expect(estimateTokens(JSON.stringify(result.structuredContent))).toBeLessThanOrEqual(8000);
  return result.structuredContent as Content;
}

describe('over the API, one tool call answers the question', () => {
  let server: CallsMcpServer;
  beforeAll(() => {
    server = createServer(v3, { clock: { now: () => askedAt }, timeZone: zone });
  });

  it.each(questions.map((question) => [question.ask, question] as const))(
    '%s',
    async (_ask, { calls: asks, answer, truth }) => {
      const results: Content[] = [];
      for (const each of asks)
        results.push(await ask(server, typeof each === 'function' ? each(results, calls) : each));
      expect(answer(results.at(-1) as Content, results)).toEqual(truth(calls, results));
    },
  );

  it('each tool is asked a question', () => {
    const asked = new Set(
      questions.flatMap((question) =>
        question.calls.map((each) => (typeof each === 'function' ? each([], calls) : each)[0]),
      ),
    );
    for (const { name } of readingTools) expect(asked).toContain(name);
  });

  it('counts and lists in v2 too', async () => {
    const old = createServer(v2);
    const count = await callTool(old, 'count_calls', { from: '2026-09-01', to: '2026-09-30' });
    const expected = calls.filter(({ date_added: at }) => at.startsWith('2026-09'));
    expect(count.structuredContent).toMatchObject({ total: expected.length });
    const website = await callTool(old, 'count_calls', {
      from: '2026-09',
      to: '2026-09',
      calls: 'website',
    });
    expect(website.structuredContent).toMatchObject({
      total: expected.filter((call) => !isCallExtension(call)).length,
    });
    const list = await callTool(old, 'list_calls', { rows: 3 });
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
      clock: { now: () => askedAt },
      timeZone: zone,
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
