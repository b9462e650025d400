import { AsyncLocalStorage } from 'node:async_hooks';
import diagnosticsChannel from 'node:diagnostics_channel';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Call } from '@call-attribution/core';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createCallByteStream } from '../src/calls/call-byte-stream.ts';
import { createCallStream } from '../src/calls/call-stream.ts';
import type { DeadRecord } from '../src/calls/options.ts';
import { toNdjson } from '../src/encoders/index.ts';
import { defineOperator } from '../src/operators/index.ts';
import type { Checkpoint } from '../src/reader/checkpoint.ts';
import type { Progress } from '../src/reader/ledger.ts';
import { fileSink } from '../src/sinks/index.ts';
import { memoryState } from '../src/sync/state-stores.ts';
import { syncCalls, syncInto } from '../src/sync/sync.ts';
import { FakeServer, fakeRecords } from './fake-server.ts';
import { memoryStore } from './laws/sync.ts';

const now = () => Date.UTC(2026, 5, 1);
const options = { clock: { now }, rows: 40 };
const records = fakeRecords(500);
const expected = records.map(({ sid }) => sid);
const sidsOf = (calls: readonly unknown[]) => (calls as Call[]).map(({ sid }) => sid);

describe('one source', () => {
  test('it can be read by pages, with a checkpoint after each', async () => {
    const server = new FakeServer(records);
    const stream = createCallStream(server, options);
    const sids: string[] = [];
    for await (const page of stream.pages()) {
      sids.push(...sidsOf(page.records));
      expect(page.count).toBe(page.records.length);
      expect(page.ndjson().toString()).toBe(page.records.map((call) => `${JSON.stringify(call)}\n`).join(''));
      if (sids.length > 200) {
        const rest = await createCallStream(server, { ...options, checkpoint: page.checkpoint }).toArray();
        expect([...sids, ...sidsOf(rest)]).toEqual(expected);
        break;
      }
    }
    expect(stream.destroyed).toBe(true);
  });

  test('its pages can be kept and read later', async () => {
    const stream = createCallStream(new FakeServer(records), options);
    const kept = [];
    for await (const page of stream.pages()) {
      page.ndjson().fill(0);
      kept.push(page);
    }
    const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    expect(kept.map((page) => page.ndjson().toString()).join('')).toBe(lines);
    // The lines are a copy: the records are parsed from the page as it came.
    expect(kept.flatMap((page) => sidsOf(page.records))).toEqual(expected);
    expect(kept.map((page) => page.ndjson().toString()).join('')).toBe(lines);
    expect(await stream.verdict).toMatchObject({ total: 500, delivered: 500, proof: 'whole' });
  });

  test('it gives its verdict when it is read by pages', async () => {
    const stream = createCallStream(new FakeServer(records), options);
    for await (const _ of stream.pages());
    expect(await stream.verdict).toMatchObject({ total: 500, delivered: 500, proof: 'whole' });
  });

  test('it is a web stream', async () => {
    const sids: string[] = [];
    for await (const call of createCallStream(new FakeServer(records), options).toWeb()) sids.push(call.sid);
    expect(sids).toEqual(expected);
  });

  test('its lines come by pages, each with the checkpoint after it', async () => {
    const server = new FakeServer(records);
    const stream = createCallByteStream(server, options);
    const before: string[] = [];
    for await (const { items, checkpoint } of stream.pages()) {
      const lines = Buffer.concat(items).toString().split('\n');
      before.push(...sidsOf(lines.filter((line) => line !== '').map((line) => JSON.parse(line))));
      const rest = await createCallStream(server, { ...options, checkpoint }).toArray();
      expect([...before, ...sidsOf(rest)]).toEqual(expected);
    }
    expect(before).toEqual(expected);
    expect(await stream.verdict).toMatchObject({ delivered: 500, proof: 'whole' });
  });

  test('it reports an error once, to the loop that reads its pages', async () => {
    const uncaught: unknown[] = [];
    const listen = (error: unknown) => uncaught.push(error);
    process.on('uncaughtException', listen);
    const server = new FakeServer(records);
    server.fetchPage = async () => {
      throw new Error('the line is down');
    };
    const read = async () => {
      for await (const _ of createCallStream(server, options).pages());
    };
    await expect(read()).rejects.toThrow('the line is down');
    await new Promise((resolve) => setTimeout(resolve, 10));
    process.off('uncaughtException', listen);
    expect(uncaught).toEqual([]);
  });

  test('it cannot be read in two ways at once', async () => {
    const stream = createCallStream(new FakeServer(records), options);
    stream.read();
    expect(() => stream.pages()).toThrow(/already being read as records/);
    stream.destroy();
  });

  test('its lines are JSON even where the server sends other white space', async () => {
    const server = new FakeServer(records.slice(0, 90));
    const { fetchPage } = server;
    server.fetchPage = async (query) => {
      const page = await fetchPage.call(server, query);
      const parts = page
        .records()
        .map((call) =>
          JSON.stringify({ big: 0, ...call }, null, 1).replace('"big": 0', '"big": 12345678901234567890'),
        );
      const borders: { start: number; end: number }[] = [];
      let text = '[ ';
      for (const part of parts) {
        borders.push({ start: text.length, end: text.length + part.length });
        text += `${part} , `;
      }
      return { ...page, bytes: Buffer.from(`${text} ]`), byteRanges: () => borders };
    };
    const lines = Buffer.concat(await createCallByteStream(server, options).toArray())
      .toString()
      .split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => JSON.parse(line).sid)).toEqual(expected.slice(0, 90));
    expect(lines.every((line) => line.includes('12345678901234567890'))).toBe(true);
  });

  test('an empty list is an empty stream with a complete verdict', async () => {
    const stream = createCallByteStream(new FakeServer([]), options);
    expect(await stream.toArray()).toEqual([]);
    expect(await stream.verdict).toMatchObject({ total: 0, delivered: 0, proof: 'whole' });
  });
});

