import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { type Call, type CallPage, type ClientReport, ResponseError } from '@call-attribution/core';
import { type Fault, faults, fixtureCalls } from '@call-attribution/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { collect, failure, serve } from './support.ts';

const ids = (calls: readonly Call[]): string[] => calls.map((call) => call.sid);
const all = fixtureCalls(60);

describe('lists', () => {
  test('servers that disagree on the total are an error, not an endless loop', async () => {
    const { client } = await serve({
      calls: fixtureCalls(20),
      faults: (_, i) =>
        faults.range((first, last, total) => `${first}-${last}/${total - (i % 2) * 3}`),
    });
    expect(await failure(collect(client.listCalls({ rows: 3 })))).toMatchObject({
      code: 'list_moved',
    });
  });

  test.each([
    [7, 0],
    [60, 0],
    [61, 0],
    [1000, 0],
    [20, 0],
    [20, 2],
    [20, 3],
  ])('with rows %i from page %i, every call comes once and in order', async (rows, page) => {
    const { client } = await serve({ calls: [...all] });
    expect(ids(await collect(client.listCalls({ rows, page })))).toEqual(
      ids(all.slice(rows * page)),
    );
  });

  test('an awaited list is one page, and leads to the pages after it', async () => {
    const { server, client } = await serve({ calls: [...all] });
    const first = await client.listCalls({ rows: 25 });
    expect([ids(first.records), first.total, first.range?.last]).toEqual([
      ids(all.slice(0, 25)),
      60,
      25,
    ]);
    expect(server.requests).toHaveLength(1);
    const found = ids(first.records);
    let page = first;
    while (page.hasNext()) {
      page = await page.next();
      found.push(...ids(page.records));
    }

    expect(found).toEqual(ids(all));
    expect(await failure(page.next())).toMatchObject({
      code: 'invalid_option',
      hint: 'Check hasNext() before you call next().',
    });
    expect(ids((await first.next()).records)).toEqual(ids(all.slice(25, 50)));
  });

  test('without a total, the last page is the empty one', async () => {
    const { client } = await serve({ calls: fixtureCalls(2), faults: () => ({ range: 'none' }) });
    const page = await client.listCalls({ rows: 2 });
    expect([page.total, page.hasNext()]).toEqual([null, true]);
    const last = await page.next();
    expect([last.records, last.hasNext()]).toEqual([[], false]);
  });

  test('a list that is awaited and iterated requests its first page once', async () => {
    const { server, client } = await serve({ calls: [...all] });
    const list = client.listCalls({ rows: 60 });
    expect((await list).records).toHaveLength(60);
    expect(ids(await collect(list))).toEqual(ids(all));
    expect(server.requests).toHaveLength(1);
    expect(list).toBeInstanceOf(Promise);
  });

  test('a list that was not awaited says so where something of a page is read', async () => {
    const { client } = await serve({ calls: [...all] });
    const list = client.listCalls({ rows: 5 }) as unknown as CallPage & { items: Call[] } & Call[];
    const said =
      /^listCalls\(\) was not awaited, .* Write `const page = await client\.listCalls\(…\)`/;
    expect(() => list.items.map(({ sid }) => sid)).toThrow(said);
    expect(() => list.records).toThrow(said);
    expect(() => list.total).toThrow('no total');
    expect(() => list.hasNext()).toThrow(said);
    expect(() => [...list]).toThrow('no iterator');
  });

  test('awaiting, logging, copying and iterating over a list read none of that', async () => {
    const { client } = await serve({ calls: [...all] });
    const list = client.listCalls({ rows: 60 });
    expect(inspect(list)).toContain('Promise');
    expect(JSON.stringify({ list })).toBe('{"list":{}}');
    expect(Object.keys({ ...list })).toEqual(['pages']);
    const [first, second] = await Promise.all([list, Promise.race([list])]);
    expect(first).toBe(second);
    expect(ids(await collect(Readable.from(list)))).toEqual(ids(all));
  });

  test('a list that nobody reads fails without ending the process', async () => {
    const { server, client } = await serve({}, { retry: { attempts: 1 } });
    server.next({ status: 500 });
    const list = client.listCalls();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await failure(collect(list))).toMatchObject({ code: 'server_error' });
  });

  test('an empty list is one empty page', async () => {
    const { server, client } = await serve({ calls: [] });
    const pages = await collect(client.listCalls().pages());
    expect(pages.map(({ records, range }) => [records, range])).toEqual([
      [[], { first: 0, last: 0, total: 0 }],
    ]);
    expect(server.requests).toHaveLength(1);
  });

  test('a page past the end is empty and has the total', async () => {
    const { client } = await serve({ calls: [...all] });
    expect(await client.listCalls({ rows: 50, page: 9 })).toMatchObject({
      records: [],
      range: { first: 0, last: 0, total: 60 },
    });
  });

  test.each([404, 416])('status %i past the end is an empty page as well', async (status) => {
    const { server, client } = await serve();
    server.next(faults.replace(status, '{}', { 'content-range': '*/20' }));
    expect((await client.listCalls({ rows: 50, page: 9 })).range).toEqual({
      first: 0,
      last: 0,
      total: 20,
    });
  });

  test('reading continues with the real page size of a server that clamps rows', async () => {
    const reports: ClientReport[] = [];
    const { server, client } = await serve(
      { calls: [...all], cap: 25 },
      { onReport: (report) => reports.push(report) },
    );
    expect(ids(await collect(client.listCalls({ rows: 1000 })))).toEqual(ids(all));
    expect(server.requests.map(({ query }) => [query.get('rows'), query.get('start')])).toEqual([
      ['1000', null],
      ['25', '1'],
      ['25', '2'],
    ]);
    expect(reports).toEqual([{ type: 'clamped', requested: 1000, received: 25 }]);
  });

  test('with a server that clamps rows, reading from a later page starts at the right call', async () => {
    const { client } = await serve({ calls: [...all], cap: 7 });
    expect(ids(await collect(client.listCalls({ rows: 20, page: 1 })))).toEqual(ids(all.slice(20)));
  });

  test('a clamped first page says its real size; a later one is refused, because it is another part of the list', async () => {
    const { client } = await serve({ calls: [...all], cap: 25 });
    expect((await client.listCalls({ rows: 50 })).meta.clampedTo).toBe(25);
    for (const method of ['listCalls', 'fetchPage'] as const)
      await expect(client[method]({ rows: 50, page: 1 })).rejects.toMatchObject({
        code: 'wrong_page',
        hint: expect.stringContaining('rows: 25'),
      });
  });

  test('a page that ends past its own total, as with a row that comes twice, is for whoever takes its bytes', async () => {
    const { client } = await serve({
      calls: all.slice(0, 20),
      faults: () => faults.range((first, last, total) => `${first}-${last}/${total - 1}`),
    });
    const page = await client.fetchPage({ rows: 50 });
    expect([page.count, page.range]).toEqual([20, { first: 1, last: 20, total: 19 }]);
    await expect(client.listCalls({ rows: 50 })).rejects.toMatchObject({ code: 'wrong_page' });
  });

  test.each([1, 7, 25, 60, 100])(
    'every call comes once without Content-Range, with rows %i',
    async (rows) => {
      const { client } = await serve({ calls: [...all], faults: () => ({ range: 'none' }) });
      expect(ids(await collect(client.listCalls({ rows })))).toEqual(ids(all));
    },
  );

  test('every call comes from a clamping server without Content-Range', async () => {
    const { client } = await serve({
      calls: [...all],
      cap: 10,
      faults: () => ({ range: 'none' }),
    });
    expect(ids(await collect(client.listCalls({ rows: 100 })))).toEqual(ids(all));
  });

  test('every call comes without a total', async () => {
    const { client } = await serve({
      calls: [...all],
      faults: () => faults.range((first, last) => `${first}-${last}/*`),
    });
    expect(ids(await collect(client.listCalls({ rows: 25 })))).toEqual(ids(all));
  });

  test('calls that appear at the beginning of the list are noticed, and no call comes twice', async () => {
    const reports: ClientReport[] = [];
    const { server, client } = await serve(
      { calls: [...all] },
      { onReport: (report) => reports.push(report) },
    );
    server.next({}, { before: (calls) => void calls.unshift(...fixtureCalls(3, 99)) });
    expect(ids(await collect(client.listCalls({ rows: 20 })))).toEqual(ids(all));
    expect(reports).toEqual([
      { type: 'total_moved', from: 60, to: 63 },
      { type: 'repeated_calls', count: 3 },
    ]);
  });

  test.each([5, 50])('a list that %i calls leave while it is read is an error', async (gone) => {
    const reports: ClientReport[] = [];
    const { server, client } = await serve(
      { calls: [...all] },
      { onReport: (report) => reports.push(report) },
    );
    server.next({}, {}, { before: (calls) => void calls.splice(0, gone) });
    const seen: string[] = [];
    const walk = (async () => {
      for await (const call of client.listCalls({ rows: 5 })) seen.push(call.sid);
    })();
    await expect(walk).rejects.toMatchObject({
      code: 'list_moved',
      summary: `${gone} calls left the list while it was read: calls may have been missed.`,
    });
    expect(seen).toEqual(ids(all.slice(0, 10)));
    expect(reports).toEqual([{ type: 'total_moved', from: 60, to: 60 - gone }]);
  });

  test('a server that stops short of its own total is an error, never a short list', async () => {
    const gone: Fault = faults.replace(404, '{}');
    const { client } = await serve({
      calls: [...all],
      faults: ({ query }) => (query.get('start') === '2' ? gone : undefined),
    });
    const error = await failure(collect(client.listCalls({ rows: 20 })));
    expect(error).toBeInstanceOf(ResponseError);
    expect(error).toMatchObject({ code: 'list_moved' });
  });

  test('a server that always sends the same page is an error', async () => {
    const { client } = await serve({
      calls: [...all],
      faults: () => faults.replace(200, JSON.stringify(all.slice(0, 5))),
    });
    const seen: string[] = [];
    const walk = (async () => {
      for await (const call of client.listCalls({ rows: 5 })) seen.push(call.sid);
    })();
    await expect(walk).rejects.toMatchObject({ code: 'wrong_page' });
    expect(seen).toEqual(ids(all.slice(0, 5)));
  });

  test('a page that keeps failing ends the list with its error, after the pages before it', async () => {
    const { client } = await serve({
      calls: [...all],
      faults: ({ query }) => (query.get('start') === '1' ? { status: 500 } : undefined),
    });
    const seen: string[] = [];
    const error = await failure(
      (async () => {
        for await (const call of client.listCalls({ rows: 20 })) seen.push(call.sid);
      })(),
    );
    expect([seen.length, (error as ResponseError).code]).toEqual([20, 'server_error']);
  });

  test('leaving the loop sends no more requests', async () => {
    const { server, client } = await serve({ calls: [...all] });
    for await (const call of client.listCalls({ rows: 5 })) if (call.sid === all[7]?.sid) break;
    expect(server.requests).toHaveLength(2);
  });

  test('every call comes once and in order, whatever the sizes, clamps and transient faults', async () => {
    const kinds = [
      {},
      { quietCut: 0.5 },
      { status: 503 },
      { range: 'none' },
      { range: 'too-long' },
      { html: true },
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 1, max: 70 }),
        fc.integer({ min: 1, max: 70 }),
        fc.array(fc.nat(kinds.length - 1), { maxLength: 12 }),
        async (count, rows, maxRows, plan) => {
          const calls = all.slice(0, count);
          const { server, client } = await serve({ calls: [...calls], cap: maxRows });
          // No more than three faults in a row, or the retries are used up.
          server.next(...plan.flatMap((kind, i) => (i % 3 === 2 ? [{}] : [kinds[kind] as Fault])));
          expect(ids(await collect(client.listCalls({ rows })))).toEqual(ids(calls));
        },
      ),
      { numRuns: Number(process.env.CALLS_RUNS ?? 40) },
    );
  });
});
