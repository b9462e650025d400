import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { fixtureCalls } from '@call-attribution/core/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { toCsv, toGzip, toJsonArray, toNdjson, toParquet } from '../src/encoders/index.ts';
import { writeWholeFile } from '../src/files/index.ts';
import { through } from '../src/operators/index.ts';
import {
  type FileForm,
  type Receipt,
  readFileContents,
  readReceipt,
  receiptEnding,
} from '../src/receipts/index.ts';
import { sealed } from '../src/receipts/receipt.ts';
import { type Encoding, fileSink } from '../src/sinks/index.ts';
import { Paged } from './paged.ts';

// Slow machines are slow; nothing here waits for the clock.
vi.setConfig({ testTimeout: 60_000 });

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'receipts-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});
const file = (name: string) => join(folder, name);

/** Calls whose texts are hard to write in every format. */
const odd = [
  '',
  null,
  'a "quoted", word',
  'two\r\nlines',
  'ends in \r',
  '\uFEFFmark',
  '=1+1',
  'é 電話 🎉',
  '"',
];
const calls = fixtureCalls(40, 7).map((call, at) => ({
  ...call,
  ppc_keywords: odd[at % odd.length] ?? null,
}));

async function receiptIn(path: string): Promise<Receipt> {
  const found = await readReceipt(path);
  if (found?.receipt) return found.receipt;
  throw new Error(`no receipt: ${found === null ? 'none' : found.problem}`);
}

const columns = ['sid', 'date_added', 'talk_minutes', 'ppc_keywords', 'acct_id'] as const;
type Form = { encode: () => Encoding<(typeof calls)[0]>; form: FileForm };
const as = (format: FileForm['format'], encode: Form['encode'], gzip = false): Form => ({
  encode,
  form: { format, gzip },
});
const forms: Record<string, Form> = {
  ndjson: as('ndjson', toNdjson),
  'ndjson in gzip': as('ndjson', () => [toNdjson(), toGzip()], true),
  'a JSON array': as('json', toJsonArray),
  csv: as('csv', () => toCsv()),
  'csv in gzip': as('csv', () => [toCsv(), toGzip()], true),
  'csv for a spreadsheet': as('csv', () => toCsv({ columns, bom: true, safe: true })),
  'csv of one column': as('csv', () => toCsv({ columns: ['ppc_keywords'] })),
  parquet: as('parquet', () => toParquet()),
  'parquet with columns of each type': as('parquet', () =>
    toParquet({
      columns: [
        { name: 'i', type: 'integer', value: (call) => Number(call.sid.replace(/\D/g, '')) },
        { name: 'd', type: 'date', value: (call) => call.date_added.slice(0, 10) },
        { name: 't', type: 'timestamp', value: (call) => `${call.date_added}.123456` },
        { name: 'n', type: 'decimal', value: (call) => call.talk_minutes },
        { name: 'b', type: 'boolean', value: (call) => call.sid.endsWith('1') },
        { name: 's', type: 'string', value: (call) => call.ppc_keywords },
      ],
    }),
  ),
};

