import { apiKeys, type Client, createClient } from '@call-attribution/core';
import { startHostileServer } from '@call-attribution/core/testing';
import { expect, test } from 'vitest';

test('await using closes a client and a server at the end of the block', async () => {
  let kept: Client | undefined;
  let requests = 0;
  {
    await using server = await startHostileServer();
    await using client = createClient({ baseUrl: server.url, auth: apiKeys('a', 'b') });
    kept = client;
    await client.listCalls();
    await client.close();
    requests = server.requests.length;
  }
  expect(requests).toBe(1);
  await expect(kept.listCalls()).rejects.toMatchObject({ code: 'client_closed' });
});