describe('a record that cannot be parsed', () => {
  const broken = (sid = 's0000120') => {
    const server = new FakeServer(records);
    const { fetchPage } = server;
    server.fetchPage = async (query) => {
      const page = await fetchPage.call(server, query);
      const record = (i: number) => {
        const call = page.record(i);
        if (call.sid === sid) throw new Error('talk_minutes is no number');
        return call;
      };
      return { ...page, record, records: () => Array.from({ length: page.count }, (_, i) => record(i)) };
    };
    return server;
  };

  test('it fails the stream after the records before it', async () => {
    const stream = createCallStream(broken(), options);
    const sids: string[] = [];
    await expect(
      (async () => {
        for await (const { sid } of stream) sids.push(sid);
      })(),
    ).rejects.toThrow('talk_minutes is no number');
    expect(sids).toEqual(expected.slice(0, 120));
  });

  test('it can be skipped, and the verdict says so', async () => {
    const stream = createCallStream(broken(), { ...options, onError: 'skip' });
    expect(await stream.toArray()).toHaveLength(499);
    expect(await stream.verdict).toMatchObject({ total: 500, delivered: 499, skipped: 1, proof: 'short' });
    expect(stream.checkpoint()).toMatchObject({ total: 500, delivered: 499, place: null });
  });

  test('it can be passed on as it was received, with its position', async () => {
    const dead: DeadRecord[] = [];
    const stream = createCallStream(broken(), { ...options, onError: (record) => dead.push(record) });
    expect(await stream.toArray()).toHaveLength(499);
    expect(JSON.parse(Buffer.from(dead[0]?.bytes ?? []).toString())).toEqual(records[120]);
    expect(dead).toMatchObject([{ page: 0, error: { message: 'talk_minutes is no number' } }]);
    expect(await stream.verdict).toMatchObject({ skipped: 1, proof: 'whole' });
    const left = createCallStream(broken(), { ...options, onError: () => 'skip' });
    expect(await left.toArray()).toHaveLength(499);
    expect(await left.verdict).toMatchObject({ skipped: 1, proof: 'short' });
  });

  const failureOf = (work: () => Promise<unknown>): Promise<Error & { checkpoint: Checkpoint }> =>
    work().then(
      () => expect.unreachable(),
      (error) => error,
    );
  const same = () => defineOperator<Call, Call>({ name: 'same', begin: () => ({ take: (calls) => calls }) });
  const chainOf = (server: FakeServer, checkpoint: Checkpoint | null = null) =>
    createCallStream(server, { ...options, checkpoint }).through(same());

  test.each(['s0000120', 's0000121', 's0000133', 's0000159'])(
    '%s fails a chain after the records before it, and the chain goes on with it',
    async (bad) => {
      const at = expected.indexOf(bad);
      const seen: string[] = [];
      const error = await failureOf(async () => {
        for await (const { sid } of chainOf(broken(bad))) seen.push(sid);
      });
      expect(error).toMatchObject({ name: 'StreamError', message: expect.stringContaining('no number') });
      expect(seen).toEqual(expected.slice(0, at));
      // It is still as it was: the same error, and nothing twice.
      const again = await failureOf(async () => {
        for await (const { sid } of chainOf(broken(bad), error.checkpoint)) seen.push(sid);
      });
      expect(seen).toEqual(expected.slice(0, at));
      const rest = await chainOf(new FakeServer(records), again.checkpoint).toArray();
      expect([...seen, ...sidsOf(rest)]).toEqual(expected);
    },
  );

  test('what came before it in its page is given by pages, each with the position after it', async () => {
    const server = broken('s0000133');
    for (const read of [
      () => createCallStream(server, options).pages({ parsed: true }),
      () => chainOf(server).pages(),
    ]) {
      const seen: string[] = [];
      let checkpoint: unknown = null;
      const error = await failureOf(async () => {
        for await (const page of read()) {
          const calls = 'items' in page ? page.items : page.records;
          seen.push(...sidsOf(calls));
          checkpoint = page.checkpoint;
          if (!('records' in page)) continue;
          expect(page.count).toBe(calls.length);
          expect(page.ndjson().toString()).toBe(calls.map((call) => `${JSON.stringify(call)}\n`).join(''));
        }
      });
      expect(seen).toEqual(expected.slice(0, 133));
      expect(JSON.stringify(error.checkpoint)).toBe(JSON.stringify(checkpoint));
    }
  });

  test('a file has the records before it, and goes on after it was mended', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'unparsable-')), 'calls.ndjson');
    onTestFinished(() => rmSync(dirname(path), { recursive: true }));
    const sink = () => fileSink<Call>(path, { encode: toNdjson(), resume: true });
    await failureOf(() => createCallStream(broken('s0000133'), options).into(sink()));
    expect(readFileSync(`${path}.partial`, 'utf8').trimEnd().split('\n')).toHaveLength(133);
    await createCallStream(new FakeServer(records), options).into(sink());
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(sidsOf(lines.map((line) => JSON.parse(line)))).toEqual(expected);
  });

  test('a function that throws ends a chain after the records before it, without those set aside', async () => {
    const server = broken('s0000127');
    const { fetchPage } = server;
    server.fetchPage = async (query) => {
      const page = await fetchPage.call(server, query);
      const record = (i: number) => {
        if (page.record(i).sid === 's0000130') throw new Error('no date');
        return page.record(i);
      };
      return { ...page, record };
    };
    const onError = ({ error }: DeadRecord) => {
      if (error instanceof Error && error.message === 'no date') throw new Error('enough');
    };
    const seen: string[] = [];
    const error = await failureOf(async () => {
      const chain = createCallStream(server, { ...options, onError }).through(same());
      for await (const { sid } of chain) seen.push(sid);
    });
    expect(error.message).toBe('enough');
    const before = [...expected.slice(0, 127), ...expected.slice(128, 130)];
    expect(seen).toEqual(before);
    const rest = await chainOf(new FakeServer(records), error.checkpoint).toArray();
    expect([...seen, ...sidsOf(rest)]).toEqual([...before, ...expected.slice(130)]);
  });

  test('it is left out of pages as well', async () => {
    const stream = createCallStream(broken(), { ...options, onError: 'skip' });
    const sids: string[] = [];
    for await (const page of stream.pages()) sids.push(...sidsOf(page.records));
    expect(sids).toHaveLength(499);
    expect(await stream.verdict).toMatchObject({ delivered: 499, proof: 'short' });
  });
});

