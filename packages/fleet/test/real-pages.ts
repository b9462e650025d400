import { apiKeys, type Call, createClient } from '@call-attribution/core';
import { createMockAgent, fixtureCalls } from '@call-attribution/core/testing';
import { createCallStream, type StreamPage } from '@call-attribution/node-stream';

const baseUrl = 'https://api.example.com';

/** The pages of a stream over these calls, as a worker gets them. */
export async function pagesOf(calls: readonly Call[], rows = 50): Promise<StreamPage[]> {
  const dispatcher = createMockAgent({ baseUrl, calls: [...calls] });
  const client = createClient({ baseUrl, dispatcher, auth: apiKeys('a', 'b') });
  const pages: StreamPage[] = [];
  try {
    for await (const page of createCallStream(client, {
      rows,
      clock: { now: () => Date.UTC(2026, 5, 1) },
    }).pages())
      pages.push(page);
  } finally {
    await client.close();
    await dispatcher.close();
  }
  return pages;
}

/** Calls of one stretch, with the same times for the same seed; `changes` make another reading of them. */
export function callsOf(count: number, seed = 1, changes: Partial<Call> = {}): Call[] {
  return fixtureCalls(count, seed).map((call) => ({ ...call, ...changes }));
}

/** Everything an iterable gives. */
export async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}
