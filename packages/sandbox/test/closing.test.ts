import { apiKeys, createClient } from '@call-attribution/core';
import { createCallStream } from '@call-attribution/node-stream';
import { type Sandbox, startSandbox } from '@call-attribution/sandbox';
import { createService } from '@call-attribution/service';
import { openStore, type Store } from '@call-attribution/store';
import { describe, expect, test } from 'vitest';

describe('await using', () => {
  test('closes a sandbox, a client and a stream that was left midway', async () => {
    let kept: Sandbox | undefined;
    {
      await using sandbox = await startSandbox({ records: 300 });
      kept = sandbox;
      const [account] = sandbox.accounts;
      await using client = createClient({
        baseUrl: sandbox.url,
        auth: apiKeys(account?.accessKey, account?.secretKey),
      });
      await using calls = createCallStream(client, { filter: 'inc_gce:1' });
      let count = 0;
      for await (const { items } of calls.pages()) {
        count += items.length;
        break;
      }
      expect(count).toBeGreaterThan(0);
      await using unread = createCallStream(client);
      expect(unread.destroyed).toBe(false);
    }
    await expect(fetch(`${kept.url}/healthz`)).rejects.toThrow();
    await kept.close();
  });

  test('an error in the block is the error that arrives, also when the stream failed with it', async () => {
    await using sandbox = await startSandbox({ records: 50 });

    const read = async () => {
      await using client = createClient({ baseUrl: sandbox.url, auth: apiKeys('wrong', 'keys') });
      await using calls = createCallStream(client);
      for await (const call of calls) void call;
    };

    await expect(read()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('closes a service and a store, which may have been closed before', async () => {
    let kept: Store | undefined;
    let url: string | undefined;
    {
      await using store = await openStore('sqlite::memory:');
      await using service = createService({ store });
      ({ url } = await service.listen());
      kept = store;
      await service.close();
    }
    await kept.close();
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    await expect(kept.count('1')).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
