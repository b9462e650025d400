import { apiKeys, bearerToken, type Call, type Client, createClient } from '@call-attribution/core';
import {
  createCallByteStream,
  createCallStream,
  type SyncState,
  syncInto,
} from '@call-attribution/node-stream';
import { type Sandbox, startSandbox } from '@call-attribution/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// The whole way of a record: generated, stored, served over HTTP, and read back in slices.
let sandbox: Sandbox;
const clients: Client[] = [];

beforeAll(async () => {
  sandbox = await startSandbox({ records: 3000 });
});

afterAll(async () => {
  for (const client of clients) await client.close();
  await sandbox.close();
});

function clientOf(version: 'v2' | 'v3'): Client {
  const [account] = sandbox.accounts;
  const auth =
    version === 'v2'
      ? bearerToken(account?.bearerToken ?? '')
      : apiKeys(account?.accessKey ?? '', account?.secretKey ?? '');
  const client = createClient({
    baseUrl: sandbox.url,
    version,
    auth,
    retry: { attempts: 8, baseDelay: 1, maxDelay: 5 },
  });
  clients.push(client);
  return client;
}

describe.each(['v2', 'v3'] as const)('%s read as a stream', (version) => {
  const filter = version === 'v3' ? 'inc_gce:1' : '';

  test('returns each call of the account exactly once, as many as the count says', async () => {
    const client = clientOf(version);
    const stream = createCallStream(client, { filter, rows: 200, prefetch: 4 });
    const sids = (await stream.toArray()).map((call: Call) => call.sid);
    const { total } = await client.countCalls({ filter });
    expect(total).toBe(3000);
    expect(new Set(sids).size).toBe(total);
    expect(stream.verdict()).toMatchObject({ proof: 'whole', proved: total, gaps: [] });
  });

  test('returns the same calls as bytes, despite every fault that a request can recover from', async () => {
    const client = clientOf(version);
    const faults =
      'status=503, every=7; cut=0.5, every=11; reset, every=13; clamp=90, every=5; status=429, retry-after=0, every=17';
    sandbox.faults.set('*', faults);
    try {
      const stream = createCallByteStream(client, { filter, rows: 200, prefetch: 4 });
      const lines = Buffer.concat(await stream.toArray())
        .toString()
        .trimEnd()
        .split('\n');
      expect(new Set(lines.map((line) => JSON.parse(line).sid)).size).toBe(3000);
      expect(lines).toHaveLength(3000);
      expect(stream.verdict().proof).toBe('whole');
    } finally {
      sandbox.faults.clear();
    }
  });
});

describe('a copy kept by sync', () => {
  test('equals the server after each round of a changing account', async () => {
    const moving = await startSandbox({ records: 400, days: 4 });
    const [account] = moving.accounts;
    const client = createClient({
      baseUrl: moving.url,
      version: 'v3',
      auth: apiKeys(account?.accessKey ?? '', account?.secretKey ?? ''),
    });
    const copy = new Map<string, Call>();
    let state: SyncState | null = null;
    const sink = {
      load: async () => state,
      async commit(batch: { calls: readonly Call[]; state: SyncState }) {
        state = batch.state;
        for (const call of batch.calls) copy.set(call.sid, call);
        return { added: 0, changed: 0 };
      },
    };
    try {
      for (const hours of [0, 0.5, 1.5]) {
        await moving.advance(hours * 3_600_000);
        await syncInto(client, sink, { filter: 'inc_gce:1', rows: 100 });
        const { records } = await client.listCalls({ filter: 'inc_gce:1', rows: 1000 });
        const { total } = await client.countCalls({ filter: 'inc_gce:1' });
        expect(copy.size).toBe(total);
        expect(records.map(({ sid }) => copy.get(sid))).toEqual(records);
      }
    } finally {
      await client.close();
      await moving.close();
    }
  });
});