describe('the receipt of a file', () => {
  it.each(['ndjson', 'a JSON array'])('tells of half of a surrogate pair in %s', async (name) => {
    const { encode, form } = forms[name] as (typeof forms)[string];
    const half = calls.slice(0, 3).map((call) => ({ ...call, ppc_keywords: 'half \ud83c' }));
    await pipeline(Readable.from(half), fileSink(file('x'), { encode: encode(), receipt: true }));
    const { digest } = (await receiptIn(file('x'))).rows;
    expect(await readFileContents(file('x'), form)).toMatchObject({
      fault: null,
      rows: { count: 3, digest },
    });
  });

  it.each(Object.entries(forms))('tells what is read back from %s', async (_, { encode, form }) => {
    const path = file('calls');
    await pipeline(Readable.from(calls), fileSink(path, { encode: encode(), receipt: true }));
    const { rows, bytes } = await receiptIn(path);
    const written = readFileSync(path);
    expect(bytes).toEqual({ length: written.length, sha256: hash('sha256', written, 'hex') });
    const contents = await readFileContents(path, form, { expected: bytes });
    expect(contents).toMatchObject({
      fault: null,
      bytes,
      rows: { count: 40, digest: rows.digest },
    });
    expect(rows.count).toBe(40);
    expect(contents.fields).toEqual(rows.fields);
  });

  it.each(['ndjson', 'a JSON array', 'csv'])(
    'has the same digest for %s in another order',
    async (name) => {
      const { encode } = forms[name] as (typeof forms)[string];
      const digests = [];
      for (const items of [calls, calls.toReversed()]) {
        await pipeline(
          Readable.from(items),
          fileSink(file('calls'), { encode: encode(), receipt: true }),
        );
        digests.push((await receiptIn(file('calls'))).rows.digest);
      }

      expect(digests[1]).toBe(digests[0]);
    },
  );

  it.each([
    ['an empty file', 'ndjson', 0],
    ['an empty CSV file', 'csv', 0],
    ['an empty array', 'a JSON array', 0],
    ['an empty Parquet file', 'parquet', 0],
    ['one row', 'a JSON array', 1],
  ])('tells of %s', async (_, name, count) => {
    const { encode, form } = forms[name] as (typeof forms)[string];
    await pipeline(
      Readable.from(calls.slice(0, count)),
      fileSink(file('x'), { encode: encode(), receipt: true }),
    );
    const { rows, bytes } = await receiptIn(file('x'));
    expect(await readFileContents(file('x'), form, { expected: bytes })).toMatchObject({
      fault: null,
      rows: { count, digest: rows.digest },
    });
  });

  it('says what was read and what is missing, also when a run is cut off and resumed', async () => {
    const facts = {
      address: 'https://api.example.com/x',
      version: 'v3',
      filter: 'inc_gce:1',
      from: '2026-01-01 00:00:00',
      to: null,
    } as const;
    const gap = {
      from: '2026-01-01 01:00:00',
      to: '2026-01-01 02:00:00',
      is: 'short',
      why: 'fewer',
    } as const;
    const verdict = {
      proof: 'short',
      asked: { from: null, to: null },
      proved: 40,
      notes: [],
      gaps: [{ ...gap, calls: 3, missing: 1, sids: [] }],
    } as const;
    const { address: source, ...rest } = facts;
    const about = { ...rest, source, verdict, accounts: ['100001'], rows: { count: 40 } };

    const read = (failAt = Number.POSITIVE_INFINITY) => {
      const pages = new Paged((at) => {
        if (at + 8 > failAt) throw new Error('stopped');
        return at < calls.length ? { items: calls.slice(at, at + 8) } : null;
      });
      return through(Object.assign(pages, { facts, verdict: () => verdict }));
    };

    const sink = (resume: boolean) =>
      fileSink<(typeof calls)[0]>(file('a.ndjson'), { encode: toNdjson(), receipt: true, resume });
    expect(await read().into(sink(false))).toMatchObject({ proof: 'short', verdict });
    const whole = await receiptIn(file('a.ndjson'));
    expect(whole).toMatchObject({ ...about, file: 'a.ndjson' });
    for (const stopAt of [20, 40]) {
      for (const name of ['a.ndjson', 'a.ndjson.receipt.json']) rmSync(file(name));
      await expect(read(stopAt).into(sink(false))).rejects.toThrow('stopped');
      expect(existsSync(file('a.ndjson') + receiptEnding)).toBe(false);
      await read().into(sink(true));
      const again = { ...(await receiptIn(file('a.ndjson'))), writtenAt: whole.writtenAt };
      expect(again, `stopped at ${stopAt}`).toEqual(whole);
    }
  });

  it('takes what it says from a function, and knows nothing of a source that does not tell', async () => {
    const facts = {
      source: 'mine',
      version: null,
      filter: null,
      from: null,
      to: null,
      verdict: null,
    };
    const receipt = (accounts: readonly string[]) => ({ ...facts, accounts, fields: ['sid'] });
    await pipeline(Readable.from(calls), fileSink(file('a'), { encode: toNdjson(), receipt }));
    expect(await receiptIn(file('a'))).toMatchObject({
      ...facts,
      accounts: ['100001'],
      rows: { fields: ['sid'] },
    });
    await pipeline(
      Readable.from(calls),
      fileSink(file('a'), { encode: toNdjson(), receipt: true }),
    );
    expect(await receiptIn(file('a'))).toMatchObject({
      source: null,
      verdict: null,
      accounts: ['100001'],
    });
  });

  it('is never beside a file that it does not describe', async () => {
    const write = (receipt: boolean) =>
      pipeline(Readable.from(calls), fileSink(file('a'), { encode: toNdjson(), receipt }));
    await write(true);
    await write(false);
    expect(existsSync(file('a') + receiptEnding)).toBe(false);
    await write(true);
    await writeWholeFile(file('a'), 'something else');
    expect(existsSync(file('a') + receiptEnding)).toBe(false);
    await write(true);
    const kept = readFileSync(file('a') + receiptEnding, 'utf8');
    const broken = Readable.from(calls).map((call) => {
      if (call === calls[20]) throw new Error('the source broke');
      return call;
    });
    const failing = pipeline(broken, fileSink(file('a'), { encode: toNdjson(), receipt: true }));
    await expect(failing).rejects.toThrow('the source broke');

    // The earlier file is still there, and so is its receipt.
    expect(readFileSync(file('a') + receiptEnding, 'utf8')).toBe(kept);
  });

  it('is refused when a letter of it was changed', async () => {
    await pipeline(
      Readable.from(calls),
      fileSink(file('a'), { encode: toNdjson(), receipt: true }),
    );
    const text = readFileSync(file('a') + receiptEnding, 'utf8');
    for (const [from, to] of [
      ['"count": 40', '"count": 41'],
      ['"receipt": 1', '"receipt": 2'],
      ['"seal": "', '"seal": "0'],
      ['}', ''],
    ] as const) {
      writeFileSync(file('a') + receiptEnding, text.replace(from, to));
      expect(await readReceipt(file('a')), to).toEqual({
        receipt: null,
        problem: expect.any(String),
      });
    }

    expect(await readReceipt(file('b'))).toBeNull();

    const { seal: _, ...receipt } = JSON.parse(text);
    const reversed = { from: '2026-11-01 00:00:00', to: '2026-10-01 00:00:00' };
    for (const change of [reversed, { asked: reversed }]) {
      writeFileSync(file('a') + receiptEnding, sealed({ ...receipt, ...change }));
      expect(await readReceipt(file('a'))).toEqual({
        receipt: null,
        problem: 'its period ends before it begins',
      });
    }
  });

  it('needs an encoder whose rows it can count, and an unfinished file that was begun with one', async () => {
    expect(() => fileSink<string>(file('a'), { encode: [], receipt: true })).toThrow(
      /cannot have a receipt.*Use one of these/,
    );
    type Item = (typeof calls)[0];

    const cut = () =>
      new Paged((at) => {
        if (at > 0) throw new Error('cut');
        return { items: calls.slice(0, 1) };
      });

    const begun = through(cut()).into(fileSink<Item>(file('a'), { encode: toNdjson() }));
    await expect(begun).rejects.toThrow('cut');
    const resumed = fileSink<Item>(file('a'), { encode: toNdjson(), resume: true, receipt: true });
    await expect(through(cut()).into(resumed)).rejects.toThrow(/belongs to another chain/);
  });
});

