import { apiKeys, type Client, createClient } from '@call-attribution/core';
import { startSandbox } from '@call-attribution/sandbox';

/** A client for a sandbox in the same process. */
export interface OwnSandbox {
  readonly client: Client;
  close(): Promise<void>;
}

/** Starts a sandbox and a client for its account. */
export async function openOwnSandbox(options: { records: number; seed: number }): Promise<OwnSandbox> {
  const sandbox = await startSandbox(options);
  const account = sandbox.accounts[0];
  if (!account) throw new Error('the sandbox has no account');
  const client = createClient({
    baseUrl: sandbox.url,
    legacyBaseUrl: sandbox.legacyUrl,
    auth: apiKeys(account.accessKey, account.secretKey),
  });
  return {
    client,
    async close() {
      await client.close();
      await sandbox.close();
    },
  };
}
