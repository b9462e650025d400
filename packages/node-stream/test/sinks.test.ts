import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gunzipSync } from 'node:zlib';
import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toCsv, toGzip, toJsonArray, toNdjson, toParquet } from '../src/encoders/index.ts';
import {
  aggregate,
  count,
  defineOperator,
  type Measure,
  mapCalls,
  through,
} from '../src/operators/index.ts';
import type { Checkpoint } from '../src/page.ts';
import { createCallStream } from '../src/read.ts';
import {
  type ChainBatch,
  type Encoding,
  type FileSink,
  fileSink,
  storeSink,
} from '../src/sinks/index.ts';
import { FakeServer, fakeRecords } from './fake-server.ts';
import { Paged, pagesOf } from './paged.ts';
import { parseCsv } from './parse-csv.ts';

type Item = (typeof calls)[0];
const calls = fixtureCalls(30, 5);

/** Three pages of ten calls; fails with the page of call `failAt`. */
const pages = (failAt = Number.POSITIVE_INFINITY): Paged<Item> =>
  new Paged((at) => {
    if (at + 10 > failAt) throw new Error('the source broke');
    return at < calls.length ? { items: calls.slice(at, at + 10) } : null;
  });

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sinks-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});
const file = (name: string) => join(folder, name);
const sids = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).sid);
const allSids = calls.map(({ sid }) => sid);

/** Writes pages of calls, up to the one of call `failAt`. */
const run = (sink: FileSink<Item>, failAt?: number) => through(pages(failAt)).into(sink);
const cutAt = (failAt: number, sink: FileSink<Item>) =>
  expect(run(sink, failAt)).rejects.toThrow('the source broke');