describe('reading a file back', () => {
  it.each<[string, string, FileForm['format'], number, RegExp]>([
    [
      'a line that is no JSON',
      '{"sid":"1"}\n{"sid":\n{"sid":"3"}\n',
      'ndjson',
      1,
      /row 2 cannot be read/,
    ],
    ['a line that is no record', '{"sid":"1"}\n7\n', 'ndjson', 1, /row 2 cannot be read/],
    [
      'an array that does not end',
      '[\n{"sid":"1"},\n{"sid":"2"}\n',
      'json',
      2,
      /row 3 cannot be read/,
    ],
    ['an array that goes on', '[]\n{"sid":"1"}\n', 'json', 0, /row 1 cannot be read/],
    ['no array', '{"sid":"1"}\n', 'json', 0, /row 1 cannot be read/],
    ['a row with too few cells', 'sid,ani\r\n1,2\r\n3\r\n', 'csv', 1, /row 2 cannot be read/],
    ['a quote that does not end', 'sid,ani\r\n1,"2\r\n', 'csv', 0, /row 1 cannot be read/],
    [
      'Parquet without its receipt',
      'PAR1 something PAR1',
      'parquet',
      0,
      /there is no receipt of its bytes/,
    ],
  ])('stops at %s', async (_, text, format, count, fault) => {
    writeFileSync(file('a'), text);
    const contents = await readFileContents(file('a'), { format, gzip: false });
    expect(contents).toMatchObject({ fault: expect.stringMatching(fault), rows: { count } });
    expect(contents.bytes).toEqual({ length: text.length, sha256: hash('sha256', text, 'hex') });
  });

  it.each<[string, boolean, (text: string) => Buffer, string | null]>([
    ['ndjson', false, (text) => Buffer.from(text), null],
    ['ndjson in gzip', true, (text) => gzipSync(text), null],
    [
      'ndjson in gzip with something after it',
      true,
      (text) => Buffer.concat([gzipSync(text), Buffer.alloc(200_000, 'x')]),
      'it cannot be read as ndjson in gzip',
    ],
  ])('reads %s once, for its bytes and its rows', async (_, gzip, pack, fault) => {
    const lines = calls.map((call) => `${JSON.stringify(call)}\n`).join('');
    const bytes = pack(lines.repeat(20));

    // What a pipe gives cannot be read twice.
    execFileSync('mkfifo', [file('pipe')]);
    const written = writeFile(file('pipe'), bytes);
    const contents = await readFileContents(file('pipe'), { format: 'ndjson', gzip });
    await written;
    expect(contents).toMatchObject({
      fault,
      bytes: { length: bytes.length, sha256: hash('sha256', bytes, 'hex') },
    });
    if (fault === null) expect(contents.rows.count).toBe(800);
  });

  it('does not decode a Parquet file with other bytes than those of its receipt', async () => {
    writeFileSync(file('a'), 'PAR1 something PAR1');
    const expected = { length: 19, sha256: '0'.repeat(64) };
    const form = { format: 'parquet', gzip: false } as const;
    expect(await readFileContents(file('a'), form, { expected })).toMatchObject({
      fault: 'its rows are not read, because its bytes are others',
      rows: { count: 0 },
    });
  });

  it('stops when it is told to', async () => {
    writeFileSync(file('a'), '{"sid":"1"}\n'.repeat(100));
    const stop = new AbortController();
    const onRow = () => stop.abort(new Error('stopped'));
    const reading = readFileContents(
      file('a'),
      { format: 'ndjson', gzip: false },
      { onRow, signal: stop.signal },
    );
    await expect(reading).rejects.toThrow('stopped');
  });
});
