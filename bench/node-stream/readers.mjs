// One function per way of reading all records: ours, the raw loop, and the named peers as their
// documentation uses them. Each gives every record (or every chunk of bytes) to `take`.
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { apiKeys, createClient } from '@call-attribution/core';
import { createCallByteStream, createCallStream } from '@call-attribution/node-stream';
import { request } from 'undici';

const rows = Number(process.env.BENCH_ROWS ?? 1000);

const lastOf = (range) => {
  const [, last, total] = /-(\d+)\/(\d+)$/.exec(range) ?? [0, 0, 0];
  return { last: Number(last), total: Number(total) };
};
const address = (url, start) => `${url}/v3/user/bid-management?rows=${rows}&start=${start}`;

/** What everyone writes first: undici, text, JSON.parse. */
async function rawPage(url, start) {
  const { headers, body } = await request(address(url, start));
  return { records: JSON.parse(await body.text()), ...lastOf(headers['content-range']) };
}

async function fetchPage(url, start) {
  const response = await fetch(address(url, start));
  return { records: await response.json(), ...lastOf(response.headers.get('content-range')) };
}

const client = (url) =>
  createClient({ baseUrl: url, auth: apiKeys('bench', 'bench'), compress: false });

async function ours(url, options, read) {
  const api = client(url);
  try {
    return await read(api, { rows, ...options });
  } finally {
    await api.close();
  }
}

export const readers = {
  async raw({ url, take }) {
    for (let start = 0, more = true; more; start += 1) {
      const page = await rawPage(url, start);
      for (const record of page.records) take(record);
      more = page.last < page.total;
    }
  },
  'ours: for await': ({ url, take, prefetch }) =>
    ours(url, { prefetch }, async (api, options) => {
      for await (const record of createCallStream(api, options)) take(record);
    }),
  'ours: pipeline': ({ url, take, prefetch }) =>
    ours(url, { prefetch }, (api, options) =>
      pipeline(
        createCallStream(api, options),
        new Writable({
          objectMode: true,
          highWaterMark: 256,
          write(record, _, done) {
            take(record);
            done();
          },
        }),
      ),
    ),
  'ours: pages': ({ url, take, prefetch }) =>
    ours(url, { prefetch }, async (api, options) => {
      for await (const page of createCallStream(api, options).pages())
        for (const record of page.items) take(record);
    }),
  'ours: pages of lines': ({ url, take, prefetch }) =>
    ours(url, { prefetch }, async (api, options) => {
      let lines = 0;
      for await (const { items } of createCallByteStream(api, options).pages())
        for (const bytes of items)
          for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines += 1;
      for (; lines > 0; lines -= 1) take({ sid: 'x' });
    }),
  'ours: bytes': ({ url, take, prefetch }) =>
    ours(url, { prefetch }, async (api, options) => {
      let lines = 0;
      for await (const bytes of createCallByteStream(api, options)) {
        for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines += 1;
      }
      for (; lines > 0; lines -= 1) take({ sid: 'x' });
    }),
  async 'naive generator (fetch)'({ url, take }) {
    async function* records() {
      for (let start = 0, more = true; more; start += 1) {
        const page = await fetchPage(url, start);
        yield* page.records;
        more = page.last < page.total;
      }
    }
    for await (const record of records()) take(record);
  },
  async 'got.paginate'({ url, take }) {
    const { got } = await import('got');
    const pages = got.paginate(address(url, 0), {
      responseType: 'json',
      pagination: {
        requestLimit: Number.POSITIVE_INFINITY,
        transform: ({ body }) => body,
        paginate({ response }) {
          const { last, total } = lastOf(response.headers['content-range']);
          return last < total ? { url: new URL(address(url, last / rows)) } : false;
        },
      },
    });
    for await (const record of pages) take(record);
  },
  async octokit({ url, take }) {
    const { Octokit } = await import('@octokit/core');
    const { paginateRest } = await import('@octokit/plugin-paginate-rest');
    const api = new (Octokit.plugin(paginateRest))({ baseUrl: url });
    for await (const { data } of api.paginate.iterator('GET /v3/user/bid-management', {
      rows,
      start: 0,
    })) {
      for (const record of data) take(record);
    }
  },
  async '@google-cloud/paginator'({ url, take }) {
    const { paginator } = await import('@google-cloud/paginator');
    class Calls {
      getCalls(query, callback) {
        rawPage(url, query.start ?? 0).then(
          ({ records, last, total }) =>
            callback(null, records, last < total ? { start: last / rows } : null),
          callback,
        );
      }
    }

    paginator.extend(Calls, ['getCalls']);
    const stream = paginator.streamify('getCalls').call(new Calls(), {});
    for await (const record of stream) take(record);
  },
  async 'p-map (pMapIterable)'({ url, take, prefetch }) {
    const { pMapIterable } = await import('p-map');
    const { total } = await rawPage(url, 0);
    const starts = Array.from({ length: Math.ceil(total / rows) }, (_, start) => start);
    for await (const page of pMapIterable(starts, (start) => rawPage(url, start), {
      concurrency: prefetch,
    })) {
      for (const record of page.records) take(record);
    }
  },
  async 'streaming-iterables'({ url, take, prefetch }) {
    const { flatten, map, parallelMap, pipeline: chain } = await import('streaming-iterables');
    const { total } = await rawPage(url, 0);
    const starts = Array.from({ length: Math.ceil(total / rows) }, (_, start) => start);
    const records = chain(
      () => starts,
      parallelMap(prefetch, (start) => rawPage(url, start)),
      map((page) => page.records),
      flatten,
    );
    for await (const record of records) take(record);
  },
  async RxJS({ url, take, prefetch }) {
    const { from, mergeMap, range } = await import('rxjs');
    const { total } = await rawPage(url, 0);
    const pages = range(0, Math.ceil(total / rows)).pipe(
      mergeMap((start) => rawPage(url, start), prefetch),
      mergeMap((page) => from(page.records)),
    );
    await pages.forEach(take);
  },
  async Effect({ url, take, prefetch }) {
    const { Effect, Stream } = await import('effect');
    const { total } = await rawPage(url, 0);
    const pages = Stream.range(0, Math.ceil(total / rows) - 1).pipe(
      Stream.mapEffect((start) => Effect.promise(() => rawPage(url, start)), {
        concurrency: prefetch,
      }),
      Stream.map((page) => page.records),
      Stream.flattenIterable,
      Stream.runForEach((record) => Effect.sync(() => take(record))),
    );
    await Effect.runPromise(pages);
  },
};