describe('fileSink', () => {
  it('shows the file under its name only when it is complete, and leaves no other file', async () => {
    const path = file('calls.ndjson');
    writeFileSync(path, 'the earlier file');
    const seen: string[] = [];
    const watch = mapCalls((item: Item) => {
      seen.push(readFileSync(path, 'utf8').slice(0, 16));
      return item;
    });
    const sink = fileSink<Item>(path, { encode: toNdjson() });
    expect(await through(pages(), watch).into(sink)).toMatchObject({ written: 30 });
    expect(new Set(seen)).toEqual(new Set(['the earlier file']));
    expect(sids(readFileSync(path, 'utf8'))).toEqual(allSids);
    expect(readdirSync(folder)).toEqual(['calls.ndjson']);
  });

  it('keeps metadata with the checkpoint and gives it back to the run that resumes', async () => {
    const path = file('calls.ndjson');
    const begun = { filter: 'talk_minutes:[2 TO *]', columns: ['sid'] };
    const first = fileSink<Item>(path, { encode: toNdjson(), metadata: begun });
    expect(first.metadata).toEqual(begun);
    await cutAt(15, first);
    const second = fileSink<Item>(path, {
      encode: toNdjson(),
      resume: true,
      metadata: { filter: 'other' },
    });
    expect(second.metadata).toEqual(begun);
    expect(second.checkpoint?.read).toEqual({ at: 10 });
    await run(second);
    expect(sids(readFileSync(path, 'utf8'))).toEqual(allSids);
    expect(
      fileSink<Item>(file('other.ndjson'), { encode: toNdjson(), resume: true }).metadata,
    ).toBe(null);
  });

  it('ends a pipeline that begins with a stream of calls', async () => {
    const stream = createCallStream(new FakeServer(fakeRecords(250)), { rows: 40 });
    const path = file('calls.csv') as 'calls.csv';
    await pipeline(stream, fileSink<Call>(path));
    const [head, ...rows] = parseCsv(readFileSync(path, 'utf8'));
    const at = head?.indexOf('sid') ?? -1;
    expect(rows.map((row) => row[at])).toEqual(fakeRecords(250).map(({ sid }) => sid));
    expect(stream.verdict()).toMatchObject({ proof: 'whole', proved: 250 });
    expect(readdirSync(folder)).toEqual(['calls.csv']);
  });

  it('takes bytes and strings as they are without encoders', async () => {
    const bytes = toCsv({ columns: ['sid'] })(calls);
    await pipeline(bytes, fileSink<Uint8Array>(file('a.csv'), { encode: [] }));
    expect(parseCsv(readFileSync(file('a.csv'), 'utf8')).length).toBe(31);
    await through(['one\n', 'zwö\n']).into(fileSink<string>(file('b.txt'), { encode: [] }));
    expect(readFileSync(file('b.txt'), 'utf8')).toBe('one\nzwö\n');
  });

  const ofCsv = (text: string) =>
    parseCsv(text)
      .slice(1)
      .map(([sid]) => sid);

  const ofJson = (text: string) => JSON.parse(text).map(({ sid }: Item) => sid);
  const named: [string, (bytes: Buffer) => unknown[]][] = [
    ['csv', (bytes) => ofCsv(bytes.toString())],
    ['csv.gz', (bytes) => ofCsv(gunzipSync(bytes).toString())],
    ['ndjson', (bytes) => sids(bytes.toString())],
    ['NDJSON.GZ', (bytes) => sids(gunzipSync(bytes).toString())],
    ['json', (bytes) => ofJson(bytes.toString())],
  ];
  it.each(named)('encodes as its name says: .%s', async (ending, read) => {
    const path = file(`calls.${ending}`) as 'calls.csv';
    await pipeline(Readable.from(calls), fileSink<Item>(path));
    expect(read(readFileSync(path))).toEqual(allSids);
    await through(pages()).into(fileSink<Item>(path));
    expect(read(readFileSync(path))).toEqual(allSids);
  });

  it.each(['calls', 'calls.txt', 'calls.parquet.gz', 'calls.gz', 'csv'])(
    'refuses a name that does not say how: %s',
    (name) => {
      expect(() => fileSink(name as 'a.csv')).toThrow(
        `${name} does not say how it is encoded. Name it .csv, .ndjson, .json or .parquet`,
      );
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it('refuses bytes that it would encode again', async () => {
    const twice = through(pages(), toCsv()).into(fileSink(file('a.csv') as 'a.csv'));
    await expect(twice).rejects.toThrow('remove the encoder before it');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('removes what it began when the source fails before the first page ends, and keeps the earlier file', async () => {
    const path = file('calls.csv');
    writeFileSync(path, 'earlier');
    await cutAt(5, fileSink<Item>(path, { encode: toCsv() }));
    expect(readdirSync(folder)).toEqual(['calls.csv']);
    expect(readFileSync(path, 'utf8')).toBe('earlier');
  });

  const formats: [string, () => Encoding<Item>, (bytes: Buffer) => unknown[]][] = [
    ['NDJSON', () => toNdjson(), (bytes) => sids(bytes.toString())],
    ['NDJSON, gzip', () => [toNdjson(), toGzip()], (bytes) => sids(gunzipSync(bytes).toString())],
    ['JSON array', () => toJsonArray(), (bytes) => ofJson(bytes.toString())],
    ['CSV', () => toCsv({ columns: ['sid'], bom: true }), (bytes) => ofCsv(bytes.toString())],
    [
      'CSV, gzip',
      () => [toCsv({ columns: ['sid'] }), toGzip()],
      (bytes) => ofCsv(gunzipSync(bytes).toString()),
    ],
  ];
  describe.each(formats)('%s', (_, encode, read) => {
    it.each([0, 3, 10, 17, 29])(
      'resumes after a failure before record %i, with each record once',
      async (failAt) => {
        const path = file('calls');
        const first = fileSink<Item>(path, { encode: encode(), resume: true });
        expect(first.checkpoint).toBe(null);
        await cutAt(failAt, first);
        expect(existsSync(path)).toBe(false);
        const second = fileSink<Item>(path, { encode: encode(), resume: true });
        const pages = Math.floor(failAt / 10);
        if (pages === 0) expect(second.checkpoint).toBe(null);
        // Where saving takes long, not every position is saved.
        else expect([10, 10 * pages]).toContain(Reflect.get(Object(second.checkpoint?.read), 'at'));

        await run(second);
        expect(read(readFileSync(path))).toEqual(allSids);
        expect(readdirSync(folder)).toEqual(['calls']);
      },
    );
  });

  it('cuts off what was written after the last position', async () => {
    const path = file('calls.ndjson');
    await cutAt(17, fileSink<Item>(path, { encode: toNdjson() }));
    appendFileSync(`${path}.partial`, 'half a line that no position cov');
    await run(fileSink<Item>(path, { encode: toNdjson(), resume: true }));
    expect(sids(readFileSync(path, 'utf8'))).toEqual(allSids);
  });

  it('replaces an unfinished file without resume', async () => {
    const path = file('calls.ndjson');
    await cutAt(25, fileSink<Item>(path, { encode: toNdjson() }));
    expect(readdirSync(folder)).toEqual(['calls.ndjson.checkpoint', 'calls.ndjson.partial']);
    await run(fileSink<Item>(path, { encode: toNdjson() }));
    expect(sids(readFileSync(path, 'utf8'))).toEqual(allSids);
    expect(readdirSync(folder)).toEqual(['calls.ndjson']);
  });

  it('refuses to resume Parquet and says what to use instead', () => {
    expect(() => fileSink<Item>(file('a.parquet'), { encode: toParquet(), resume: true })).toThrow(
      /a Parquet file cannot be continued in its middle/,
    );
  });

  it('an abort while a page is written leaves no file that looks complete', async () => {
    const path = file('calls.ndjson');
    const abort = new AbortController();
    const stopping = mapCalls((item: Item) => {
      if (item === calls[15]) setImmediate(() => abort.abort(new Error('stopped')));
      return item;
    });
    const source = Object.assign(pages(), { signal: abort.signal });
    const write = through(source, stopping).into(async (chain) => {
      const sink = fileSink<Item>(path, { encode: toNdjson(), resume: true });
      const slowly = mapCalls(async (item: Item) => item);
      return sink(through(chain, slowly));
    });
    await expect(write).rejects.toThrow('stopped');
    expect(existsSync(path)).toBe(false);
    const slow = through(
      Object.assign(pages(), { signal: AbortSignal.abort(new Error('stopped')) }),
    );
    await expect(slow.into(fileSink<Item>(path, { encode: toNdjson() }))).rejects.toThrow(
      'stopped',
    );
    expect(readdirSync(folder)).toEqual(['calls.ndjson.checkpoint', 'calls.ndjson.partial']);
  });
});

describe('a file that is resumed', () => {
  const changes: [string, Encoding<Item>][] = [
    ['other columns', toCsv({ columns: ['sid', 'ani'] })],
    ['another encoder', toNdjson()],
    ['one encoder more', [toCsv({ columns: ['sid'] }), toGzip()]],
    ['a mark at its begin', toCsv({ columns: ['sid'], bom: true })],
  ];
  it.each(changes)('refuses %s', async (_, encode) => {
    const path = file('a.csv');
    await cutAt(15, fileSink<Item>(path, { encode: toCsv({ columns: ['sid'] }) }));
    const sink = fileSink<Item>(path, { encode, resume: true });
    await expect(run(sink)).rejects.toThrow(/belongs to another chain/);
    const again = fileSink<Item>(path, { encode: toCsv({ columns: ['sid'] }), resume: true });
    expect((await run(again)).written).toBe(30);
  });

  it('refuses a checkpoint that was cut, or has any digit changed', async () => {
    const path = file('a.ndjson');
    await cutAt(15, fileSink<Item>(path, { encode: toNdjson() }));
    const state = readFileSync(`${path}.checkpoint`, 'utf8');
    const changed = [...state.matchAll(/\d/g)].map(
      ({ index }) =>
        state.slice(0, index) + ((Number(state[index]) + 1) % 10) + state.slice(index + 1),
    );
    for (const wrong of [state.slice(0, 20), '{}', ...changed]) {
      writeFileSync(`${path}.checkpoint`, wrong);
      const resumed = () => fileSink<Item>(path, { encode: toNdjson(), resume: true });
      expect(resumed).toThrow(/Remove both to start over/);
    }
  });

  it('refuses to give its name to a file that was put in its place', async () => {
    const path = file('a.ndjson');
    const replacing = mapCalls((item: Item) => {
      if (item === calls[25]) {
        rmSync(`${path}.partial`);
        writeFileSync(`${path}.partial`, 'planted');
      }
      return item;
    });
    const sink = fileSink<Item>(path, { encode: toNdjson() });
    await expect(through(pages(), replacing).into(sink)).rejects.toThrow(
      /was replaced while it was written/,
    );
    expect(existsSync(path)).toBe(false);
  });

  it('says before it reads that a source without positions cannot be resumed', async () => {
    let read = 0;

    const source = function* () {
      read += 1;
      yield calls[0] as Item;
    };

    const sink = fileSink<Item>(file('a.ndjson'), { encode: toNdjson(), resume: true });
    await expect(sink(source())).rejects.toThrow(/cannot be resumed: its source has no positions/);
    expect(read).toBe(0);
  });
});

describe('storeSink', () => {
  /**
   * Keeps rows and a position as JSON, as a database does; `left` transactions until it is killed.
   */
  function store() {
    let kept = 'null';
    const rows: unknown[] = [];
    const state = {
      rows,
      left: Number.POSITIVE_INFINITY,
      sizes: [] as number[],
      load: (): Checkpoint | null => JSON.parse(kept),
      commit({ items, checkpoint }: ChainBatch<unknown>) {
        if (state.left === 0) throw new Error('killed');
        state.left -= 1;
        state.sizes.push(items.length);
        for (const item of items) rows.push(item);
        kept = JSON.stringify(checkpoint);
      },
    };
    return state;
  }

  it('stores each item once, however often it is killed between two transactions, and reads nothing after the end', async () => {
    const lastAgain = defineOperator<Item, Item>({
      name: 'last again',
      gives: 'other',
      begin(state) {
        let last = state as Item | null;
        return {
          page(items) {
            last = items.at(-1) ?? last;
            return items;
          },
          end: () => (last === null ? [] : [last]),
          save: () => last,
        };
      },
    });
    const mine = store();
    const into = (source: Paged<Item>) => through(source, lastAgain).into(storeSink(mine));
    for (let i = 0; i < 50; i += 1) {
      mine.left = 1 + (i % 3);
      await into(pagesOf(calls, 3)).catch(() => {});
    }

    expect(mine.rows.map((row) => (row as Item).sid)).toEqual([...allSids, allSids.at(-1)]);
    const source = pagesOf(calls, 3);
    expect(await into(source)).toEqual({ written: 0, proof: null, verdict: null });
    expect(source.given).toBe(0);
  });

  it('takes hundreds of thousands of rows that come at the end', async () => {
    type Row = { readonly key: number };
    const rows = Array.from({ length: 200_000 }, (_, key): Row => ({ key }));
    const groups = aggregate<{ n: Measure<number, Row> }, 'key', Row>({
      by: ['key'],
      measures: { n: count() },
    });
    const mine = store();
    expect((await through(pagesOf(rows, 20_000), groups).into(storeSink(mine))).written).toBe(
      200_000,
    );
    expect(mine.rows).toHaveLength(200_000);
  });

  it('says before it reads that a chain cannot be saved', async () => {
    await expect(storeSink(store())([1, 2])).rejects.toThrow(
      /cannot be resumed: its source has no positions/,
    );
  });
});
