import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Call } from '@call-attribution/core';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Checkpoint } from '../src/page.ts';
import { type CallStreamOptions, createCallByteStream, createCallStream } from '../src/read.ts';
import type { Progress } from '../src/reading.ts';
import { deliveredOf, describe as inWords } from '../src/verdict.ts';
import { breaking, doubling, type FakeRecord, FakeServer, fakeRecords } from './fake-server.ts';

const records = fakeRecords(500);
const expected = records.map(({ sid }) => sid);
const sidsOf = (calls: readonly unknown[]) => (calls as Call[]).map(({ sid }) => sid);
const options = { rows: 40 };
const read = async (server: FakeServer, more: CallStreamOptions = {}) => {
  const stream = createCallStream(server, { ...options, ...more });
  const sids: string[] = [];
  for await (const { sid } of stream) sids.push(sid);
  return { sids, verdict: stream.verdict() };
};

describe('each way to read gives each call once, in order, and a verdict', () => {
  const ways: Record<string, (stream: ReturnType<typeof createCallStream>) => Promise<string[]>> = {
    'for await': async (stream) => {
      const sids: string[] = [];
      for await (const { sid } of stream) sids.push(sid);
      return sids;
    },
    'pages()': async (stream) => {
      const sids: string[] = [];
      for await (const { items } of stream.pages()) sids.push(...sidsOf(items));
      return sids;
    },
    events: async (stream) => {
      const sids: string[] = [];
      stream.on('data', ({ sid }) => sids.push(sid));
      await once(stream, 'end');
      return sids;
    },
    'toArray()': async (stream) => sidsOf(await stream.toArray()),
    'map()': async (stream) => (await stream.map(({ sid }: Call) => sid).toArray()) as string[],
    pipeline: async (stream) => {
      const sids: string[] = [];

      const write = ({ sid }: Call, _: unknown, done: () => void) => {
        sids.push(sid);
        setImmediate(done);
      };

      await pipeline(stream, new Writable({ objectMode: true, highWaterMark: 3, write }));
      return sids;
    },
    'a web stream': async (stream) => {
      const sids: string[] = [];
      for await (const { sid } of Readable.toWeb(stream) as AsyncIterable<Call>) sids.push(sid);
      return sids;
    },
  };
  test.each(Object.entries(ways))('%s', async (_, way) => {
    const stream = createCallStream(new FakeServer(records), options);
    const closed = once(stream, 'close');
    expect(await way(stream)).toEqual(expected);
    expect(stream.verdict()).toMatchObject({ proof: 'whole', proved: 500, gaps: [] });
    await closed;
  });

  test('lines as the server sent them', async () => {
    const bytes = Buffer.concat(
      await createCallByteStream(new FakeServer(records), options).toArray(),
    );
    expect(bytes.toString()).toBe(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  });
});

describe('requests', () => {
  test.each([
    ['no call', 0],
    ['one call', 1],
    ['one less than a page', 39],
  ])('one reads a list that fits in one page: %s', async (_, count) => {
    const server = new FakeServer(fakeRecords(count));
    expect(await read(server)).toMatchObject({
      verdict: { proof: 'whole', proved: count, notes: [] },
    });
    expect(server.requests).toHaveLength(1);
  });

  test('a full page that says it is all is asked for the next one', async () => {
    const server = new FakeServer(fakeRecords(40));
    expect((await read(server)).verdict.proof).toBe('whole');
    expect(server.requests.map(({ page }) => page)).toEqual([0, 1]);
  });

  test('the first call comes after two, when the next one is on its way', async () => {
    const server = new FakeServer(records);
    for await (const _ of createCallStream(server, { ...options, prefetch: 1 })) break;
    expect(server.requests.length).toBeLessThanOrEqual(3);
  });

  test('ranges are closed, share their borders, and end as the user wrote it', async () => {
    const server = new FakeServer(records);
    const filter = 'date_added:{2026-01-01 00:30:00 TO 2026-01-01 06:00:00},inc_gce:1';
    const { sids } = await read(server, { filter });
    expect(sids).toHaveLength(329);
    const { printFilter } = await import('@call-attribution/query-dsl');
    const asked = server.requests.map((request) => printFilter(request.filter));
    expect(
      asked.every((text) => text.endsWith(',inc_gce:1') || text.startsWith('inc_gce:1,')),
    ).toBe(true);
    const ranges = asked.map(
      (text) => /date_added:([[{])(.*) TO (.*)([\]}])/.exec(text)?.slice(1) ?? [],
    );
    for (const [open, from, to, close] of ranges) {
      expect(open).toBe(from === '2026-01-01 00:30:00' ? '{' : '[');
      expect(close).toBe(to === '2026-01-01 06:00:00' ? '}' : ']');
    }

    // What another range has asked for as well, whether it ends there or is read on from there.
    const isShared = (begin: string): boolean =>
      ranges.some(([, from = '', to = '']) => from < begin && begin <= to);
    const begins = new Set(ranges.map(([, from = '']) => from));
    expect([...begins].filter((begin) => !isShared(begin))).toEqual(['2026-01-01 00:30:00']);
  });

  test('a filter of one second is read', async () => {
    const filter = 'date_added:[2026-01-01 00:30:00 TO 2026-01-01 00:30:00]';
    const { sids, verdict } = await read(new FakeServer(records), { filter });
    expect({ sids, proof: verdict.proof }).toEqual({ sids: ['s0000030'], proof: 'whole' });
  });

  test('timeout, retry and headers go with each, the count at the end included', async () => {
    const server = new FakeServer(records);
    const more = { timeout: { total: 5000 }, retry: { attempts: 2 }, headers: { 'x-a': 'b' } };
    await read(server, more);
    expect(server.requests.some(({ rows }) => rows === 1)).toBe(true);
    for (const request of server.requests) expect(request).toMatchObject(more);
  });

  test('a consumer that is slow causes no more than it needs', async () => {
    const server = new FakeServer(records);
    const pages = createCallStream(server, { ...options, prefetch: 3 }).pages();
    await pages.next();
    await delay(20);
    expect(server.requests.length).toBeLessThanOrEqual(5);
    await pages.return();
  });
});

describe('a checkpoint', () => {
  test.each([1, 40, 77, 200, 499])(
    'after %i calls, nothing is lost and at most a page comes again',
    async (take) => {
      const server = new FakeServer(fakeRecords(500, (i) => (i % 3 === 0 ? 0 : 1)));
      const stream = createCallStream(server, options);
      const sids: string[] = [];
      for await (const { sid } of stream) if (sids.push(sid) === take) break;
      const checkpoint = JSON.parse(JSON.stringify(stream.checkpoint()));
      const rest = await read(server, { checkpoint });
      const all = [...sids, ...rest.sids];
      expect(new Set(all)).toEqual(new Set(server.records.map(({ sid }) => sid)));
      expect(all.length - 500).toBeLessThanOrEqual(40);
      expect(rest.verdict).toMatchObject({ proof: 'whole', proved: 500 });
    },
  );

  test('those of pages fit together exactly', async () => {
    const server = new FakeServer(records);
    let checkpoint: Checkpoint | null = null;
    const sids: string[] = [];
    for (let proof = ''; proof !== 'whole'; ) {
      const stream = createCallStream(server, options);
      for await (const page of stream.pages(checkpoint)) {
        sids.push(...sidsOf(page.items));
        checkpoint = JSON.parse(JSON.stringify(page.checkpoint));
        if (sids.length < 450) break;
      }
      proof = stream.verdict().proof;
    }

    expect(sids).toEqual(expected);
  });

  test('it does not cover what waits in the stream', async () => {
    const stream = createCallStream(new FakeServer(records), options);
    const sids: string[] = [];
    while (sids.length < 90) {
      const call: Call | null = stream.read();
      if (call === null) await once(stream, 'readable');
      else sids.push(call.sid);
    }

    const checkpoint = stream.checkpoint();
    stream.destroy();
    const rest = await read(new FakeServer(records), { checkpoint });
    expect(new Set([...sids, ...rest.sids]).size).toBe(500);
    expect(rest.sids.length).toBeLessThan(500);
  });

  test('it stays small', async () => {
    const stream = createCallStream(new FakeServer(fakeRecords(6000)), { rows: 20 });
    for await (const _ of stream.pages());
    expect(JSON.stringify(stream.checkpoint()).length).toBeLessThan(15_000);
  });

  test('that of a finished read leaves nothing to read, and is counted once more', async () => {
    const server = new FakeServer(records);
    const stream = createCallStream(server, options);
    for await (const _ of stream);
    expect(await read(server, { checkpoint: stream.checkpoint() })).toMatchObject({
      sids: [],
      verdict: { proof: 'whole', proved: 500 },
    });
  });

  test.each([
    [
      'of another filter',
      (checkpoint: Checkpoint) => checkpoint,
      'talk_minutes:[1 TO *]',
      'checkpoint_invalid',
    ],
    [
      'with a digit changed',
      (checkpoint: Checkpoint) => JSON.parse(JSON.stringify(checkpoint).replace('2026', '2025')),
      '',
      'checkpoint_invalid',
    ],
    ['that is none', () => ({ version: 1 }) as never, '', 'checkpoint_invalid'],
    [
      'of a chain',
      (checkpoint: Checkpoint) => ({ ...checkpoint, chain: {} }),
      '',
      'checkpoint_invalid',
    ],
  ])('one %s is refused', async (_, change, filter, code) => {
    const server = new FakeServer(records);
    const { value } = await createCallStream(server, options).pages().next();
    const checkpoint = change((value as { checkpoint: Checkpoint }).checkpoint);
    await expect(read(server, { filter, checkpoint })).rejects.toMatchObject({ code });
  });

  test('it fits the same filter written in another way', async () => {
    const server = new FakeServer(records);
    const stream = createCallStream(server, {
      ...options,
      filter: 'inc_gce:1,talk_minutes:[0 TO *]',
    });
    for await (const _ of stream.pages()) break;
    const again = { filter: 'talk_minutes:[0 TO *],inc_gce:1', checkpoint: stream.checkpoint() };
    await expect(read(server, again)).resolves.toBeDefined();
  });
});

describe('the verdict', () => {
  test('of a stream that nobody reads is that nothing was read', () => {
    const stream = createCallStream(new FakeServer(records), options);
    const gaps = [{ is: 'unread', from: null, to: null }];
    expect(stream.verdict()).toMatchObject({ proof: 'unproven', proved: 0, gaps });
    expect(stream.through().verdict()).toEqual(stream.verdict());
  });

  test('it is a method: whoever awaits it, as one could, is told so', async () => {
    const stream = createCallStream(new FakeServer(records), options);
    // @ts-expect-error it is no promise
    const await1 = async () => await stream.verdict;
    await expect(await1()).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('stream.verdict()'),
    });
  });

  test('before the end it never says whole, and at the end it is final', async () => {
    const server = new FakeServer(records);
    const stream = createCallStream(server, options);
    for await (const { checkpoint } of stream.pages()) {
      expect(checkpoint).toBeDefined();
      expect(stream.verdict().proof).not.toBe('whole');
    }
    expect(stream.verdict()).toMatchObject({ proof: 'whole', proved: 500, gaps: [] });

    // One answer that holds everything, taken and not yet over.
    const small = createCallStream(new FakeServer(records.slice(0, 5)), options);
    for await (const _ of small.pages())
      expect(small.verdict()).toMatchObject({ proof: 'unproven', gaps: [{ why: 'uncounted' }] });
    expect(small.verdict().proof).toBe('whole');
  });

  test.each(['break', 'destroy'])(
    'of a read that is left (%s) says what was not read',
    async (how) => {
      const stream = createCallStream(new FakeServer(records), options);
      for await (const _ of stream.pages()) {
        if (how === 'break') break;
        stream.destroy();
        break;
      }

      const verdict = stream.verdict();
      expect(verdict).toMatchObject({ proof: 'unproven', gaps: [{ is: 'unread' }] });
      expect(inWords(verdict).text).toMatch(
        /^UNPROVEN: \d+ calls; the calls from .* on were not read/,
      );
    },
  );

  test('a call that came into a slice that had been read is a gap with its stretch', async () => {
    const server = new FakeServer(records);
    const stream = createCallStream(server, options);
    for await (const { range } of stream.pages())
      if (range?.from === null)
        server.records.push({ sid: 'late', date_added: '2026-01-01 00:10:00' });

    const verdict = stream.verdict();
    expect(verdict).toMatchObject({
      proof: 'short',
      gaps: [{ is: 'short', why: 'rose', missing: 1 }],
    });
    expect(deliveredOf(verdict)).toBe(500);
  });

  test('calls that were removed do not hide as many that came late elsewhere', async () => {
    const server = new FakeServer(fakeRecords(4000));
    const stream = createCallStream(server, options);
    let pages = 0;
    for await (const _ of stream.pages()) {
      pages += 1;
      if (pages !== 90) continue;
      server.records.splice(5, 1);
      server.records.push({ sid: 'late', date_added: '2026-01-03 00:10:30' });
    }

    expect(stream.verdict().gaps.map(({ why }) => why)).toEqual(['fell', 'rose']);
  });

  test('what is younger than 14 hours is delivered, not counted, and noted', async () => {
    const now = Date.UTC(2026, 0, 1, 20);
    vi.useFakeTimers({ now, toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const server = new FakeServer(fakeRecords(1000));
    const { sids, verdict } = await read(server);
    expect(sids).toHaveLength(1000);
    expect(verdict).toMatchObject({ proof: 'whole', proved: 1000, notes: [{ code: 'young' }] });
    const [note] = verdict.notes;
    expect(
      String(note?.from) <= '2026-01-01 06:00:00' && String(note?.from) > '2026-01-01 05:00:00',
    ).toBe(true);
    expect(inWords(verdict).text).toBe(
      `complete: 1,000 calls, as many as the server counts; recent calls, after ${note?.from}, are included, and more may still be added: read again later`,
    );
  });

  test('a server that does not count at the end leaves it unproven', async () => {
    const server = new FakeServer(records, {
      before: ({ rows }) => {
        if (rows === 1) throw new Error('503');
      },
    });
    expect((await read(server)).verdict).toMatchObject({
      proof: 'unproven',
      gaps: [{ why: 'uncounted' }],
    });
  });
});

describe('a record that cannot be parsed', () => {
  const broken = () => breaking(records, expected[130] ?? '');

  test('it fails the read', async () => {
    await expect(read(broken())).rejects.toThrow('talk_minutes is not a number');
  });

  test('it can be skipped, and the verdict says so, also after a resume', async () => {
    const { sids, verdict } = await read(broken(), { onError: 'skip' });
    expect(sids).toEqual(expected.toSpliced(130, 1));
    expect(verdict).toMatchObject({ proof: 'short', gaps: [{ why: 'unreadable', missing: 1 }] });
    expect(inWords(verdict).text).toContain('1 call between');
    const stream = createCallStream(broken(), { ...options, onError: 'skip' });
    let pages = 0;
    for await (const _ of stream.pages()) if (++pages === 7) break;
    const checkpoint = stream.checkpoint();
    expect((await read(broken(), { checkpoint })).verdict.proof).toBe('short');
  });

  test('a function gets it as it was received', async () => {
    const dead: string[] = [];
    await read(broken(), { onError: ({ bytes }) => dead.push(Buffer.from(bytes).toString()) });
    expect(dead).toEqual([JSON.stringify(records[130])]);
  });
});

test('calls of another account than before are refused, also after a resume', async () => {
  const of = (account: string) => records.map((record) => ({ ...record, acct_id: account }));
  const mixed = new FakeServer([...of('1').slice(0, 300), ...of('2').slice(300)]);
  await expect(read(mixed)).rejects.toMatchObject({ code: 'other_account' });
  const { value } = await createCallStream(new FakeServer(of('1')), options)
    .pages()
    .next();
  const { checkpoint } = value as { checkpoint: Checkpoint };
  await expect(read(new FakeServer(of('2')), { checkpoint })).rejects.toMatchObject({
    code: 'other_account',
  });
});

describe('a server that ignores ranges and tells wrong places', () => {
  const three = fakeRecords(3);

  // It gives the row of each page, whatever was asked for.
  const ignoring = (rowsOf: (page: number) => readonly FakeRecord[], total: number) =>
    new FakeServer(three, {
      after: (_, { page }) => ({ records: rowsOf(page), first: page + 1, total }),
    });

  test.each<[string, FakeServer, string]>([
    [
      'N-N/3 with the right total',
      ignoring((page) => three.slice(page % 3, (page % 3) + 1), 3),
      'range_ignored',
    ],
    ['N-N/3 with the same row', ignoring(() => three.slice(0, 1), 3), 'short: 1 call, 2 missing'],
    ['1-3/ and a huge total', ignoring(() => three, 1_000_000_000), 'range_ignored'],
  ])('%s: it is noticed after a handful of requests', async (_, server, end) => {
    const said = await read(server).then(
      ({ sids, verdict: { proof, gaps } }) =>
        `${proof}: ${sids.length} call, ${gaps[0]?.missing} missing`,
      ({ code }) => code,
    );
    expect(said).toBe(end);
    expect(server.requests.length).toBeLessThanOrEqual(15);
  });

  test.each<[string, number]>([
    ['the right total', 300],
    ['a huge total', 1_000_000_000],
  ])(
    'rows from outside a range with %s are an error after a handful of requests',
    async (_, total) => {
      const days = fakeRecords(300, () => 86_400);
      const server = new FakeServer(days, {
        after: (__, { page }) => ({ records: days.slice(page, page + 1), first: page + 1, total }),
      });
      await expect(read(server)).rejects.toMatchObject({ code: 'range_ignored' });
      expect(server.requests.length).toBeLessThanOrEqual(5);
    },
  );
});

test('a sid that comes twice in a page is delivered once, in its last form, and the verdict names it', async () => {
  const few = fakeRecords(20);
  const stream = createCallStream(doubling(few, 's0000007'), options);
  const calls = await stream.toArray();
  expect(sidsOf(calls)).toEqual(sidsOf(few));
  expect(calls[7]).toMatchObject({ sid: 's0000007', note: 'twice' });
  expect(stream.verdict()).toMatchObject({
    proof: 'short',
    gaps: [{ why: 'doubled', sids: ['s0000007'] }],
  });
});

// Checkpoints of reads of these records, as commit 91200a88 made them.
const kept: Record<
  string,
  { filter: string; hasNoTotal: boolean; given: number; checkpoint: Checkpoint }
> = JSON.parse(
  readFileSync(new URL('fixtures/checkpoints-of-91200a88.json', import.meta.url), 'utf8'),
);

test.each(Object.entries(kept))(
  'a checkpoint of 91200a88 is gone on with: %s',
  async (_, { filter, hasNoTotal, given, checkpoint }) => {
    const whole = await read(new FakeServer(records, { hasNoTotal }), { filter });
    const rest = await read(new FakeServer(records, { hasNoTotal }), { filter, checkpoint });
    expect(rest.sids).toEqual(whole.sids.slice(given));
    const { proof, proved, gaps } = whole.verdict;
    expect(rest.verdict).toMatchObject({ proof, proved, gaps });
  },
);

test('progress tells what is done, and what it throws ends the read', async () => {
  const seen: Progress[] = [];

  const onProgress = (progress: Progress) => {
    seen.push(progress);
    if (progress.done === 500) throw new Error('no terminal');
  };

  const stream = createCallStream(new FakeServer(records), { ...options, onProgress });
  await expect(stream.toArray()).rejects.toThrow('no terminal');
  const verdict = stream.verdict();
  expect(verdict).toMatchObject({ proof: 'unproven', failure: 'no terminal' });
  expect(inWords(verdict).text).toMatch(/^UNPROVEN: \d+ calls; it failed: no terminal; /);
  expect(seen.at(-1)).toMatchObject({ done: 500, total: 500 });
});

test('a stream is read in one way, once', async () => {
  const stream = createCallStream(new FakeServer(records), options);
  await stream.pages().next();
  expect(() => stream[Symbol.asyncIterator]()).toThrow('already being read as pages');
});