describe('progress', () => {
  test('it reports total, done, rate and time left, by the clock given', async () => {
    let time = now();
    const seen: Progress[] = [];
    const clock = () => {
      time += 100;
      return time;
    };
    await createCallStream(new FakeServer(records), {
      ...options,
      clock: { now: clock },
      onProgress: (progress) => seen.push(progress),
    }).toArray();
    expect(seen.map(({ total }) => total)).toEqual(seen.map(() => 500));
    expect(seen.at(-1)).toMatchObject({ done: 500, etaMs: 0, duplicates: 0, rereads: 0, retries: 0 });
    expect(seen[0]?.rate).toBeGreaterThan(0);
    expect(seen[0]?.etaMs).toBeGreaterThan(0);
    expect(seen.map(({ done }) => done)).toEqual([...seen.map(({ done }) => done)].sort((a, b) => a - b));
  });

  test('it continues from an earlier run', async () => {
    const server = new FakeServer(records);
    const first = createCallStream(server, options);
    for await (const { sid } of first) if (sid === 's0000199') break;
    const seen: Progress[] = [];
    const rest = createCallStream(server, {
      ...options,
      checkpoint: first.checkpoint(),
      onProgress: (progress) => seen.push(progress),
    });
    await rest.toArray();
    expect(seen[0]?.done).toBeGreaterThan(200);
    expect(seen.at(-1)).toMatchObject({ done: 500, total: 500 });
  });

  const fail = () => {
    throw new Error('LEAK');
  };
  test.each([
    ['throws', fail],
    ['rejects', async () => fail()],
  ])('a callback that %s ends nothing, and is one warning without its message', async (_, onProgress) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    const stream = createCallStream(new FakeServer(records), { ...options, onProgress });
    expect(sidsOf(await stream.toArray())).toEqual(expected);
    expect(await stream.verdict).toMatchObject({ proof: 'whole' });
    expect(warn.mock.calls).toMatchObject([
      [expect.stringMatching(/^onProgress threw \(Error\)/), { code: 'CALLBACK_THREW' }],
    ]);
    expect(JSON.stringify(warn.mock.calls)).not.toContain('LEAK');
  });
});

