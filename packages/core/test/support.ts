import {
  apiKeys,
  type CallV2,
  type CallV3,
  type Client,
  type ClientOptions,
  createClient,
  fromCall,
} from '@call-attribution/core';
import {
  type FakeApiOptions,
  type FakeApiServer,
  fakeApi,
  fastRetry,
  fixtureCalls,
} from '@call-attribution/core/testing';
import { onTestFinished } from 'vitest';

/** Runs something when the test is over. */
export function afterwards(run: () => unknown): void {
  onTestFinished(async () => {
    await run();
  });
}

/** A hostile server and a client of it, both gone when the test is over. */
export async function serve(
  serverOptions: FakeApiOptions = {},
  clientOptions: Partial<ClientOptions> = {},
): Promise<{ server: FakeApiServer; client: Client }> {
  const server = await fakeApi(serverOptions).listen();
  afterwards(() => server.close());
  const client = createClient({
    baseUrl: server.url,
    legacyBaseUrl: server.url,
    auth: apiKeys('key-one', 'key-two'),
    retry: fastRetry,
    ...clientOptions,
  });
  afterwards(() => client.close());
  return { server, client };
}

/** What a promise is rejected with. */
export async function failure(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('expected a rejection');
}

/** All items of an async iterable. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Fixture calls as a server of a version sends them. */
export function fixtureWireCalls(n: number, version: 'v2', seed?: number): CallV2[];
export function fixtureWireCalls(n: number, version: 'v3', seed?: number): CallV3[];
export function fixtureWireCalls(
  n: number,
  version: 'v2' | 'v3',
  seed?: number,
): (CallV2 | CallV3)[];
export function fixtureWireCalls(n: number, version: 'v2' | 'v3', seed = 1): (CallV2 | CallV3)[] {
  return fixtureCalls(n, seed).map((call) => fromCall(call, version));
}
