import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeys, type Call, type Client, createClient } from '@call-attribution/core';
import { generate, type Sandbox, startSandbox } from '@call-attribution/sandbox';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallsMcpServer, callTool, createServer } from '../../src/index.ts';
import { estimateTokens } from '../../src/tools/table.ts';
import { type Ask, askedAt, type Content, questions, zone } from '../support/questions.ts';

// Every question over a local copy that the server has filled itself, at a size that no one reads call by call.

const drill = openDrill({
  name: 'questions-over-a-copy',
  kind: 'random histories',
  what: 'People ask an assistant about many calls; each answer over the local copy is the one that the records give, in few calls and tokens',
});

const to = '2026-11-01 00:00:00';
const records = rounds(10_000, 100_000);
const kept = [
  'sid',
  'ani',
  'date_added',
  'talk_minutes',
  'channel',
  'ppc_campaign',
  'ppc_adgroup',
  'ppc_keywords',
  'ppc_match_type',
  'ppc_status',
  'ppc_gclid',
  'landing_page',
  'referrer',
  'browser',
  'rank',
  'activity_type_id',
  'phone_label',
  'vt_device',
  'city',
  'state',
  'displayed_timestamp',
] as const;

const folder = mkdtempSync(join(tmpdir(), 'mcp-questions-'));
const calls: Call[] = [];
const spent: { ask: string; calls: number; tokens: number; ms: number }[] = [];
let sandbox: Sandbox;
let client: Client;
let server: CallsMcpServer;

const textOf = async (name: string, args: Readonly<Record<string, unknown>>): Promise<string> =>
  (await callTool(server, name, args)).content[0]?.text ?? '';

/** The calls; of each the fields that the truth needs are kept. */
function* remembered(): Generator<Call> {
  for (const call of generate({ records, to })) {
    calls.push(Object.fromEntries(kept.map((name) => [name, call[name]])) as unknown as Call);
    yield call;
  }
}

beforeAll(async () => {
  sandbox = await startSandbox({ records, to });
  const account = sandbox.accounts[0] as Sandbox['accounts'][number];
  client = createClient({
    baseUrl: sandbox.url,
    legacyBaseUrl: sandbox.url,
    auth: apiKeys(account.accessKey, account.secretKey),
  });
  for (const _ of remembered());
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

  it.each([
    [
      { where: "stat = 'TX'" },
      /^where: There is no field stat\. Did you mean state\? Use where="state = 'TX'"\.$/,
    ],
    [{ group_by: 'keywrd' }, /^There is no field "keywrd" to group by\. Did you mean keyword\?$/],
    [{ measures: 'mised' }, /^There is no measure "mised"\. Did you mean missed\?$/],
    [
      { group_by: 'state', having: 'cals > 3' },
      /^having: There is no .+ cals.+calls.+ Use having="calls > 3"\.$/,
    ],
    [{ group_by: 'state', order: 'cals desc' }, /^order: .+Did you mean calls\?$/],
    [{ compare: 'previous' }, /^To compare, a question needs a period with both ends/],
    [{ from: '2026-09-31' }, /Did you mean 2026-09-30\?$/],
    [{ time_zone: 'Amerika/New_York' }, /Did you mean America\/New_York\?$/],
  ])('refuses %j in one line with the nearest right thing', async (args, text) => {
    const refused = await textOf('analyze_calls', args);
    expect(refused).toMatch(text);
    expect(refused).not.toContain('\n');
  });

  it('has an answer that names no number of a caller', async () => {
    const mask =
      /phone-\d{12}/.exec(await textOf('analyze_calls', { group_by: 'caller', limit: 1 }))?.[0] ?? '';
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

  it('is read by a second server on the same file', async () => {
    const second = createServer(client, {
      copyFolder: folder,
      pseudonymKey: 'key',
      clock: { now: () => askedAt },
    });
    const { structuredContent } = await callTool(second, 'count_calls', {
      calls: 'all',
      where: 'NOT missed',
    });
    expect(structuredContent).toMatchObject({
      total: calls.filter((call) => Number(call.talk_minutes) > 0).length,
    });
    await second.close();
  });
});
