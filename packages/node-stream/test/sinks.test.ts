import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gunzipSync } from 'node:zlib';
import { fixtureCalls } from '@call-attribution/core/testing';
import { parquetReadObjects } from 'hyparquet';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toCsv, toGzip, toJsonArray, toNdjson, toParquet } from '../src/encoders/index.ts';
import { type Checkpoint, CheckpointError } from '../src/index.ts';
import { mapCalls, through } from '../src/operators/index.ts';
import { type Encoding, type FileSink, fileSink } from '../src/sinks/index.ts';
import { After, paged } from './paged.ts';
import { parseCsv } from './parse-csv.ts';

type Item = (typeof calls)[0];
const calls = fixtureCalls(30, 5);
const day = (n: number) => `2024-01-${String(n + 1).padStart(2, '0')} 00:00:00`;

/** The checkpoint after so many slices. */
const place = (slices: number): Checkpoint => ({
  version: 1,
  query: 'test',
  done: [[day(0), day(slices)]],
  place: null,
  total: slices * 10,
  delivered: slices * 10,
  settled: { before: day(20), stretches: [[day(20), slices * 10]] },
});

/** Three slices of ten calls, from the one a checkpoint names; fails before item `failAt` of the whole. */
function* slices(from: Checkpoint | null = null, failAt = Number.POSITIVE_INFINITY): Generator<Item | After> {
  const begin = (from?.total ?? 0) / 10;
  for (let slice = begin; slice < 3; slice += 1) {
    for (let i = slice * 10; i < slice * 10 + 10; i += 1) {
      if (i === failAt) throw new Error('the source broke');
      yield calls[i] as Item;
    }
    yield new After({ to: day(slice + 1), checkpoint: place(slice + 1) });
  }
}

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

/** Writes a source with pages into a sink. */
const run = <T>(source: Iterable<T | After>, sink: FileSink<T>) => through(paged(source)).into(sink);

/** Writes what comes before record `n`, and breaks. */
async function cutAt(n: number, sink: FileSink<Item>): Promise<void> {
  await run(slices(null, n), sink).catch(() => {});
}

