import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCallByteStream } from '../src/calls/call-byte-stream.ts';
import { type CallStreamOptions, createCallStream } from '../src/calls/call-stream.ts';
import type { Checkpoint } from '../src/reader/checkpoint.ts';
import { addSpan, openSpans } from '../src/reader/spans.ts';
import { type FakeRecord, FakeServer, fakeRecords } from './fake-server.ts';
import { readSome, resumesAnywhere } from './laws/checkpoint.ts';

const runs = Number(process.env.CALLS_RUNS ?? 30);
const now = () => Date.UTC(2026, 5, 1);

/** Records with other sids. */
const renamed = (record: FakeRecord): FakeRecord => ({ ...record, sid: `t${record.sid}` });

describe('a checkpoint', () => {
  test('a later stream resumes after the last record taken, and each record comes once', () =>
    resumesAnywhere(runs));

  test('a slice that changed since the checkpoint is read again from its start, so that nothing is lost', async () => {
    const server = new FakeServer(fakeRecords(100));
    const first = await readSome(server, 45, { rows: 30 });
    expect(first.checkpoint.place).not.toBeNull();
    const at = server.records.findIndex(({ sid }) => sid === first.sids.at(-3));
    server.records.splice(at, 1);
    const second = await readSome(server, Number.POSITIVE_INFINITY, {
      rows: 30,
      checkpoint: first.checkpoint,
    });
    expect(new Set([...first.sids, ...second.sids]).size).toBe(100);
    expect(second.verdict.rereads).toBe(1);
  });

  test('it stays small whatever was read', async () => {
    const server = new FakeServer(fakeRecords(5000));
    const { checkpoint } = await readSome(server, 4000, { rows: 50 });
    expect(JSON.stringify(checkpoint).length).toBeLessThan(1_000);
  });

  test('the checkpoint of a finished read leaves nothing to read', async () => {
    const server = new FakeServer(fakeRecords(100));
    const { checkpoint } = await readSome(server, Number.POSITIVE_INFINITY, { rows: 30 });
    const again = await readSome(server, Number.POSITIVE_INFINITY, { rows: 30, checkpoint });
    expect(again.sids).toEqual([]);
    expect(again.verdict).toMatchObject({ total: 100, delivered: 0, deliveredBefore: 100, proof: 'whole' });
  });

  test('it does not cover records that are still in the stream', async () => {
    const stream = createCallStream(new FakeServer(fakeRecords(200)), { clock: { now }, rows: 40 });
    stream.read(0);
    await new Promise((resolve) => stream.once('readable', resolve));
    expect(stream.readableLength).toBeGreaterThan(0);
    expect(stream.checkpoint()).toMatchObject({ done: [], place: null, delivered: 0 });
    stream.destroy();
  });

  test.each([
    ['another filter', { filter: 'talk_minutes:[1 TO *]' }, 'checkpoint_invalid'],
    ['no checkpoint at all', { checkpoint: {} as Checkpoint }, 'checkpoint_invalid'],
    ['a later version', { checkpoint: { version: 2 } as unknown as Checkpoint }, 'checkpoint_invalid'],
  ])('it is refused with %s', async (_, options, code) => {
    const server = new FakeServer(fakeRecords(10));
    const { checkpoint } = await readSome(server, 5, {});
    expect(() => createCallStream(server, { checkpoint, ...options })).toThrow(
      expect.objectContaining({ code }),
    );
  });

  test('it fits the same filter written in another way', async () => {
    const server = new FakeServer(fakeRecords(10));
    const { checkpoint } = await readSome(server, 5, { filter: 'date_added:[2026-01-01 00:00:00 TO *]' });
    const rest = await readSome(server, 100, {
      filter: ' date_added:[2026-01-01 00:00:00 TO *] ',
      checkpoint,
    });
    expect(rest.sids).toHaveLength(5);
  });

  test('a slice that grew since the checkpoint delivers no record again', async () => {
    const server = new FakeServer(fakeRecords(40));
    const first = await readSome(server, 35, { rows: 50 });
    server.records.push(...fakeRecords(200, () => 60, '2026-01-02 00:00:00').map(renamed));
    const second = await readSome(server, Number.POSITIVE_INFINITY, {
      rows: 50,
      checkpoint: first.checkpoint,
    });
    expect([...first.sids, ...second.sids]).toEqual(server.records.map(({ sid }) => sid));
    expect(second.verdict).toMatchObject({ proof: 'whole', delivered: 205, deliveredBefore: 35 });
  });

  test('it remembers that a record was skipped, so that a later run is not complete either', async () => {
    const server = new FakeServer(fakeRecords(100));
    const { fetchPage } = server;
    server.fetchPage = async (query) => {
      const page = await fetchPage.call(server, query);
      const record = (i: number) => {
        const call = page.record(i);
        if (call.sid === 's0000010') throw new Error('talk_minutes is not a number');
        return call;
      };
      return { ...page, record };
    };
    const options: CallStreamOptions = { rows: 30, onError: 'skip', highWaterMark: 1 };
    const before = await readSome(server, 5, options);
    expect(before.checkpoint.skipped).toBeUndefined();
    const first = await readSome(server, 60, options);
    expect(first.checkpoint.skipped).toBe(1);
    const second = await readSome(server, Number.POSITIVE_INFINITY, {
      ...options,
      checkpoint: first.checkpoint,
    });
    expect(second.verdict).toMatchObject({ proof: 'short', delivered: 39, skipped: 1 });
  });

  test('it remembers that the server gave no totals, so that a later run is not complete either', async () => {
    const server = new FakeServer(fakeRecords(100), { hasNoTotal: true });
    const options: CallStreamOptions = { rows: 30, incomplete: 'report' };
    const first = await readSome(server, Number.POSITIVE_INFINITY, options);
    expect(first.verdict.proof).toBe('unproven');
    const again = await readSome(new FakeServer(fakeRecords(100)), Number.POSITIVE_INFINITY, {
      ...options,
      checkpoint: first.checkpoint,
    });
    expect(again.verdict).toMatchObject({ proof: 'unproven', total: null });
  });
});

