import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { toCsv, toJsonArray } from '../src/encoders/index.ts';
import { createCallByteStream, createCallStream, memoryState, syncCalls } from '../src/index.ts';
import { through } from '../src/operators/index.ts';
import type { Stretches } from '../src/proof.ts';
import { fileSink } from '../src/sinks/index.ts';
import { copyVerdict } from '../src/sync/copy-verdict.ts';
import { breaking, FakeServer, fakeRecords, type PageQuery } from './fake-server.ts';
import { Paged } from './paged.ts';

const options = { rows: 40 };
const sync = { ...options, clock: { now: () => Date.UTC(2026, 5, 1) } };
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
    expect(stream.verdict()).toMatchObject({
      proof: 'unproven',
      gaps: [{ is: 'unread', why: 'unread', missing: null }],
    });
  });

  test('a sync stays where it was, and the next one continues', async () => {
    const abort = new AbortController();
    const state = memoryState();
    const server = new FakeServer(records);
    const sids = new Set<string>();

    const run = async (signal?: AbortSignal) => {
      for await (const { call } of syncCalls(server, {
        ...sync,
        state,
        ...(signal && { signal }),
      })) {
        sids.add(call.sid);
        if (sids.size === 60) abort.abort();
      }
    };

    await expect(run(abort.signal)).rejects.toMatchObject({ name: 'AbortError' });
    const { proof, gaps } = copyVerdict(await state.load()) ?? { proof: null, gaps: [] };
    expect(proof).toBe('unproven');
    expect(gaps.map(({ why }) => why)).toContain('unread');
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
});

describe('a checkpoint', () => {
  test('it is void for a slice that holds fewer records than were taken from it', async () => {
    const server = new FakeServer(fakeRecords(30));
    const stream = createCallStream(server, options);
    let taken = 0;
    for await (const _ of stream) if (++taken === 20) break;
    const late = { sid: 'late', date_added: '2026-01-01 00:03:30' };
    server.records = [...server.records.slice(0, 10), late];
    const checkpoint = stream.checkpoint();
    const rest = await createCallStream(server, { ...options, checkpoint }).toArray();
    expect(rest.map(({ sid }) => sid)).toContain('late');
  });

  test('after a failure it is before the page of the record that failed', async () => {
    const sids: string[] = [];
    const stream = createCallStream(breaking(records, expected[130] ?? ''), options);

    const read = async () => {
      for await (const { sid } of stream) sids.push(sid);
    };

    await expect(read()).rejects.toThrow('talk_minutes is not a number');
    expect(sids).toHaveLength(130);
    const checkpoint = stream.checkpoint();
    const rest = await createCallStream(new FakeServer(records), {
      ...options,
      checkpoint,
    }).toArray();
    const again = 130 + rest.length - 500;
    expect(again).toBeGreaterThanOrEqual(0);
    expect(again).toBeLessThan(options.rows);
    expect([...sids.slice(0, 130 - again), ...rest.map(({ sid }) => sid)]).toEqual(expected);
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
      const { stretches } = stream.checkpoint().read as { stretches: Stretches };
      const covered = stretches.reduce((sum, { calls }) => sum + calls, 0);
      expect(covered).toBeLessThanOrEqual(text.split('\n').length - 1);
    }

    stream.destroy();
  });
});

describe('a file whose first slices were empty', () => {
  const folder = mkdtempSync(join(tmpdir(), 'left-midway-'));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('it gets its header when it is resumed', async () => {
    for (const [name, encode, whole] of [
      ['a.csv', () => toCsv<{ sid: string }>({ columns: ['sid'] }), 'sid\r\na\r\n'],
      ['a.json', () => toJsonArray<{ sid: string }>(), '[\n{"sid":"a"}\n]\n'],
    ] as const) {
      const path = join(folder, name);
      const begun = new Paged<{ sid: string }>((at) => {
        if (begun.given > 0) throw new Error('cut');
        return at === 0 ? { items: [] } : null;
      });
      await expect(through(begun).into(fileSink(path, { encode: encode() }))).rejects.toThrow(
        'cut',
      );
      const sink = fileSink<{ sid: string }>(path, { encode: encode(), resume: true });
      expect(sink.checkpoint).toMatchObject({ version: 1, of: 'pages', read: { at: 0 } });
      await through(new Paged([{ items: [{ sid: 'a' }] }])).into(sink);
      expect(readFileSync(path, 'utf8')).toBe(whole);
    }
  });
});
