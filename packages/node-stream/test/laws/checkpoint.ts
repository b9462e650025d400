import { Tally } from '@call-attribution/test-tools/drill';
import fc from 'fast-check';
import { expect } from 'vitest';
import { type CallStreamOptions, createCallStream } from '../../src/calls/call-stream.ts';
import type { Checkpoint } from '../../src/reader/checkpoint.ts';
import { FakeServer, fakeRecords } from '../fake-server.ts';

const now = () => Date.UTC(2026, 5, 1);

/** Reads `take` records, then stops and gives the checkpoint as it comes back from a file. */
export async function readSome(server: FakeServer, take: number, options: CallStreamOptions) {
  const stream = createCallStream(server, { clock: { now }, ...options });
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
  highWaterMark: fc.constantFrom(1, 16, 256),
};

/** Stops a read at any record and resumes it, over and over: each record comes once, in order. */
export async function resumesAnywhere(numRuns: number, tally = new Tally()): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.record(reading),
      fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 5 }),
      (plan, stops) =>
        tally.run(async () => {
          const { count, ties, ...options } = plan;
          const server = new FakeServer(fakeRecords(count, (i) => (i % 3 === 0 ? ties : 0)));
          const sids: string[] = [];
          let checkpoint: Checkpoint | null = null;
          for (const take of stops) {
            const part = await readSome(server, take, { ...options, checkpoint });
            sids.push(...part.sids);
            checkpoint = part.checkpoint;
            tally.happened('stops');
            expect(checkpoint.delivered).toBe(sids.length);
          }
          const last = await readSome(server, Number.POSITIVE_INFINITY, { ...options, checkpoint });
          tally.compare(
            server.records.map(({ sid }) => sid),
            [...sids, ...last.sids],
          );
          expect([...sids, ...last.sids]).toEqual(server.records.map(({ sid }) => sid));
          expect(last.verdict).toMatchObject({
            total: count,
            delivered: last.sids.length,
            deliveredBefore: sids.length,
            proof: 'whole',
          });
        }),
    ),
    { numRuns },
  );
}