describe('tracing channels', () => {
  const path = new AsyncLocalStorage<string>();
  const durationMs = expect.any(Number);

  /** Binds a path of names to each start while something runs, and returns what ended, with the paths of all requests. */
  async function traced(server: FakeServer, run: () => Promise<unknown>) {
    const ended: { name: string; path: string | undefined; context: Record<string, unknown> }[] = [];
    const requests: (string | undefined)[] = [];
    let slices = 0;
    const leave = ['sync', 'stream', 'slice'].map((name) => {
      const { start, asyncEnd } = diagnosticsChannel.tracingChannel(`call-attribution:${name}`);
      start.bindStore(path, () => `${path.getStore() ?? ''}/${name}${name === 'slice' ? slices++ : ''}`);
      const end = (context: unknown) =>
        ended.push({ name, path: path.getStore(), context: context as Record<string, unknown> });
      asyncEnd.subscribe(end);
      return () => [start.unbindStore(path), asyncEnd.unsubscribe(end)];
    });
    server.behaviour.before = () => requests.push(path.getStore());
    try {
      await run();
    } finally {
      for (const each of leave) each();
    }
    return { ended, requests };
  }

  test('requests run within their slices, and slices within their stream, with several at a time', async () => {
    const server = new FakeServer(records);
    const stream = createCallStream(server, { ...options, prefetch: 8 });
    const { ended, requests } = await traced(server, async () => {
      for await (const _ of stream);
    });
    for (const { context } of ended) expect(context.client).toBe(server);
    const delivered = ended.filter(({ context }) => context.outcome === 'delivered');
    expect(delivered.length).toBeGreaterThan(10);
    expect(delivered.reduce((sum, { context }) => sum + Number(context.records), 0)).toBe(500);
    for (const { path } of delivered) {
      expect(path).toMatch(/^\/stream\/slice\d+$/);
      expect(requests).toContain(path);
    }
    // The count at the end belongs to no slice.
    expect(requests.at(-1)).toBe('/stream');
    expect(requests.slice(0, -1).every((each) => /^\/stream\/slice\d+$/.test(each ?? ''))).toBe(true);
    expect(ended.at(-1)).toEqual({
      name: 'stream',
      path: '/stream',
      context: { client: server, isResumed: false, durationMs, verdict: await stream.verdict },
    });
  });

  test('slices end with a stream that fails or is left', async () => {
    const failing = new FakeServer(records, { delay: () => Promise.reject(new Error('broken')) });
    const failed = await traced(failing, () =>
      createCallStream(failing, options)
        .toArray()
        .catch(() => {}),
    );
    expect(failed.ended.map(({ name, context }) => [name, context.outcome, Boolean(context.error)])).toEqual([
      ['slice', 'failed', true],
      ['stream', undefined, true],
    ]);
    const server = new FakeServer(records);
    const left = await traced(server, async () => {
      for await (const _ of createCallStream(server, options)) break;
    });
    expect(left.ended.at(-1)?.context).toMatchObject({ verdict: { proof: 'unproven' } });
    expect(left.ended.map(({ context }) => context.outcome)).toContain('left');
  });

  test('streams run within their sync', async () => {
    const server = new FakeServer(records);
    const { ended } = await traced(server, async () => {
      await syncInto(server, memoryStore(), { clock: { now }, rows: 200 });
      for await (const _ of syncCalls(server, { clock: { now }, rows: 200, state: memoryState() }));
    });
    const outer = ended.filter(({ name }) => name !== 'slice');
    expect(outer.map((each) => each.path)).toEqual(['/sync/stream', '/sync', '/sync/stream', '/sync']);
    expect(outer[1]?.context).toMatchObject({ function: 'syncInto', summary: { new: 500 } });
    expect(outer[3]?.context).toEqual({ client: server, function: 'syncCalls', durationMs });
  });
});

describe('settings that make no sense', () => {
  test.each([
    ['rows', { rows: 0 }],
    ['prefetch', { prefetch: 1.5 }],
    ['prefetch.bytes', { prefetch: { bytes: -1 } }],
  ])('%s is refused by name', (name, wrong) => {
    expect(() => createCallStream(new FakeServer([]), wrong)).toThrow(name);
  });

  test('a filter that does not parse is refused', () => {
    expect(() => createCallStream(new FakeServer([]), { filter: 'date_added:[yesterday TO *]' })).toThrow();
  });
});
