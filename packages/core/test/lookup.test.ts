import dns from 'node:dns';
import { apiKeys, createClient } from '@call-attribution/core';
import { fakeApi } from '@call-attribution/core/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { failure } from './support.ts';

const auth = apiKeys('a', 'b');

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a name that hangs in DNS', () => {
  test.each([
    ['connect', 1],
    ['idle', 2],
    ['attempt', 3],
    ['total', 4],
  ])(
    'ends at the %s deadline with a sentence, and close does not wait for it',
    async (deadline, n) => {
      const lookup = vi.spyOn(dns, 'lookup').mockImplementation(() => {});
      const retry = { attempts: 2, baseDelay: 1 };
      const baseUrl = `http://calls${n}.example.com`;
      const client = createClient({ baseUrl, auth, timeout: { [deadline]: 40 }, retry });
      expect(await failure(client.listCalls())).toMatchObject({
        code: 'timeout',
        limit: 'connect',
        isRetryable: deadline !== 'total',
        message: `The address of calls${n}.example.com was not found in time: DNS did not answer. Check the name in the base URL, and the DNS servers and the network of this machine.`,
      });
      await client.close();

      // However often it is tried, it occupies one thread.
      expect(lookup).toHaveBeenCalledTimes(1);
    },
  );

  test('is looked up once for all who wait, and each gets the answer', async () => {
    await using server = await fakeApi().listen();
    const { port } = new URL(server.url);
    let answer: () => void = () => {};
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((...args: unknown[]) => {
      const done = args[2] as (error: null, addresses: dns.LookupAddress[]) => void;
      answer = () => done(null, [{ address: '127.0.0.1', family: 4 }]);
    }) as unknown as typeof dns.lookup);
    await using client = createClient({ baseUrl: `http://once.example.com:${port}`, auth });
    const pages = [client.listCalls(), client.listCalls()];
    await expect.poll(() => lookup.mock.calls.length).toBe(1);
    answer();
    await Promise.all(pages);
    expect(server.requests).toHaveLength(2);
  });
});
