import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeys, type Call, type Client, createClient } from '@call-attribution/core';
import { generate, type Sandbox, startSandbox } from '@call-attribution/sandbox';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallsMcpServer, callTool, createServer } from '../../src/index.ts';
import { estimateTokens } from '../../src/tools/table.ts';
import type { Content } from '../support/ask.ts';
import { type Ask, askedAt, questions, zone } from '../support/questions.ts';

// Every question over a local copy that the server has filled itself, at a size that no one reads
// call by call.

const drill = openDrill({
  name: 'questions-over-a-copy',
  kind: 'random histories',
  what: 'People ask an assistant about many calls; each answer over the local copy is the one that the records give, in few calls and tokens',
});

const to = '2026-11-01 00:00:00';
const records = rounds(10_000, 100_000);
const folder = mkdtempSync(join(tmpdir(), 'mcp-questions-'));
const calls: readonly Call[] = [...generate({ records, to })];
const spent: { ask: string; calls: number; tokens: number; ms: number }[] = [];
let sandbox: Sandbox;
let client: Client;
let server: CallsMcpServer;

const textOf = async (name: string, args: Readonly<Record<string, unknown>>): Promise<string> =>
  (await callTool(server, name, args)).content[0]?.text ?? '';

beforeAll(async () => {
  sandbox = await startSandbox({ records, to });
  const account = sandbox.accounts[0] as Sandbox['accounts'][number];
  client = createClient({
    baseUrl: sandbox.url,
    legacyBaseUrl: sandbox.url,
    auth: apiKeys(account.accessKey, account.secretKey),
  });
  server = createServer(client, {
    copyFolder: folder,
    pseudonymKey: 'key',
    clock: { now: () => askedAt },
    timeZone: zone,
  });
}, 900_000);

afterAll(async () => {
  await server.close();
  await client.close();
  await sandbox.close();
  rmSync(folder, { recursive: true });
  const middle = (of: 'calls' | 'tokens' | 'ms') =>
    spent.map((each) => each[of]).sort((a, b) => a - b)[Math.floor(spent.length / 2)];
  process.stderr.write(
    `${spent.length} questions over ${records} calls: median ${middle('calls')} call, ${middle('tokens')} tokens, ${Math.round(middle('ms') ?? 0)} ms; most tokens: ${spent
      .sort((a, b) => b.tokens - a.tokens)
      .slice(0, 3)
      .map(({ ask, tokens }) => `${tokens} (${ask})`)
      .join(', ')}\n`,
  );
});

describe('over a local copy', () => {
  it.each(questions.map((question) => [question.ask, question] as const))(
    'one question is answered rightly: %s',
    (_ask, { ask, calls: asks, answer, truth }) =>
      drill.run(async () => {
        const results: Content[] = [];
        let tokens = 0;
        const started = performance.now();
        for (const each of asks) {
          const [name, args]: Ask = typeof each === 'function' ? each(results, calls) : each;
          const result = await callTool(server, name, args);
          const text = result.content[0]?.text ?? '';
          expect(result.isError, text).toBeUndefined();
          tokens += estimateTokens(JSON.stringify(args)) + estimateTokens(text);
          results.push(result.structuredContent as Content);
        }

        spent.push({ ask, calls: asks.length, tokens, ms: performance.now() - started });
        expect(answer(results.at(-1) as Content, results)).toEqual(truth(calls, results));
      }),
  );

  it('takes one call and at most 300 tokens in the median', () => {
    const middle = (list: number[]) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
    expect(spent).toHaveLength(questions.length);
    expect(questions.length).toBeGreaterThanOrEqual(60);
    expect(middle(spent.map((each) => each.calls))).toBe(1);
    expect(middle(spent.map((each) => each.tokens))).toBeLessThanOrEqual(300);
  });

  it('has an answer that names no number of a caller', async () => {
    const mask =
      /phone-\d{12}/.exec(await textOf('analyze_calls', { group_by: 'caller', limit: 1 }))?.[0] ??
      '';
    const [counted, other, raw, like] = await Promise.all([
      textOf('count_calls', { where: `ani = '${mask}'` }),
      textOf('count_calls', { where: `ani <> '${mask}'` }),
      textOf('count_calls', { where: `ani = '${calls[0]?.ani}'` }),
      textOf('count_calls', { where: "ani LIKE '1%'" }),
    ]);
    expect(JSON.parse(counted).total + JSON.parse(other).total).toBe(
      calls.filter((call) => call.channel === 'Tracker' && call.ani).length,
    );
    for (const refused of [raw, like]) expect(refused).toMatch(/^ani cannot be compared/);
  });
});