describe('the checkpoint of a byte stream', () => {
  test('it covers the pages that were taken', async () => {
    const server = new FakeServer(fakeRecords(200));
    const lines: FakeRecord[] = [];
    const stream = createCallByteStream(server, { clock: { now }, rows: 40 });
    for await (const chunk of stream) {
      lines.push(
        ...String(chunk)
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
      );
      if (lines.length > 100) break;
    }
    const { delivered } = stream.checkpoint();
    expect(delivered).toBe(lines.length);
    for await (const chunk of createCallByteStream(server, {
      clock: { now },
      rows: 40,
      checkpoint: stream.checkpoint(),
    })) {
      lines.push(
        ...String(chunk)
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
      );
    }
    expect(lines).toEqual(server.records);
  });
});

describe('intervals', () => {
  const ends = fc.option(fc.integer({ min: 0, max: 20 }));
  const spans = fc.array(
    fc
      .tuple(ends, ends)
      .filter(([from, to]) => from === null || to === null || from < to)
      .map(([from, to]) => ({ from, to })),
  );
  const holds = ({ from, to }: { from: number | null; to: number | null }, point: number) =>
    (from === null || point >= from) && (to === null || point < to);

  test('they join to a sorted set that covers the same points and leaves the others open', () => {
    fc.assert(
      fc.property(spans, fc.integer({ min: -1, max: 21 }), (all, point) => {
        const joined = all.reduce(addSpan, [] as { from: number | null; to: number | null }[]);
        expect(joined.filter((span) => holds(span, point + 0.5)).length).toBe(
          all.some((span) => holds(span, point + 0.5)) ? 1 : 0,
        );
        expect(openSpans(joined).some((span) => holds(span, point + 0.5))).toBe(
          !all.some((span) => holds(span, point + 0.5)),
        );
        expect(joined.slice(1).every((span, i) => (span.from as number) > (joined[i]?.to as number))).toBe(
          true,
        );
      }),
      { numRuns: runs },
    );
  });
});

test('pages begin at a checkpoint that they are given', async () => {
  const server = new FakeServer(fakeRecords(100));
  const options = { clock: { now }, rows: 30 };
  const sids: string[] = [];
  let checkpoint: Checkpoint | null = null;
  for await (const page of createCallStream(server, options).pages()) {
    sids.push(...page.records.map(({ sid }) => sid));
    checkpoint = page.checkpoint;
    if (sids.length > 40) break;
  }
  const rest = createCallStream(server, options);
  for await (const page of rest.pages({ checkpoint })) sids.push(...page.records.map(({ sid }) => sid));
  expect(sids).toEqual(server.records.map(({ sid }) => sid));
  expect(await rest.verdict).toMatchObject({ proof: 'whole', total: 100 });
});
