import { Tally } from '@call-attribution/test-tools/drill';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Checkpoint } from '../../src/page.ts';
import { createCallStream } from '../../src/read.ts';
import { FakeServer, fakeRecords } from '../fake-server.ts';

const reading = {
  count: fc.integer({ min: 0, max: 300 }),
  ties: fc.constantFrom(0, 1, 60, 600),
  rows: fc.integer({ min: 1, max: 40 }),
  prefetch: fc.integer({ min: 1, max: 6 }),
};

/** Stops a read after any page and resumes it, over and over: each record comes once, in order. */
export async function resumesAnywhere(numRuns: number, tally = new Tally()): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.record(reading),
      fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 5 }),
      ({ count, ties, ...options }, stops) =>
        tally.run(async () => {
          const server = new FakeServer(fakeRecords(count, (i) => (i % 3 === 0 ? ties : 0)));
          const sids: string[] = [];
          let checkpoint: Checkpoint | null = null;
          let proof: string | null = null;
          for (const most of [...stops, Number.POSITIVE_INFINITY]) {
            const stream = createCallStream(server, { ...options, checkpoint });
            let pages = 0;
            for await (const page of stream.pages()) {
              sids.push(...page.items.map(({ sid }) => sid));
              checkpoint = JSON.parse(JSON.stringify(page.checkpoint)) as Checkpoint;
              pages += 1;
              if (pages === most) break;
            }
            tally.happened('stops');
            proof = stream.verdict().proof;
          }

          const all = server.records.map(({ sid }) => sid);
          tally.compare(all, sids);
          expect(sids).toEqual(all);
          expect(proof).toBe('whole');
        }),
    ),
    { numRuns },
  );
}
