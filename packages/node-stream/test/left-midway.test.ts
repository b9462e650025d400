import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { toCsv, toJsonArray } from '../src/encoders/index.ts';
import { createCallByteStream, createCallStream, memoryState, syncCalls } from '../src/index.ts';
import { through } from '../src/operators/index.ts';
import { fileSink } from '../src/sinks/index.ts';
import { FakeServer, fakeRecords, type PageQuery } from './fake-server.ts';
import { Paged } from './paged.ts';

const options = { rows: 40 };
const records = fakeRecords(500);
const expected = records.map(({ sid }) => sid);

/** A promise that only the end of a request settles, as for a server that is silent. */
const silent = ({ signal }: PageQuery, seen: string[]) =>
  new Promise<void>((_, reject) => {
    signal.addEventListener('abort', () => {
      seen.push('aborted');
      reject(signal.reason);
    });
  });

describe('a read that is cancelled between two pages', () => {
  test.each(['signal', 'destroy'])('it does not count as finished (%s)', async (how) => {
    const abort = new AbortController();
    const stream = createCallStream(new FakeServer(records), { ...options, signal: abort.signal });
    stream.on('error', () => {});
    const read = async () => {
      for await (const _ of stream.pages()) {
        if (how === 'signal') abort.abort();
        else stream.destroy();
      }
    };
    await expect(read()).rejects.toMatchObject({ name: 'AbortError' });
    expect(await stream.verdict).toMatchObject({
      proof: 'unproven',
      gaps: expect.arrayContaining([expect.objectContaining({ is: 'unread' })]),
    });
  });

  test('a sync stays where it was, and the next one continues', async () => {
    const abort = new AbortController();
    const state = memoryState();
    const server = new FakeServer(records);
    const sids = new Set<string>();
    const run = async (signal?: AbortSignal) => {
      for await (const { call } of syncCalls(server, { ...options, state, ...(signal && { signal }) })) {
        sids.add(call.sid);
        if (sids.size === 60) abort.abort();
      }
    };
    await expect(run(abort.signal)).rejects.toMatchObject({ name: 'AbortError' });
    const stopped = (await state.load())?.parts[0]?.stretches ?? [];
    expect(stopped.reduce((sum, { calls }) => sum + calls, 0)).toBeGreaterThan(0);
    expect(stopped.reduce((sum, { calls }) => sum + calls, 0)).toBeLessThan(500);
    await run();
    expect([...sids].sort()).toEqual(expected);
  });
});

describe('a reader that leaves while a request is in flight', () => {
  test('return of the iterator of pages ends the request', async () => {
    const seen: string[] = [];
    const server = new FakeServer(records, { delay: (request) => silent(request, seen) });
    const pages = createCallStream(server, options).pages();
    const next = pages.next();
    const left = pages.return();
    await expect(next).rejects.toMatchObject({ name: 'AbortError' });
    await left;
    expect(seen).toEqual(['aborted']);
  });

  test('cancel of a web stream ends the request', async () => {
    const seen: string[] = [];
    let reached = () => {};
    const asked = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const server = new FakeServer(records, {
      delay: (request) => {
        reached();
        return silent(request, seen);
      },
    });
    const reader = Readable.toWeb(createCallStream(server, options)).getReader();
    const read = reader.read();
    await asked;
    await Promise.allSettled([reader.cancel(), read]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toEqual(['aborted']);
  });
});

describe('a checkpoint', () => {
  /** What was taken and what a resumed read gives are all records, of which less than two pages come twice. */
  const together = (taken: readonly string[], rest: readonly string[], all = expected): void => {
    expect([...new Set([...taken, ...rest])]).toEqual(all);
    expect(taken.length + rest.length - all.length).toBeLessThan(2 * options.rows);
  };
  const restOf = async (server: FakeServer, checkpoint: ReturnType<typeof createCallStream>['startsAt']) =>
    (await createCallStream(server, { ...options, checkpoint }).toArray()).map(({ sid }) => sid);

  test.each(['refused', 'inclusive'] as const)(
    'it resumes after the last whole page although the server has } %s',
    async (exclusive) => {
      const server = new FakeServer(
        fakeRecords(200, (i) => (i % 3 === 0 ? 0 : 1)),
        { exclusive },
      );
      for (const take of [10, 56, 79, 125, 190]) {
        const stream = createCallStream(server, options);
        const sids: string[] = [];
        for await (const call of stream) if (sids.push(call.sid) === take) break;
        together(
          sids,
          await restOf(server, stream.checkpoint()),
          server.records.map(({ sid }) => sid),
        );
      }
    },
  );

  test('after a failure it is before the page that failed', async () => {
    const server = new FakeServer(records);
    const fetchPage = server.fetchPage.bind(server);
    server.fetchPage = async (query) => {
      const page = await fetchPage(query);
      const record = (i: number) => {
        const call = page.record(i);
        if (call.sid === expected[130]) throw new Error('broken on the way');
        return call;
      };
      return { ...page, record };
    };
    const sids: string[] = [];
    const stream = createCallStream(server, options);
    const read = async () => {
      for await (const { sid } of stream) sids.push(sid);
    };
    await expect(read()).rejects.toThrow('broken on the way');
    expect(sids.length).toBeLessThanOrEqual(130);
    together(sids, await restOf(new FakeServer(records), stream.checkpoint()));
  });

  test('it does not cover what is in the queue of a web stream', async () => {
    const stream = createCallStream(new FakeServer(records), options);
    const reader = Readable.toWeb(stream, { strategy: { highWaterMark: 0 } }).getReader();
    const sids: string[] = [];
    for (let i = 0; i < 10; i += 1) sids.push((await reader.read()).value?.sid ?? '');
    await new Promise((resolve) => setImmediate(resolve));
    const checkpoint = stream.checkpoint();
    await reader.cancel();
    together(sids, await restOf(new FakeServer(records), checkpoint));
  });

  test('it does not cover lines in the buffer of a byte stream with an encoding', async () => {
    const wide = records.map((record) => ({ ...record, note: '美'.repeat(400) }));
    const stream = createCallByteStream(new FakeServer(wide), { ...options, rows: 20 });
    stream.setEncoding('utf8');
    let text = '';
    while (text.length < 50_000) {
      const piece: unknown = stream.read(500);
      if (typeof piece === 'string') text += piece;
      else await new Promise((resolve) => setImmediate(resolve));
    }
    const checkpoint = stream.checkpoint();
    stream.destroy();
    const taken = text
      .split('\n')
      .slice(0, -1)
      .map((line): string => JSON.parse(line).sid);
    expect([...new Set([...taken, ...(await restOf(new FakeServer(wide), checkpoint))])]).toEqual(expected);
  });
});

describe('a file whose first slices were empty', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'left-midway-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test.each([
    ['a.csv', () => toCsv<{ sid: string }>({ columns: ['sid'] }), 'sid\r\na\r\n'],
    ['a.json', () => toJsonArray<{ sid: string }>(), '[\n{"sid":"a"}\n]\n'],
  ])('%s gets its head when it is resumed', async (name, encode, whole) => {
    const path = join(folder, name);
    let asked = 0;
    const cut = new Paged<{ sid: string }>(() => {
      asked += 1;
      if (asked > 1) throw new Error('cut');
      return { items: [] };
    });
    await expect(through(cut).into(fileSink(path, { encode: encode(), resume: true }))).rejects.toThrow(
      'cut',
    );
    await through(new Paged([{ items: [{ sid: 'a' }] }])).into(
      fileSink(path, { encode: encode(), resume: true }),
    );
    expect(readFileSync(path, 'utf8')).toBe(whole);
  });
});
