import { apiKeys, createClient } from '@call-attribution/core';
import { formatNaive, parseNaive, second } from '@call-attribution/core/time';
import { checkJob } from '@call-attribution/fleet';
import { callTool, createServer } from '@call-attribution/mcp-server';
import { answerQuestion } from '@call-attribution/questions';
import { generate } from '@call-attribution/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Stage } from './stage.ts';

// A date as an end includes its day, and a time of day is not included: the same for whoever reads
// an end.
const ends = [
  ['2026-10-31', '2026-11-01 00:00:00'],
  ['2026-12-31', '2027-01-01 00:00:00'],
  ['2024-02-28', '2024-02-29 00:00:00'],
  ['2026-10-31 00:00:00', '2026-10-31 00:00:00'],
  ['2026-10-31 18:30', '2026-10-31 18:30:00'],
  ['2026-10-31T18:30:05', '2026-10-31 18:30:05'],
] as const;

let stage: Stage;
beforeAll(async () => {
  stage = openStage();
});
afterAll(async () => {});

/** The period that a command says, as its first time that is not included. */
function saidEnd(stderr: string): string {
  const last = /up to (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)/.exec(stderr)?.[1];
  return last === undefined ? stderr : formatNaive(parseNaive(last) + second);
}

/** What an assistant's question asks the API for. */
async function askedEnd(to: string): Promise<string> {
  const asked: string[] = [];
  const client = createClient({
    baseUrl: 'https://api.example.com',
    auth: apiKeys('test-access', 'test-secret'),
    retry: { attempts: 1 },
    fetch: async (url) => {
      asked.push(new URL(String(url)).searchParams.get('q') ?? '');
      return new Response('', { status: 503 });
    },
  });
  await callTool(createServer(client), 'list_calls', { to });
  await client.close();

  // A range is asked closed: its last second belongs to it.
  const last = /TO (\S+ [\d:]+)\]/.exec(asked[0] ?? '')?.[1] ?? '';
  return formatNaive(parseNaive(last) + 1000);
}

const generated = (to: string): string => JSON.stringify([...generate({ records: 20, to })]);

const job = {
  name: 'ends',
  baseUrl: 'https://api.example.com',
  accounts: [{ id: '101' }],
  into: 'folder:out',
};

describe.each(ends)('the end %s is %s', (typed, end) => {
  test('--to of the terminal', async () => {
    expect(saidEnd((await stage.quick(['count', '--to', typed])).stderr)).toBe(end);
  });
  test('to of an assistant', async () => {
    expect(await askedEnd(typed)).toBe(end);
  });
  test('to of a question', async () => {
    expect((await answerQuestion({ to: typed }, [])).period.to).toBe(end);
  });
  test('until of a job', async () => {
    expect((await checkJob({ ...job, until: typed })).until).toBe(end);
  });
  test('to of generated calls', () => {
    expect(generated(typed)).toBe(generated(end));
  });
});