describe('fileSink', () => {
  it('shows the file under its name only when it is complete, and leaves no other file', async () => {
    const path = file('calls.ndjson');
    writeFileSync(path, 'the earlier file');
    const seen: string[] = [];
    const watch = function* () {
      for (const item of slices()) {
        seen.push(readFileSync(path, 'utf8').slice(0, 16));
        yield item;
      }
    };
    const sink = fileSink<Item>(path, { encode: toNdjson() });
    const { bytes, written, path: named } = await run(watch(), sink);
    expect(new Set(seen)).toEqual(new Set(['the earlier file']));
    expect(sids(readFileSync(path, 'utf8'))).toEqual(allSids);
    expect({ bytes, written, named }).toEqual({ bytes: readFileSync(path).length, written: 30, named: path });
    expect(readdirSync(folder)).toEqual(['calls.ndjson']);
  });

  it('keeps metadata with the checkpoint and gives it back to the run that resumes', async () => {
    const path = file('calls.ndjson');
    const begun = { filter: 'talk_minutes:[2 TO *]', columns: ['sid'] };
    const first = fileSink<Item>(path, { encode: toNdjson(), metadata: begun });
    expect(first.metadata).toEqual(begun);
    await cutAt(15, first);
    const second = fileSink<Item>(path, { encode: toNdjson(), resume: true, metadata: { filter: 'other' } });
    expect(second.metadata).toEqual(begun);
    expect(second.checkpoint).toMatchObject(place(1));
    await run(slices(second.checkpoint), second);
    expect(sids(readFileSync(path, 'utf8'))).toEqual(allSids);
    expect(fileSink(file('other.ndjson'), { resume: true }).metadata).toBe(null);
  });

  it('takes bytes and strings of any source without an encoder', async () => {
    await pipeline(Readable.from(calls), toCsv(), fileSink(file('a.csv')));
    expect(parseCsv(readFileSync(file('a.csv'), 'utf8')).length).toBe(31);
    await run<string>(['one\n', 'zwö\n'], fileSink(file('b.txt')));
    expect(readFileSync(file('b.txt'), 'utf8')).toBe('one\nzwö\n');
  });

  it('removes what it began when the source fails before the first page ends, and keeps the earlier file', async () => {
    const path = file('calls.csv');
    writeFileSync(path, 'earlier');
    await expect(run(slices(null, 5), fileSink<Item>(path, { encode: toCsv() }))).rejects.toThrow(
      'the source broke',
    );
    expect(readdirSync(folder)).toEqual(['calls.csv']);
    expect(readFileSync(path, 'utf8')).toBe('earlier');
  });

  const formats: [string, () => Encoding<Item>, (bytes: Buffer) => unknown[]][] = [
    ['NDJSON', () => toNdjson(), (bytes) => sids(bytes.toString())],
    ['NDJSON, gzip', () => [toNdjson(), toGzip()], (bytes) => sids(gunzipSync(bytes).toString())],
    ['JSON array', () => toJsonArray(), (bytes) => JSON.parse(bytes.toString()).map(({ sid }: Item) => sid)],
    [
      'CSV',
      () => toCsv({ columns: ['sid'], bom: true, chunkBytes: 7 }),
      (bytes) => {
        const [header, ...lines] = parseCsv(bytes.toString());
        expect(header).toEqual(['\uFEFFsid']);
        return lines.map(([sid]) => sid);
      },
    ],
    [
      'CSV, gzip',
      () => [toCsv({ columns: ['sid'] }), toGzip({ level: 1 })],
      (bytes) => parseCsv(gunzipSync(bytes).toString()).slice(1).flat(),
    ],
  ];
  describe.each(formats)('%s', (_, encode, read) => {
    it.each([0, 3, 10, 17, 29])(
      'resumes after a failure before record %i, with each record once',
      async (failAt) => {
        const path = file('calls');
        const first = fileSink<Item>(path, { encode: encode(), resume: true });
        expect(first.checkpoint).toBe(null);
        await expect(run(slices(null, failAt), first)).rejects.toThrow('the source broke');
        expect(existsSync(path)).toBe(false);
        const second = fileSink<Item>(path, { encode: encode(), resume: true });
        const pages = Math.floor(failAt / 10);
        if (pages === 0) expect(second.checkpoint).toBe(null);
        // Where saving takes long, not every position is saved.
        else expect([10, 10 * pages]).toContain(second.checkpoint?.total);
        await run(slices(second.checkpoint), second);
        expect(read(readFileSync(path))).toEqual(allSids);
        expect(readdirSync(folder)).toEqual(['calls']);
      },
    );
  });

  it('cuts off what was written after the last position', async () => {
    const path = file('calls.ndjson');
    await cutAt(17, fileSink<Item>(path, { encode: toNdjson({ chunkBytes: 1 }) }));
    expect(sids(readFileSync(`${path}.partial`, 'utf8')).length).toBe(17);
    const sink = fileSink<Item>(path, { encode: toNdjson(), resume: true });
    expect(sink.checkpoint).toMatchObject(place(1));
    await run(slices(sink.checkpoint), sink);
    expect(sids(readFileSync(path, 'utf8'))).toEqual(allSids);
  });

  it('replaces an unfinished file without resume', async () => {
    const path = file('calls.ndjson');
    await cutAt(25, fileSink<Item>(path, { encode: toNdjson() }));
    expect(readdirSync(folder)).toEqual(['calls.ndjson.checkpoint', 'calls.ndjson.partial']);
    await run(slices(), fileSink<Item>(path, { encode: toNdjson() }));
    expect(sids(readFileSync(path, 'utf8'))).toEqual(allSids);
    expect(readdirSync(folder)).toEqual(['calls.ndjson']);
  });

  it('refuses a checkpoint that does not fit the file, and says what to do', async () => {
    const path = file('calls.ndjson');
    await cutAt(25, fileSink<Item>(path, { encode: toNdjson() }));
    const state = readFileSync(`${path}.checkpoint`, 'utf8');
    for (const wrong of [state.slice(0, 20), '{}', state.replace(/"bytes":\d+/, '"bytes":99999999')]) {
      writeFileSync(`${path}.checkpoint`, wrong);
      expect(() => fileSink<Item>(path, { encode: toNdjson(), resume: true })).toThrow(
        /Remove both to start over/,
      );
    }
  });

  it('refuses to resume Parquet and says what to use instead', () => {
    expect(() => fileSink<Item>(file('a.parquet'), { encode: toParquet(), resume: true })).toThrow(
      /a Parquet file cannot be continued in its middle/,
    );
  });

  it('writes Parquet as one file', async () => {
    const path = file('a.parquet');
    await run(slices(), fileSink<Item>(path, { encode: toParquet() }));
    const bytes = new Uint8Array(readFileSync(path));
    expect((await parquetReadObjects({ file: bytes.buffer })).map(({ sid }) => sid)).toEqual(allSids);
    expect(readdirSync(folder)).toEqual(['a.parquet']);
  });

  it('says that the folder is missing', async () => {
    await expect(run(['x'], fileSink(file('no/such/a.txt')))).rejects.toThrow(/ENOENT.*no\/such/);
  });

  it('fails with the error of the encoder', async () => {
    const broken = [{ ...(calls[0] as Item), talk_minutes: 'x' }];
    await expect(
      run(broken, fileSink<Item>(file('a'), { encode: toParquet({ rowGroupSize: 1 }) })),
    ).rejects.toThrow(/talk_minutes in call .* is a string that is not a decimal number/);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a file that is resumed', () => {
  const changes: [string, Encoding<Item>][] = [
    ['other columns', toCsv({ columns: ['sid', 'ani'] })],
    ['another encoder', toNdjson()],
    ['one encoder more', [toCsv({ columns: ['sid'] }), toGzip()]],
    ['another delimiter', toCsv({ columns: ['sid'], delimiter: ';' })],
  ];
  it.each(changes)('refuses %s', async (_, encode) => {
    const path = file('a.csv');
    await cutAt(15, fileSink<Item>(path, { encode: toCsv({ columns: ['sid'] }) }));
    const sink = fileSink<Item>(path, { encode, resume: true });
    await expect(run(slices(sink.checkpoint), sink)).rejects.toThrow(/belongs to another chain/);
    const again = fileSink<Item>(path, { encode: toCsv({ columns: ['sid'] }), resume: true });
    expect((await run(slices(again.checkpoint), again)).written).toBe(30);
  });

  it('refuses another operator in front', async () => {
    const path = file('a.ndjson');
    await cutAt(15, fileSink<Item>(path, { encode: toNdjson() }));
    const sink = fileSink<Item>(path, { encode: toNdjson(), resume: true });
    await expect(
      through(
        paged(slices(sink.checkpoint)),
        mapCalls((call: Item) => call),
      ).into(sink),
    ).rejects.toThrow(/it has rows where this one has mapCalls/);
  });

  it('refuses a checkpoint with any digit changed', async () => {
    const path = file('a.ndjson');
    await cutAt(15, fileSink<Item>(path, { encode: toNdjson() }));
    const state = readFileSync(`${path}.checkpoint`, 'utf8');
    for (const { index } of state.matchAll(/\d/g)) {
      const digit = (Number(state[index]) + 1) % 10;
      writeFileSync(`${path}.checkpoint`, state.slice(0, index) + digit + state.slice(index + 1));
      expect(() => fileSink<Item>(path, { encode: toNdjson(), resume: true })).toThrow(CheckpointError);
    }
  });

  it('refuses to give its name to a file that was put in its place', async () => {
    const path = file('a.ndjson');
    const replacing = function* () {
      for (const item of slices()) {
        if (item === calls[25]) {
          rmSync(`${path}.partial`);
          writeFileSync(`${path}.partial`, 'planted');
        }
        yield item;
      }
    };
    await expect(run(replacing(), fileSink<Item>(path, { encode: toNdjson() }))).rejects.toThrow(
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
