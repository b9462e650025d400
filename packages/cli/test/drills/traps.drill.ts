import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeys, bearerToken, type Call, type Client, createClient } from '@call-attribution/core';
import { callTool, createServer, type McpAccount } from '@call-attribution/mcp-server';
import { createService, type Service } from '@call-attribution/service';
import { openStore, type Store } from '@call-attribution/store';
import { callWith } from '@call-attribution/test-tools/call-with';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runQuick } from '../in-process.ts';
import { type Asked, places, type Trap, traps, type Whose } from '../traps.ts';

const drill = openDrill({
  name: 'traps',
  kind: 'random histories',
  what: 'Questions whose bare number misleads, asked in the terminal and over copies of assistants: each says what its number is counted of, and the question beside it says nothing',
});

const zone = 'America/New_York';
// A Thursday at noon.
const now = Date.parse('2026-11-26T17:00:00Z');
const campaigns = ['Harbor Dental | Brand', 'Harbor Dental | Generic', null];

/** Thirty calls a day, but for one Thursday that was lost. */
function* callsOf(account: string, from: string, to: string): Generator<Call> {
  const first = Date.parse(from);
  for (let day = 0; first + day * 86_400_000 <= Date.parse(to); day += 1) {
    const date = new Date(first + day * 86_400_000).toISOString().slice(0, 10);
    for (let i = 0; i < (date === '2026-11-19' ? 1 : 30); i += 1) {
      const hour = String(8 + (i % 10)).padStart(2, '0');
      if (date === '2026-11-26' && Number(hour) >= 12) continue;
      yield callWith({
        sid: `${account} ${date} ${i}`,
        acct_id: account,
        date_added: `${date} ${hour}:${String(i).padStart(2, '0')}:00`,
        ani: `2025550${String((day * 7 + i * 13) % 400).padStart(3, '0')}`,
        state: ['TX', null, 'CA', 'TX', 'TX', 'TX', 'CA', 'CA', 'TX', 'TX'][i % 10],
        ppc_campaign: i === 7 ? 'Harbor Dental | Remarketing' : campaigns[i % 3],
        ppc_campaign_id: '4895108000',
        talk_minutes: i % 6 === 0 ? '0.0' : `${(i % 9) + 1}.5`,
      });
    }
  }
}

const histories = {
  '101': ['2026-09-07', '2026-11-26'],
  '102': ['2026-10-01', '2026-11-26'],
  '103': ['2026-09-07', '2026-11-10'],
} as const;
const keysOf = (id: string) => ({
  accessKey: `access_${id}_key`,
  secretKey: `secret_${id}_key`,
  bearerToken: `bearer_${id}_key`,
});

const folder = mkdtempSync(join(tmpdir(), 'traps-'));
let store: Store;
let service: Service;
let url = '';
const clients: Client[] = [];
const servers = new Map<string, ReturnType<typeof createServer>>();

const idsOf: Readonly<Record<Whose, readonly (keyof typeof histories)[]>> = {
  main: ['101'],
  stopped: ['103'],
  v2: ['101'],
  'two accounts': ['101', '102'],
};
const names = { '101': 'main', '102': 'berlin', '103': 'stopped' };

function clientOf(id: string, isV2: boolean): Client {
  const { accessKey, secretKey, bearerToken: bearer } = keysOf(id);
  const client = createClient(
    isV2
      ? { baseUrl: url, legacyBaseUrl: url, version: 'v2', auth: bearerToken(bearer) }
      : { baseUrl: url, auth: apiKeys(accessKey, secretKey) },
  );
  clients.push(client);
  return client;
}

/** The server of assistants for a copy, which has all calls. */
async function serverOf(whose: Whose, isFile: boolean) {
  const key = `${whose} ${isFile}`;
  const known = servers.get(key);
  if (known !== undefined) return known;
  const accounts = idsOf[whose].map(
    (id): McpAccount => ({
      name: names[id],
      client: clientOf(id, whose === 'v2'),
      timeZone: zone,
      pseudonymKey: 'key',
    }),
  );
  const copyFolder = isFile ? { copyFolder: join(folder, whose) } : {};
  const server = createServer(accounts, { clock: { now: () => now }, ...copyFolder });
  servers.set(key, server);
  await callTool(server, 'analyze_calls', { calls: 'all' });
  return server;
}

const optionNames: Readonly<Record<string, string>> = { group_by: 'by', having: 'fail-if' };

/** A question as it is typed. */
function typed(asked: Asked): string[] {
  const options = Object.entries(asked).flatMap(([name, value]) => [
    `--${optionNames[name] ?? name}`,
    Array.isArray(value) ? value.join(',') : String(value),
  ]);
  const by = asked.group_by === undefined ? ['--by', 'acct_id'] : [];
  return ['report', '--json', '--include-extensions', ...by, ...options];
}

async function answerIn(place: (typeof places)[number], asked: Asked, whose: Whose) {
  if (place !== 'the terminal') {
    const server = await serverOf(whose, place === 'a file copy');
    const { content } = await callTool(server, 'analyze_calls', { calls: 'all', ...asked });
    return content[0]?.text ?? '';
  }

  const [id = '101'] = idsOf[whose];
  const { accessKey, secretKey, bearerToken } = keysOf(id);
  const env = {
    HOME: folder,
    CALLS_TIME_ZONE: zone,
    ...(whose === 'v2'
      ? {
          CALLS_API_VERSION: 'v2',
          CALLS_LEGACY_BASE_URL: url,
          CALLS_BEARER_TOKEN: bearerToken,
        }
      : { CALLS_BASE_URL: url, CALLS_ACCESS_KEY: accessKey, CALLS_SECRET_KEY: secretKey }),
  };
  const args = typed(asked).filter((arg) => whose !== 'v2' || arg !== '--include-extensions');
  const run = await runQuick(args, { env, cwd: folder, now: new Date(now) });
  return run.stderr + run.stdout;
}

beforeAll(async () => {
  store = await openStore('sqlite::memory:');
  for (const [id, [from, to]] of Object.entries(histories)) {
    await store.putAccount({ id, name: `Account ${id}` });
    await store.upsert(id, [...callsOf(id, from, to)]);
  }

  const accounts = Object.keys(histories).map((id) => ({ id, name: id, ...keysOf(id) }));
  service = createService({ store, accounts });
  ({ url } = await service.listen());
}, 120_000);

afterAll(async () => {
  for (const server of servers.values()) await server.close();
  for (const client of clients) await client.close();
  await service.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

/** What is wrong with an answer to a trap, or to the question beside it. */
async function faultsOf(trap: Trap, place: (typeof places)[number]): Promise<string[]> {
  const { ask, says, never, silent, whose = 'main' } = trap;
  const answer = await answerIn(place, ask, whose);
  const quiet = await answerIn(place, silent, whose);
  const faults: string[] = [];
  const about = `${place}, ${JSON.stringify(ask)}`;
  if (!says.test(answer)) faults.push(`${about} does not say ${says}: ${answer}`);
  if (never.test(answer)) faults.push(`${about} says ${never}: ${answer}`);
  if (says.test(quiet)) faults.push(`${place}, ${JSON.stringify(silent)} says ${says}: ${quiet}`);
  return faults;
}

test.each(Object.keys(traps))(
  'what misleads is said, and nothing beside it: %s',
  async (about) => {
    const faults: string[] = [];
    for (const trap of traps[about] ?? [])
      for (const place of trap.at ?? places)
        await drill.run(async () => {
          faults.push(...(await faultsOf(trap, place)));
        });

    expect(faults).toEqual([]);
  },
  300_000,
);
