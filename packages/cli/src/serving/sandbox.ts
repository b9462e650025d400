import { apiKeys, type Client, type Clock, createClient } from '@call-attribution/core';
import { periodEnd } from '@call-attribution/core/time';
import { type Sandbox, type SandboxOptions, startSandbox } from '@call-attribution/sandbox';
import { UsageError } from '../errors.ts';
import type { ProgressLine } from '../terminal/waiting.ts';

/** A client for a sandbox in the same process. */
export interface OwnSandbox {
  readonly client: Client;
  close(): Promise<void>;
}

/** When the generated calls end: at `--to`, which is the text, or now. */
export function endOfSandbox(
  text: string | null,
  clock: Pick<Clock, 'now'>,
): Pick<SandboxOptions, 'to' | 'clock'> {
  if (text === null) return { clock };
  const to = periodEnd(text);
  if (to === null) {
    throw new UsageError(`--to must be a time, not ${JSON.stringify(text)}`, [
      'write it as 2026-11-20 or "2026-11-20 14:30:00"',
    ]);
  }

  return { clock, to };
}

/** Starts a sandbox; a line shows how far it is when there are many calls to make up. */
export async function startShown(
  options: SandboxOptions,
  line: ProgressLine,
  signal: AbortSignal,
): Promise<Sandbox> {
  const from = performance.now();

  const onProgress = (done: number, total: number): void => {
    signal.throwIfAborted();
    const tookMs = performance.now() - from;
    const rate = (1000 * done) / Math.max(1, tookMs);
    // A start that ends within the first second needs no line.
    if (tookMs > 1000) line.update({ done, total, rate, note: '' });
  };

  return startSandbox({ ...options, onProgress }).finally(() => line.close());
}

/** Starts a sandbox and a client for its account. */
export async function openOwnSandbox(
  options: SandboxOptions,
  line: ProgressLine,
  signal: AbortSignal,
): Promise<OwnSandbox> {
  const sandbox = await startShown(options, line, signal);
  const account = sandbox.accounts[0];
  if (!account) throw new Error('the sandbox has no account');
  const client = createClient({
    baseUrl: sandbox.url,
    legacyBaseUrl: sandbox.url,
    auth: apiKeys(account.accessKey, account.secretKey),
    // It runs in this process: a proxy of the environment is not meant for it.
    proxy: false,
  });
  return {
    client,
    async close() {
      await client.close();
      await sandbox.close();
    },
  };
}
