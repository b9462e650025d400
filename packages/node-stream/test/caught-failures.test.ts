import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  memoryState,
  type SyncOutcome,
  type SyncState,
  syncCalls,
  syncInto,
} from '../src/index.ts';
import { createCallByteStream, createCallStream } from '../src/read.ts';
import { breaking, FakeServer, fakeRecords } from './fake-server.ts';

// A failure that the caller has caught must not come a second time as an unhandled rejection: Node
// ends the process for it.

const now = () => Date.UTC(2026, 5, 1);
const options = { rows: 10, prefetch: 4 };
const sync = { ...options, clock: { now } };
let unhandled: unknown[] = [];
let others: NodeJS.UnhandledRejectionListener[] = [];
const note = (reason: unknown) => unhandled.push(reason);

beforeEach(() => {
  unhandled = [];
  others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
  for (const listener of others) process.on('unhandledRejection', listener);
});

/** A server that fails from its third request on, for everything that is in flight. */
function failing(): FakeServer {
  const server = new FakeServer(fakeRecords(200), {
    delay: async () => {
      await new Promise((resolve) => setImmediate(resolve));
    },
    before: ({ page }, { requests }) => {
      if (requests.length > 2 || page > 3)
        throw Object.assign(new Error('503: down'), { code: 'unavailable' });
    },
  });
  return server;
}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

const sink = (commit: () => Promise<SyncOutcome>) => ({
  load: async (): Promise<SyncState | null> => null,
  commit,
});

const readers: Record<string, (server: FakeServer, signal: AbortSignal) => Promise<unknown>> = {
  'for await over a stream': (server, signal) =>
    drain(createCallStream(server, { ...options, signal })),
  'toArray()': (server, signal) => createCallStream(server, { ...options, signal }).toArray(),
  'pages()': async (server, signal) => {
    for await (const page of createCallStream(server, { ...options, signal }).pages())
      void page.items;
  },
  'a byte stream': (server, signal) => drain(createCallByteStream(server, { ...options, signal })),
  syncCalls: (server, signal) =>
    drain(syncCalls(server, { ...sync, signal, state: memoryState() })),
  syncInto: (server, signal) =>
    syncInto(
      server,
      sink(async () => ({ added: 0, changed: 0 })),
      { ...sync, signal },
    ),
};

const faults: Record<string, () => { server: FakeServer; signal: AbortSignal }> = {
  'the server fails': () => ({ server: failing(), signal: new AbortController().signal }),
  'the server fails at once': () => ({
    server: new FakeServer([], {
      before: () => {
        throw new Error('503: down');
      },
    }),
    signal: new AbortController().signal,
  }),
  'it is aborted before': () => ({ server: failing(), signal: AbortSignal.abort() }),
  'it is aborted midway': () => {
    const abort = new AbortController();
    const before = (_: unknown, { requests }: FakeServer) => {
      if (requests.length >= 3) abort.abort();
    };
    return { server: new FakeServer(fakeRecords(200), { before }), signal: abort.signal };
  },
  'a record cannot be parsed': () => ({
    server: breaking(fakeRecords(200), null),
    signal: new AbortController().signal,
  }),
};

const cases = Object.keys(readers).flatMap((reader) =>
  Object.keys(faults).map((fault) => [reader, fault]),
);

test.each(cases)('a caught failure of %s is the only one when %s', async (reader, fault) => {
  const { server, signal } = (faults[fault] as () => { server: FakeServer; signal: AbortSignal })();
  const read = readers[reader] as (server: FakeServer, signal: AbortSignal) => Promise<unknown>;
  const failure = await read(server, signal).then(
    () => null,
    (error: unknown) => error,
  );
  if (reader !== 'a byte stream' || fault !== 'a record cannot be parsed')
    expect(failure).toBeInstanceOf(Error);
  for (let i = 0; i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});

test.each(['pages', 'syncInto', 'syncCalls'])(
  'a caught failure of the consumer of %s is the only one',
  async (kind) => {
    const server = new FakeServer(fakeRecords(200));
    const disk = new Error('no space left on device');

    const full = async () => {
      throw disk;
    };

    const consume = async () => {
      if (kind === 'syncInto') await syncInto(server, sink(full), sync);
      else if (kind === 'pages')
        for await (const _ of createCallStream(server, options).pages()) await full();
      else for await (const _ of syncCalls(server, { ...sync, state: memoryState() })) await full();
    };

    await expect(consume()).rejects.toBe(disk);
    for (let i = 0; i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  },
);
