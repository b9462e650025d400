import { apiKeys, bearerToken, type Client, createClient } from '@call-attribution/core';
import { fastRetry } from '@call-attribution/core/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../src/index.ts';

describe('the client against the faults of a sandbox', () => {
  let sandbox: Sandbox;
  let v3: Client;
  let v2: Client;

  beforeAll(async () => {
    sandbox = await startSandbox({ records: 250, seed: 11 });
    const settings = {
      baseUrl: sandbox.url,
      legacyBaseUrl: sandbox.url,
      retry: fastRetry,
      // So long that only a server that sends nothing meets it, on a busy machine, too.
      timeout: { idle: 2_000 },
    };
    v3 = createClient({
      ...settings,
      version: 'v3',
      auth: apiKeys('test_access_101', 'test_secret_101'),
    });
    v2 = createClient({ ...settings, version: 'v2', auth: bearerToken('test_bearer_101') });
  });
  afterEach(() => sandbox.faults.clear());
  afterAll(async () => {
    await v3.close();
    await v2.close();
    await sandbox.close();
  });

  const sids = async (client: Client) => {
    const all: string[] = [];
    for await (const call of client.listCalls({ filter: 'talk_minutes:[0 TO *]', rows: 60 }))
      all.push(call.sid);
    return all;
  };

  test.each([
    'status=429, retry-after=0, times=2',
    'status=500, times=2',
    'status=503, every=2, times=2',
    'reset, times=2',
    'cut, times=2',
    'cut=0, times=1',
    'stall=0.3, times=1',
    'html, times=1',
    'latency=30ms',
    'clamp=25',
  ])('every call arrives once despite "%s"', async (fault) => {
    const whole = await sids(v2);
    expect(whole).toHaveLength(250);
    sandbox.faults.set('*', fault);
    expect(await sids(v2)).toEqual(whole);
  });

  test.each(['object', 'number', 'text', 'array', 'header'])(
    'a count in the shape "%s" is read',
    async (shape) => {
      sandbox.faults.set('*', `count=${shape}`);
      expect((await v2.countCalls()).total).toBe(250);
    },
  );

  test.each(['object', 'array'])('a single record as %s is read', async (shape) => {
    const { records } = await v3.listCalls({ rows: 1 });
    sandbox.faults.set('*', `single=${shape}`);
    expect(await v3.getCall(records[0]?.sid as string)).toEqual(records[0]);
  });

  test('SMS numbers arrive despite a cut', async () => {
    sandbox.faults.set('*', 'cut, on=sms, times=1');
    expect(await v3.listSmsNumbers()).toHaveLength(3);
  });
});
