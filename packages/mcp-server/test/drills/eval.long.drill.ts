import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { apiKeys, type Client, createClient } from '@call-attribution/core';
import { generate, type Sandbox, startSandbox } from '@call-attribution/sandbox';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallsMcpServer, callTool, createServer } from '../../src/index.ts';
import { estimateTokens } from '../../src/tools/table.ts';
import type { Content } from '../support/ask.ts';
import { fieldQuestions } from '../support/field-questions.ts';
import { type Ask, askedAt, type Question, questions, zone } from '../support/questions.ts';

// The published evaluation: each question over a copy that is there and over one that has nothing
// yet, with what it took. `pnpm eval` writes bench/mcp-server/eval.md.

const drill = openDrill({
  name: 'evaluation',
  kind: 'random histories',
  what: 'Questions as people ask them, over a copy that is there and over one that is loading; each answer is the one that the records give',
});

const records = 2000;
const calls = [...generate({ records })];
const sets: Readonly<Record<string, readonly Question[]>> = {
  'as people ask them': questions,
  'from the field table': fieldQuestions,
};
const folder = mkdtempSync(join(tmpdir(), 'mcp-eval-'));
const rows: string[] = [];
let sandbox: Sandbox;
let client: Client;
const servers = new Map<string, CallsMcpServer | (() => CallsMcpServer)>();

interface Played {
  readonly isRight: boolean;
  readonly calls: number;
  readonly tokens: number;
}

async function play(
  server: CallsMcpServer,
  { calls: asks, answer, truth }: Question,
): Promise<Played> {
  const results: Content[] = [];
  let tokens = 0;
  for (const each of asks) {
    const [name, args]: Ask = typeof each === 'function' ? each(results, calls) : each;
    const { structuredContent, content, isError } = await callTool(server, name, args);
    tokens += estimateTokens(content[0]?.text ?? '');
    if (isError) return { isRight: false, calls: asks.length, tokens };
    results.push(structuredContent as Content);
  }

  const isRight = isDeepStrictEqual(
    answer(results.at(-1) as Content, results),
    truth(calls, results),
  );
  return { isRight, calls: asks.length, tokens };
}

const rank = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(part * values.length) - 1)] ?? 0;

beforeAll(async () => {
  sandbox = await startSandbox({ records, to: '2026-11-01 00:00:00' });
  const [account] = sandbox.accounts;
  client = createClient({
    baseUrl: sandbox.url,
    legacyBaseUrl: sandbox.url,
    auth: apiKeys(account?.accessKey ?? '', account?.secretKey ?? ''),
  });
  const settings = { clock: { now: () => askedAt }, timeZone: zone, pseudonymKey: 'key' };
  const fresh = createServer(client, { ...settings, copyFolder: folder });
  servers.set('a fresh copy', fresh);
  await callTool(fresh, 'analyze_calls', { calls: 'all' });

  // Each question meets a copy that has nothing yet.
  servers.set('a copy that is loading', () => createServer(client, settings));
}, 300_000);

afterAll(async () => {
  for (const server of servers.values()) if (typeof server !== 'function') await server.close();
  await client.close();
  await sandbox.close();
  rmSync(folder, { recursive: true });
  const text = [
    '# Evaluation of the MCP server',
    '',
    `Written by \`pnpm eval\`: ${records} generated calls; the calls of tools are fixed, the truth is plain JavaScript over the records.`,
    '',
    '| questions | answered by | right | calls of tools, median / most | tokens of results, median / p90 / most |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
  process.stderr.write(`${text}\n`);
  if (process.env.CALLS_EVAL === 'write')
    writeFileSync(new URL('../../../../bench/mcp-server/eval.md', import.meta.url), text);
});

describe.each(['a fresh copy', 'a copy that is loading'])('over %s', (name) => {
  it.each(Object.keys(sets))(
    'every question is answered rightly: %s',
    async (set) => {
      const wrong: string[] = [];
      const played: Played[] = [];
      for (const question of sets[set] ?? [])
        await drill.run(async () => {
          const of = servers.get(name);
          if (of === undefined) throw new Error('no server');
          const server = typeof of === 'function' ? of() : of;
          const each = await play(server, question);
          if (typeof of === 'function') await server.close();
          played.push(each);
          if (!each.isRight) wrong.push(question.ask);
        });

      const of = (key: 'calls' | 'tokens') => played.map((each) => each[key]);
      rows.push(
        `| ${played.length} ${set} | ${name} | ${played.filter(({ isRight }) => isRight).length} | ${rank(of('calls'), 0.5)} / ${Math.max(...of('calls'))} | ${rank(of('tokens'), 0.5)} / ${rank(of('tokens'), 0.9)} / ${Math.max(...of('tokens'))} |`,
      );
      expect(wrong).toEqual([]);
    },
    600_000,
  );
});
