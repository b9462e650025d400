import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gunzipSync } from 'node:zlib';
import { fixtureCalls } from '@call-attribution/core/testing';
import { parquetReadObjects } from 'hyparquet';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toCsv, toGzip, toJsonArray, toNdjson, toParquet } from '../src/encoders/index.ts';
import { type Checkpoint, Mark } from '../src/index.ts';
import { type Encoding, fileSink, sliceFiles } from '../src/sinks/index.ts';
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
function* slices(from: Checkpoint | null = null, failAt = Number.POSITIVE_INFINITY): Generator<Item | Mark> {
  const begin = (from?.total ?? 0) / 10;
  for (let slice = begin; slice < 3; slice += 1) {
    for (let i = slice * 10; i < slice * 10 + 10; i += 1) {
      if (i === failAt) throw new Error('the source broke');
      yield calls[i] as Item;
    }
    yield new Mark({ from: day(slice), to: day(slice + 1), checkpoint: place(slice + 1) });
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

/** A pipeline into a sink, over only when the sink has let go of its file: pipeline itself does not wait for that. */
async function run(source: Iterable<unknown>, sink: Writable): Promise<void> {
  const closed = new Promise<void>((resolve) => sink.once('close', resolve));
  try {
    await pipeline(Readable.from(source), sink);
  } finally {
    await closed;
  }
}

/** Writes what comes before record `n`, waits until it was taken, and destroys the sink. */
async function cutAt(n: number, sink: Writable): Promise<void> {
  sink.on('error', () => {});
  try {
    for (const item of slices(null, n)) await new Promise((resolve) => sink.write(item, resolve));
  } catch {}
  await new Promise((resolve) => sink.once('close', resolve).destroy(new Error('cut')));
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
    await run(watch(), sink);
    expect(new Set(seen)).toEqual(new Set(['the earlier file']));
    expect(sids(readFileSync(path, 'utf8'))).toEqual(allSids);
    expect(sink.bytes).toBe(readFileSync(path).length);
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
    expect(second.checkpoint).toEqual(place(1));
    await run(slices(second.checkpoint), second);
    expect(sids(readFileSync(path, 'utf8'))).toEqual(allSids);
    const fresh = fileSink(file('other.ndjson'), { resume: true });
    expect(fresh.metadata).toBe(null);
    await new Promise((resolve) => fresh.once('close', resolve).destroy());
  });

  it('takes bytes and strings of any source without an encoder', async () => {
    await pipeline(Readable.from(calls), toCsv(), fileSink(file('a.csv')));
    expect(parseCsv(readFileSync(file('a.csv'), 'utf8')).length).toBe(31);
    await run(['one\n', 'zwö\n'], fileSink(file('b.txt')));
    expect(readFileSync(file('b.txt'), 'utf8')).toBe('one\nzwö\n');
  });

  it('removes what it began when the source fails before the first mark, and keeps the earlier file', async () => {
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
        // A failing source destroys the sink with marks still in its buffer, so the place may be an earlier one.
        const places = [null, place(1), place(2)].slice(0, 1 + Math.floor(failAt / 10));
        expect(places).toContainEqual(second.checkpoint);
        await run(slices(second.checkpoint), second);
        expect(read(readFileSync(path))).toEqual(allSids);
        expect(readdirSync(folder)).toEqual(['calls']);
      },
    );
  });

  it('cuts off what was written after the last mark', async () => {
    const path = file('calls.ndjson');
    await cutAt(17, fileSink<Item>(path, { encode: toNdjson({ chunkBytes: 1 }) }));
    expect(sids(readFileSync(`${path}.partial`, 'utf8')).length).toBe(17);
    const sink = fileSink<Item>(path, { encode: toNdjson(), resume: true });
    expect(sink.checkpoint).toEqual(place(1));
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
      /one file per slice with sliceFiles/,
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

describe('a file that is being closed', () => {
  it('is continued at once, though another sink of it was closed meanwhile', async () => {
    const options = { encode: toNdjson(), resume: true };
    await cutAt(15, fileSink(file('a.ndjson'), options));
    const stopped = fileSink(file('a.ndjson'), options);
    const nothingNew = new Mark({ from: day(0), to: day(1), checkpoint: place(1) });
    await new Promise((resolve) => stopped.write(nothingNew, resolve));
    stopped.destroy();
    fileSink(file('a.ndjson'), options).destroy();
    const next = fileSink(file('a.ndjson'), options);
    await pipeline(Readable.from(slices(next.checkpoint)), next);
    expect(sids(readFileSync(file('a.ndjson'), 'utf8'))).toEqual(allSids);
  });
});

describe('sliceFiles', () => {
  const options = (resume = false) => ({
    encode: toNdjson() as Encoding<Item>,
    name: ({ from, to }: { from: string | null; to: string | null }) =>
      `${from?.slice(0, 10) ?? 'start'}_${to?.slice(0, 10) ?? 'open'}.ndjson`,
    resume,
  });
  const names = [
    '2024-01-01_2024-01-02.ndjson',
    '2024-01-02_2024-01-03.ndjson',
    '2024-01-03_2024-01-04.ndjson',
  ];
  const read = () =>
    readdirSync(folder)
      .sort()
      .map((name) => [name, ...sids(readFileSync(file(name), 'utf8'))]);

  it('writes one complete file per slice', async () => {
    await run(slices(), sliceFiles(folder, options()));
    expect(read()).toEqual(names.map((name, i) => [name, ...allSids.slice(i * 10, i * 10 + 10)]));
  });

  it('resumes after the last complete slice', async () => {
    await cutAt(15, sliceFiles(folder, options()));
    expect(readdirSync(folder).sort()).toEqual(['.checkpoint.json', names[0]]);
    const sink = sliceFiles<Item>(folder, options(true));
    expect(sink.checkpoint).toEqual(place(1));
    await run(slices(sink.checkpoint), sink);
    expect(read()).toEqual(names.map((name, i) => [name, ...allSids.slice(i * 10, i * 10 + 10)]));
  });

  it('removes the file of a slice whose position was not saved', async () => {
    const names = ['one', 'two', 'three'];
    let at = 0;
    const named = (resume: boolean) => ({ ...options(resume), name: () => names[at++] as string });
    // A folder in the way: the run ends just where the second file gets its name.
    mkdirSync(join(folder, 'two', 'x'), { recursive: true });
    await expect(run(slices(), sliceFiles(folder, named(false)))).rejects.toThrow(/two/);
    rmSync(file('two'), { recursive: true });
    writeFileSync(file('two'), 'what a run cut off a moment later would have left');
    at = 1;
    names[1] = 'other';
    const sink = sliceFiles<Item>(folder, named(true));
    expect(sink.checkpoint).toEqual(place(1));
    await run(slices(sink.checkpoint), sink);
    expect(readdirSync(folder).sort()).toEqual(['one', 'other', 'three']);
  });

  it('gives records after the last mark a file of their own, and empty slices none', async () => {
    const source = [new Mark({ from: null, to: day(0) }), calls[0] as Item];
    await run(source, sliceFiles(folder, options()));
    expect(read()).toEqual([['2024-01-01_open.ndjson', allSids[0]]]);
  });

  it('writes each slice as a Parquet file of its own', async () => {
    await run(slices(), sliceFiles<Item>(folder, { ...options(), encode: toParquet() }));
    const bytes = new Uint8Array(readFileSync(file(names[1] as string)));
    expect((await parquetReadObjects({ file: bytes.buffer })).map(({ sid }) => sid)).toEqual(
      allSids.slice(10, 20),
    );
  });

  it('fails rather than write two slices into one file, also after it was resumed', async () => {
    const name = ({ from }: { from: string | null }) => `${from?.slice(0, 7)}.ndjson`;
    await expect(run(slices(), sliceFiles(folder, { ...options(), name }))).rejects.toThrow(
      /the slice from 2024-01-02 .* has the same name as an earlier one, 2024-01.ndjson/,
    );
    const sink = sliceFiles<Item>(folder, { ...options(true), name });
    expect(sink.checkpoint).toEqual(place(1));
    await expect(run(slices(sink.checkpoint), sink)).rejects.toThrow(/has the same name as an earlier one/);
    expect(sids(readFileSync(file('2024-01.ndjson'), 'utf8'))).toEqual(allSids.slice(0, 10));
  });

  it('refuses a checkpoint that cannot be read', () => {
    writeFileSync(file('.checkpoint.json'), '{"version":');
    expect(() => sliceFiles(folder, options(true))).toThrow(/is not a checkpoint. Remove it to start over/);
  });
});
