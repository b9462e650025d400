import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addSpan, type Checkpoint, openSpans } from '../src/checkpoint/checkpoint.ts';
import { createCallByteStream } from '../src/source/call-byte-stream.ts';
import { type CallStreamOptions, createCallStream } from '../src/source/call-stream.ts';
import { type FakeRecord, FakeServer, fakeRecords } from './fake-server.ts';

const numRuns = Number(process.env.CALLS_RUNS ?? 100);
const now = () => Date.UTC(2026, 5, 1);

/** Reads `take` records, then stops and gives the checkpoint as it comes back from a file. */
async function readSome(server: FakeServer, take: number, options: CallStreamOptions) {
  const stream = createCallStream(server, { now, ...options });
  const sids: string[] = [];
  for await (const call of stream) {
    sids.push(call.sid);
    if (sids.length === take) break;
  }
  return {
    sids,
    checkpoint: JSON.parse(JSON.stringify(stream.checkpoint())) as Checkpoint,
    verdict: await stream.verdict,
  };
}

const reading = {
  count: fc.integer({ min: 0, max: 300 }),
  ties: fc.constantFrom(0, 1, 60, 600),
  rows: fc.integer({ min: 1, max: 40 }),
  prefetch: fc.integer({ min: 1, max: 6 }),
  window: fc.constantFrom<CallStreamOptions['window'][]>(undefined, false, { pages: 3 }),
  highWaterMark: fc.constantFrom(1, 16, 256),
};

describe('a checkpoint', () => {
  test('lets a later stream go on behind the last record taken, each record once', {
    timeout: 10_000 + numRuns * 50,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record(reading),
        fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 5 }),
        async (plan, stops) => {
          const { count, ties, window, ...rest } = plan;
          const server = new FakeServer(fakeRecords(count, (i) => (i % 3 === 0 ? ties : 0)));
          const options = { ...rest, ...(window === undefined ? {} : { window }) };
          const sids: string[] = [];
          let checkpoint: Checkpoint | null = null;
          for (const take of stops) {
            const part = await readSome(server, take, { ...options, checkpoint });
            sids.push(...part.sids);
            checkpoint = part.checkpoint;
            expect(checkpoint.delivered).toBe(sids.length);
          }
          const last = await readSome(server, Number.POSITIVE_INFINITY, { ...options, checkpoint });
          expect([...sids, ...last.sids]).toEqual(server.records.map(({ sid }) => sid));
          expect(last.verdict).toMatchObject({
            total: count,
            delivered: last.sids.length,
            deliveredBefore: sids.length,
            complete: true,
          });
        },
      ),
      { numRuns },
    );
  });

  test('loses nothing when the slice it points into has changed: its records come again', async () => {
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

  test('stays small whatever was read', async () => {
    const server = new FakeServer(fakeRecords(5000));
    const { checkpoint } = await readSome(server, 4000, { rows: 50 });
    expect(JSON.stringify(checkpoint).length).toBeLessThan(400);
  });

  test('of a finished read lets nothing come again', async () => {
    const server = new FakeServer(fakeRecords(100));
    const { checkpoint } = await readSome(server, Number.POSITIVE_INFINITY, { rows: 30 });
    const again = await readSome(server, Number.POSITIVE_INFINITY, { rows: 30, checkpoint });
    expect(again.sids).toEqual([]);
    expect(again.verdict).toMatchObject({ total: 100, delivered: 0, deliveredBefore: 100, complete: true });
  });

  test('does not cover records that still lie in the stream', async () => {
    const stream = createCallStream(new FakeServer(fakeRecords(200)), { now, rows: 40 });
    stream.read(0);
    await new Promise((resolve) => stream.once('readable', resolve));
    expect(stream.readableLength).toBeGreaterThan(0);
    expect(stream.checkpoint()).toMatchObject({ done: [], place: null, delivered: 0 });
    stream.destroy();
  });

  test.each([
    ['another filter', { filter: 'talk_minutes:[1 TO *]' }, 'checkpoint_mismatch'],
    ['no checkpoint at all', { checkpoint: {} as Checkpoint }, 'checkpoint_invalid'],
    ['a later version', { checkpoint: { version: 2 } as unknown as Checkpoint }, 'checkpoint_invalid'],
  ])('is refused with %s', async (_, options, code) => {
    const server = new FakeServer(fakeRecords(10));
    const { checkpoint } = await readSome(server, 5, {});
    expect(() => createCallStream(server, { checkpoint, ...options })).toThrow(
      expect.objectContaining({ code }),
    );
  });

  test('fits the same filter written another way', async () => {
    const server = new FakeServer(fakeRecords(10));
    const { checkpoint } = await readSome(server, 5, { filter: 'date_added:[2026-01-01 00:00:00 TO *]' });
    const rest = await readSome(server, 100, {
      filter: ' date_added:[2026-01-01 00:00:00 TO *] ',
      checkpoint,
    });
    expect(rest.sids).toHaveLength(5);
  });
});

describe('the checkpoint of a byte stream', () => {
  test('covers whole pages that were taken', async () => {
    const server = new FakeServer(fakeRecords(200));
    const lines: FakeRecord[] = [];
    const stream = createCallByteStream(server, { now, rows: 40 });
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
      now,
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

  test('join to a sorted set that covers the same points, and leave the others open', () => {
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
      { numRuns },
    );
  });
});
