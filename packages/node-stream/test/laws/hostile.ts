import { apiKeys, type Call, createClient } from '@call-attribution/core';
import {
  type FakeApiServer,
  type Fault,
  fakeApi,
  fixtureCalls,
} from '@call-attribution/core/testing';
import { Tally } from '@call-attribution/test-tools/drill';
import fc from 'fast-check';
import { expect } from 'vitest';
import { createCallByteStream, createCallStream } from '../../src/read.ts';

const whims: Record<string, () => Fault> = {
  none: () => ({}),
  busy: () => ({ status: 429, retryAfter: '0' }),
  broken: () => ({ status: 503 }),
  cut: () => ({ cut: 0.6 }),
  cutQuietly: () => ({ quietCut: 0.7 }),
  html: () => ({ html: true }),
  reset: () => ({ reset: true }),
  gzip: () => ({ encoding: 'gzip' }),
  br: () => ({ encoding: 'br' }),
  wrongPage: () => ({ range: 'other-page' }),
  rangeTooLong: () => ({ range: 'too-long' }),
  brokenUtf8: () => ({ brokenUtf8: true }),
};

/** A client of a hostile server that is patient, but not slow. */
export function hostileClient(server: FakeApiServer, attempts = 14) {
  const client = createClient({
    baseUrl: server.url,
    auth: apiKeys('key', 'secret'),
    retry: { attempts, baseDelay: 1, maxDelay: 3 },
    timeout: { attempt: 5000 },
  });
  return client;
}

/**
 * Reads from a server that fails, lies, returns fewer rows and moves its records, over real
 * sockets: each record once.
 */
export async function readsHostileServers(numRuns: number, tally = new Tally()): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        count: fc.integer({ min: 0, max: 250 }),
        rows: fc.integer({ min: 8, max: 60 }),
        maxRows: fc.option(fc.integer({ min: 8, max: 40 }), { nil: undefined }),
        prefetch: fc.integer({ min: 1, max: 8 }),
        asBytes: fc.boolean(),
        version: fc.constant('v3'),
        script: fc.array(
          fc.record({
            whim: fc.constantFrom(...Object.keys(whims)),
            move: fc.constantFrom('none', 'none', 'insert', 'remove', 'swap'),
            at: fc.nat(300),
          }),
          { maxLength: 40 },
        ),
      }),
      ({ count, rows, maxRows, prefetch, asBytes, script }) =>
        tally.run(async () => {
          const calls = fixtureCalls(count);
          const must = new Set(calls.map(({ sid }) => sid));
          const may = new Set(must);
          const extra = fixtureCalls(50, 2);
          const server = await fakeApi({
            calls,
            ...(maxRows === undefined ? {} : { cap: maxRows }),
            faults: (_, index) => {
              const { whim, move, at } = script[index % (script.length + 20)] ?? {
                whim: 'none',
                move: 'none',
                at: 0,
              };
              if (whim !== 'none') tally.happened('faults');
              return {
                ...(whims[whim] as () => Fault)(),
                before(served) {
                  if ((move === 'remove' || move === 'swap') && served.length > 0) {
                    must.delete((served.splice(at % served.length, 1)[0] as Call).sid);
                  }

                  const fresh = move === 'insert' || move === 'swap' ? extra.pop() : undefined;
                  if (fresh === undefined) return;
                  may.add(fresh.sid);
                  served.splice(at % (served.length + 1), 0, fresh);
                },
              };
            },
          }).listen();
          const client = hostileClient(server);
          const sids: string[] = [];
          const options = { rows, prefetch };
          if (asBytes) {
            const text = (await createCallByteStream(client, options).toArray())
              .map(String)
              .join('');
            sids.push(
              ...text
                .split('\n')
                .filter(Boolean)
                .map((line) => JSON.parse(line).sid),
            );
          } else {
            for await (const { sid } of createCallStream(client, options)) sids.push(sid);
          }

          await client.close();
          await server.close();
          tally.compare(must, sids, may);
          expect(new Set(sids).size).toBe(sids.length);
          expect([...must].filter((sid) => !sids.includes(sid))).toEqual([]);
          expect(sids.filter((sid) => !may.has(sid))).toEqual([]);
        }),
    ),
    { numRuns },
  );
}
