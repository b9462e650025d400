import { apiKeys, type Call, createClient, createLimiter, fromCall } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { createAnswers, planQuestion } from '@call-attribution/questions';
import { openDrill } from '@call-attribution/test-tools/drill';
import { expect, test } from 'vitest';

const tally = openDrill({
  name: 'linear',
  kind: 'odd records',
  what: 'Pages of unusual JSON, waiters of a limiter and groups of a report are doubled three times; the CPU for each item stays within 1.3 of the first',
});

const repeats = 3;
const most = 1.3;

/** Work on so many items, made ready beforehand. */
type Work = (
  size: number,
) => (() => Promise<unknown> | unknown) | Promise<() => Promise<unknown> | unknown>;

/**
 * The least CPU of some runs for each item: other processes, a collection or a compilation only add
 * to it.
 */
async function costOf(work: Work, size: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < repeats; run += 1) {
    const ready = await work(size);
    const before = process.cpuUsage();
    await ready();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / size);
    tally.add({ runs: 1 });
  }

  return least;
}

/**
 * The first size is large enough for work that outlives a collection of young objects, which
 * smaller ones need not pay for.
 */
async function staysLinear(first: number, work: Work): Promise<void> {
  // Once without counting, so that everything is compiled.
  await costOf(work, first);
  const base = await costOf(work, first);
  for (const size of [2 * first, 4 * first, 8 * first]) {
    let ratio = (await costOf(work, size)) / base;
    // A busy machine is slower at all sizes after a while: then both are measured again.
    for (let again = 0; ratio > most && again < 3; again += 1)
      ratio = (await costOf(work, size)) / (await costOf(work, first));
    expect({ size, ratio: ratio <= most ? 'within 1.3' : ratio }).toEqual({
      size,
      ratio: 'within 1.3',
    });
  }
}

const wire = fixtureCalls(200).map(
  (call) => fromCall(call, 'v3') as unknown as Record<string, unknown>,
);
/** A page of JSON with spaces as the encoder of Python puts them. */
function spaced(records: readonly Record<string, unknown>[]): string {
  const texts = records.map((record) => {
    const entries = Object.entries(record);
    return `{${entries.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(', ')}}`;
  });
  return `[${texts.join(', ')}]`;
}

const pages: Readonly<Record<string, (size: number) => string>> = {
  'tight JSON': (size) => JSON.stringify(recordsOf(size)),
  'spaces after colons': (size) => spaced(recordsOf(size)),
  'numeric sids': (size) =>
    JSON.stringify(recordsOf(size).map((record, at) => ({ ...record, sid: at + 1 }))),
  'missing dates': (size) =>
    JSON.stringify(recordsOf(size).map(({ date_added: _, ...rest }) => rest)),
  'nothing but spaces': (size) =>
    spaced(recordsOf(size).map(({ date_added: _, sid: __, ...rest }) => rest)),
};
const recordsOf = (size: number): Record<string, unknown>[] =>
  Array.from({ length: size }, (_, at) => ({ ...wire[at % wire.length], sid: `s${at}` }));

test.each(Object.keys(pages))(
  'a page of %s',
  async (name) => {
    await staysLinear(250, (size) => {
      const body = Buffer.from(pages[name]?.(size) ?? '');
      const client = createClient({
        baseUrl: 'http://127.0.0.1:9',
        auth: apiKeys('key-one', 'key-two'),
        fetch: async () =>
          new Response(body, {
            headers: { 'content-type': 'application/json', 'content-range': `1-${size}/${size}` },
          }),
      });
      return async () => {
        const page = await client.fetchPage({ rows: size });
        page.items();
        await client.close();
      };
    });
  },
  600_000,
);

test('waiters of a limiter', async () => {
  await staysLinear(64_000, (size) => {
    const limiter = createLimiter({ concurrency: 1 });
    return async () => {
      const waiting = Array.from({ length: size }, () =>
        limiter.acquire().then(() => limiter.release()),
      );
      await Promise.all(waiting);
    };
  });
}, 600_000);

test('waiters of a limiter that are aborted', async () => {
  await staysLinear(16_000, async (size) => {
    const limiter = createLimiter({ concurrency: 1 });
    await limiter.acquire();
    return async () => {
      const controllers = Array.from({ length: size }, () => new AbortController());
      const waiting = controllers.map(({ signal }) => limiter.acquire(signal).catch(() => null));
      for (const controller of controllers) controller.abort();
      await Promise.all(waiting);
      limiter.release();
    };
  });
}, 600_000);

test('a report by keyword and sid', async () => {
  await staysLinear(8_000, (size) => {
    const calls = Array.from(
      { length: size },
      (_, at) =>
        ({ sid: `s${at}`, ppc_keywords: `k${at}`, talk_minutes: '1.0' }) as unknown as Call,
    );
    return () => {
      const answers = createAnswers([
        planQuestion({ groupBy: ['keyword', 'sid'], limit: 1_000_000 }),
      ]);
      for (const call of calls) answers.add(call);
      expect(answers.answers()[0]?.rows).toHaveLength(size);
    };
  });
}, 600_000);
