import type { Call } from '@call-attribution/core';
import { generate } from '@call-attribution/sandbox';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  type CallsMcpServer,
  callTool,
  createServer,
  type HttpEndpoint,
  serveHttp,
} from '../../src/index.ts';
import { fakeClient } from '../support/fake-client.ts';
import { plain, send } from '../support/http.ts';
import { rpc } from '../support/rpc.ts';

// One client asks as much as it can, of a copy in memory, in the thread that answers everybody.

const crowd = openDrill({
  name: 'crowded-server',
  kind: 'hostile clients',
  what: 'A client sends batches of 99 questions and conditions that would take a regular expression for minutes; others are answered all the same, and it is told when to come back',
});

/**
 * Milliseconds of CPU for which others may wait. It is that of all threads of the process, those that
 * collect garbage included.
 */
const mostCpu = 2000;

const label = 'a'.repeat(80);
const calls: readonly Call[] = Array.from(
  generate({ records: rounds(20_000, 60_000) }),
  (call) => ({
    ...call,
    phone_label: label,
  }),
);
let server: CallsMcpServer;
let endpoint: HttpEndpoint;

beforeAll(async () => {
  server = createServer(fakeClient(calls), { callTimeout: '10m' });
  endpoint = await serveHttp(server, { port: 0 });
  await vi.waitFor(
    async () => {
      const { structuredContent } = await callTool(server, 'analyze_calls', { calls: 'all' });
      expect(structuredContent).toMatchObject({ calls: calls.length, complete: true });
    },
    { timeout: 300_000 },
  );
}, 400_000);

afterAll(async () => {
  await endpoint.close();
  await server.close();
});

interface Answer {
  readonly id: number;
  readonly result: {
    readonly isError?: true;
    readonly content: readonly { readonly text: string }[];
    readonly structuredContent?: { readonly calls: number };
  };
}

/** Sends one batch of questions. */
async function askAll(questions: readonly object[]): Promise<readonly Answer[]> {
  const body = questions.map((args, id) =>
    rpc('tools/call', { name: 'analyze_calls', arguments: args }, id),
  );
  const { status, json, events } = await send(endpoint.url, { headers: plain, body });
  expect(status).toBe(200);
  return (events.length > 0 ? events : json) as unknown as readonly Answer[];
}

/**
 * Asks for the health of the server until something is done. Returns how often it was there, and
 * the most milliseconds of this process' CPU that it was not: a busy machine changes nothing about
 * them.
 */
async function watch(work: Promise<unknown>): Promise<{ answered: number; longest: number }> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  let answered = 0;
  let longest = 0;
  while (!isDone) {
    const before = process.cpuUsage();
    const { status } = await send(new URL('/healthz', endpoint.url).href, { method: 'GET' });
    const { user, system } = process.cpuUsage(before);
    expect(status).toBe(200);
    answered += 1;
    longest = Math.max(longest, (user + system) / 1000);
  }

  await done;
  return { answered, longest };
}

/** Questions that hold much, and finish late. */
const heavy: readonly object[] = [
  { group_by: ['campaign', 'city', 'keyword'], measures: ['calls', 'callers', 'talk_median'] },
  { group_by: ['sid'], measures: ['calls', 'talk_mean'] },
  { group_by: ['caller'], measures: ['calls', 'first_time_callers', 'reached_within(24)'] },
  {
    group_by: ['day', 'hour'],
    measures: ['calls', 'callers'],
    compare: 'previous',
    period: '2026-10',
  },
];

const questionOf = (i: number) => ({
  calls: 'all',
  where: `talk_minutes >= ${i / 100}`,
  ...heavy[i % heavy.length],
});

it('a batch of 99 questions keeps nobody else waiting for a second', () =>
  crowd.run(async () => {
    const batch = askAll(Array.from({ length: 99 }, (_, i) => questionOf(i)));
    const { answered, longest } = await watch(batch);
    process.stderr.write(`health: ${answered} times, at most ${Math.round(longest)} ms of CPU\n`);
    expect(longest).toBeLessThan(mostCpu);

    // Some were answered, and the others know when to come back.
    const answers = await batch;
    expect(answers).toHaveLength(99);
    const busy = answers.filter(({ result }) => result.isError);
    expect(busy.length).toBeGreaterThan(0);
    expect(busy.length).toBeLessThan(99);
    for (const { result } of busy)
      expect(result.content[0]?.text).toMatch(
        /^analyze_calls was not run: the server is busy\.\n.+\n.+\nRetry: Yes, in \d+ seconds?\.$/,
      );
    const [again] = await askAll([questionOf(0)]);
    expect(again?.result.structuredContent).toMatchObject({
      calls: calls.filter(({ talk_minutes: talk }) => Number(talk) >= 0).length,
    });
  }, 600_000));

it('a LIKE of twelve wildcards is answered, and others meanwhile', () =>
  crowd.run(async () => {
    const asked = askAll([{ calls: 'all', where: "phone_label LIKE '%_%_%_%_%_%~'" }]);
    const { longest } = await watch(asked);
    expect(longest).toBeLessThan(mostCpu);
    const [answer] = await asked;
    expect(answer?.result.structuredContent).toMatchObject({ calls: 0 });
  }, 600_000));

it('a question whose client leaves ends before the others do', () =>
  crowd.run(async () => {
    const leaving = new AbortController();
    const ended: string[] = [];
    const ask = async (name: string, signal?: AbortSignal) => {
      const result = await callTool(server, 'analyze_calls', questionOf(0), signal && { signal });
      ended.push(name);
      return result.content[0]?.text;
    };

    // The first four read; the last one waits for its turn.
    const others = Array.from({ length: 4 }, (_, i) => ask(`other ${i}`));
    const waiting = ask('waiting', leaving.signal);
    await send(new URL('/healthz', endpoint.url).href, { method: 'GET' });
    leaving.abort();
    expect(await waiting).toContain('The call was cancelled.');
    expect(ended).toEqual(['waiting']);
    await Promise.all(others);
    const reading = new AbortController();
    const first = ask('reading', reading.signal);
    const second = ask('second');
    await send(new URL('/healthz', endpoint.url).href, { method: 'GET' });
    reading.abort();
    expect(await first).toContain('The call was cancelled.');
    expect(ended.at(-1)).toBe('reading');
    expect(await second).toContain('"complete":true');
  }, 600_000));
