import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type Call, fields } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { readParquet } from 'parquet-wasm';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type CsvOptions,
  csvLine,
  toCsv,
  toGzip,
  toJsonArray,
  toNdjson,
  toParquet,
} from '../src/encoders/index.ts';
import { type Operator, through } from '../src/operators/index.ts';
import { fileSink } from '../src/sinks/index.ts';
import { all, callOf, textOf } from './calls-of.ts';
import { parseCsv } from './parse-csv.ts';

const runs = { numRuns: Number(process.env.CALLS_RUNS ?? 60) };
const calls = fixtureCalls(300, 7);

type Row = { a: string | null; b: string | null };
const columns = ['a', 'b'].map((name) => ({ name, value: (row: Row) => row[name as keyof Row] }));
const csv = (rows: readonly Row[], options: CsvOptions<Row> = {}) =>
  textOf(toCsv<Row>({ columns, ...options })(rows));

describe('toCsv', () => {
  it('writes every field of the table under its name, and reads back as it was', async () => {
    const [header, ...lines] = parseCsv(await textOf(toCsv()(calls)));
    expect(header).toEqual(fields.map(({ name }) => name));
    const texts = calls.map((call) =>
      fields.map(({ name }) => {
        const value = (call as unknown as Record<string, unknown>)[name];
        return value === null || value === undefined ? null : String(value);
      }),
    );
    expect(lines).toEqual(texts);
  });

  it('writes the same for records whose keys come and go or change places', async () => {
    const turned = calls.map((call, i) => {
      const entries = Object.entries(call).filter((_, at) => i % 3 !== 1 || at !== 20);
      return Object.fromEntries(
        i % 3 === 2 ? entries.reverse() : entries,
      ) as unknown as (typeof calls)[0];
    });
    const straight = await Promise.all(
      turned.map(async (call) => (await textOf(toCsv()([call]))).split('\r\n')[1]),
    );
    expect((await textOf(toCsv()(turned))).split('\r\n').slice(1, -1)).toEqual(straight);
  });

  const cases: [string, Row, CsvOptions<Row>, string][] = [
    ['null is an empty cell and an empty string is two quotes', { a: null, b: '' }, {}, ',""\r\n'],
    [
      'commas, quotes and line ends are quoted',
      { a: 'x,y', b: 'say "hi"\r\nbye' },
      {},
      '"x,y","say ""hi""\r\nbye"\r\n',
    ],
    ['a semicolon needs no quotes', { a: 'x;y', b: 'z' }, {}, 'x;y,z\r\n'],
    ['a formula stays as it is by default', { a: '=1+1', b: '@x' }, {}, '=1+1,@x\r\n'],
    ['safe: formulas get an apostrophe', { a: '=1+1', b: '@x' }, { safe: true }, "'=1+1,'@x\r\n"],
    [
      'safe: inside quotes too',
      { a: '=HYPERLINK("x","y")', b: '-x' },
      { safe: true },
      '"\'=HYPERLINK(""x"",""y"")",\'-x\r\n',
    ],
    [
      'safe: tab and carriage return',
      { a: '\t=1', b: '\r=1' },
      { safe: true },
      '\'\t=1,"\'\r=1"\r\n',
    ],
    [
      'safe: full-width signs',
      { a: '\uFF1D1', b: '\uFF0B1' },
      { safe: true },
      "'\uFF1D1,'\uFF0B1\r\n",
    ],
    [
      'safe: plain numbers stay numbers',
      { a: '-1.5', b: '+15555550100' },
      { safe: true },
      '-1.5,+15555550100\r\n',
    ],
  ];
  it.each(cases)('%s', async (_, row, options, line) => {
    expect(await csv([row], options)).toBe(`a,b\r\n${line}`);
  });

  it('writes a line by itself with csvLine', () => {
    expect(csvLine(['sid', 'a "word"', null, undefined, '', 2, { a: 1 }])).toBe(
      'sid,"a ""word""",,,"",2,"{""a"":1}"\r\n',
    );
    expect(csvLine(['a;b', '=1'], { safe: true })).toBe("a;b,'=1\r\n");
  });

  it('begins with a byte order mark and a header, even without records', async () => {
    expect(await csv([], { bom: true })).toBe('\uFEFFa,b\r\n');
  });

  it('writes any string so that it reads back the same', async () => {
    const text = fc.option(
      fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[",;|\t\r\n=a]{0,8}$/)),
    );
    const rows = fc.array(fc.record({ a: text, b: text }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(rows, async (list) => {
        const odd = list.findIndex((row) =>
          [row.a, row.b].some((cell) => cell?.isWellFormed() === false),
        );
        if (odd >= 0)
          await expect(csv(list)).rejects.toThrow(/^column [ab] has half of a surrogate pair/);
        const whole = odd >= 0 ? list.slice(0, odd) : list;
        expect(parseCsv(await csv(whole)).slice(1)).toEqual(whole.map(({ a, b }) => [a, b]));
      }),
      runs,
    );
  });

  it('writes chosen columns in their order, and columns of your own', async () => {
    const some = toCsv({
      columns: ['sid', { name: 'minutes', value: ({ talk_minutes }) => Number(talk_minutes) * 2 }],
    });
    expect(await textOf(some([callOf({ sid: 'a', talk_minutes: '1.5' })]))).toBe(
      'sid,minutes\r\na,3\r\n',
    );
  });

  it('writes an object as its JSON', async () => {
    const call = { ...callOf({ sid: 'a' }), city: { name: 'x, y' } } as unknown as Call;
    const text = await textOf(toCsv({ columns: ['sid', 'city'] })([call]));
    expect(text).toBe('sid,city\r\na,"{""name"":""x, y""}"\r\n');
  });

  it('refuses a column that rows do not have and names those they have', async () => {
    await expect(all(toCsv({ columns: ['sidd' as 'sid'] })(calls))).rejects.toThrow(
      /toCsv: the items have no field sidd\. Did you mean sid\?/,
    );
    await expect(all(toCsv<{ a: number }>({ columns: ['b' as 'a'] })([{ a: 1 }]))).rejects.toThrow(
      /have no field b\. There are a\./,
    );
  });

  it('takes the columns from the first row where rows are no calls', async () => {
    const rows = [
      { from: 'x', calls: 1 },
      { from: null, calls: 2 },
    ];
    expect(await textOf(toCsv<{ from: string | null; calls: number }>()(rows))).toBe(
      'from,calls\r\nx,1\r\n,2\r\n',
    );
  });
});

describe('what a format has no form for', () => {
  const circle: Record<string, unknown> = {};
  circle.me = circle;
  type Values = Record<string, unknown>;
  const own = (name: string) => ({ name, value: (row: Values) => row.a as string });
  const half =
    /^column a in call s1 has half of a surrogate pair, which CSV has no form for; .*toWellFormed/;
  const noJson = /^(?:column a|an item) in call s1 has no form in JSON/;
  const cases: [string, () => Operator<Values, Uint8Array>, unknown, RegExp][] = [
    ['half a pair in CSV', () => toCsv<Values>({ columns: ['sid', 'a'] }), 'x\ud800', half],
    [
      'half a pair at the begin of a cell',
      () => toCsv<Values>({ columns: ['a', 'sid'] }),
      '\udc00x',
      half,
    ],
    [
      'half a pair in a cell with quotes',
      () => toCsv<Values>({ columns: ['a'] }),
      '"\ud800,',
      half,
    ],
    [
      'half a pair in a column of your own',
      () => toCsv<Values>({ columns: [own('a')] }),
      '\ud800',
      half,
    ],
    [
      'half a pair in Parquet',
      () =>
        toParquet<Values>({
          columns: [{ name: 'a', type: 'string', value: ({ a }) => a as string }],
        }),
      '\ud800',
      /^column a in call s1 has half of a surrogate pair, which Parquet has no form for/,
    ],
    ['a bigint in JSON lines', () => toNdjson<Values>(), 1n, noJson],
    ['a bigint in a JSON array', () => toJsonArray<Values>(), 1n, noJson],
    ['a bigint inside JSON', () => toNdjson<Values>(), { b: [1n] }, noJson],
    ['a bigint inside a cell of CSV', () => toCsv<Values>({ columns: ['a'] }), { b: 1n }, noJson],
    ['a circle', () => toNdjson<Values>(), circle, noJson],
  ];
  it.each(cases)('%s is refused by name', async (_, encoder, a, message) => {
    const rows = [
      { sid: 's0', a: 'x' },
      { sid: 's1', a },
      { sid: 's2', a: 'y' },
    ];
    const written: Uint8Array[] = [];

    const write = async () => {
      for await (const chunk of encoder()(rows)) written.push(chunk);
    };

    await expect(write()).rejects.toMatchObject({
      name: 'ItemError',
      code: 'unfit_value',
      message: expect.stringMatching(message),
    });
    expect(Buffer.concat(written).toString()).not.toContain('y');
  });

  it.each(cases)(
    '%s is refused by name where the file has a receipt',
    async (_, encoder, a, message) => {
      const path = join(mkdtempSync(join(tmpdir(), 'unfit-')), 'rows');
      onTestFinished(() => rmSync(dirname(path), { recursive: true }));
      const into = fileSink<Values>(path, { encode: encoder(), receipt: true });
      await expect(through<Values>([{ sid: 's1', a }]).into(into)).rejects.toThrow(message);
    },
  );

  it('is U+FFFD in a safe cell, which is made for people', async () => {
    const safe = toCsv<Values>({ columns: ['a'], safe: true });
    expect(await textOf(safe([{ a: '=\ud800' }, { a: 'caf\ud83d' }]))).toBe(
      "a\r\n'=\ufffd\r\ncaf\ufffd\r\n",
    );
    expect(csvLine(['caf\ud83d', 1], { safe: true })).toBe('caf\ufffd,1\r\n');
  });

  it('is refused in the names of columns, too', async () => {
    expect.assertions(2);
    const rows = [{ 'k\ud800': 1 }];
    await expect(all(toCsv<object>()(rows))).rejects.toThrow(/the name of column k\ufffd has half/);
    await expect(all(toCsv<Values>({ columns: [own('\udc00')] })([]))).rejects.toThrow(
      /the name of column/,
    );
  });

  it('is nothing that CSV has: a bigint is its digits, a whole pair stays, half a pair in JSON is escaped', async () => {
    const row = { n: 12_345_678_901_234_567_890n, pair: '\ud83c\udf89', inner: { half: '\ud800' } };
    expect(await textOf(toCsv<object>()([row]))).toBe(
      'n,pair,inner\r\n12345678901234567890,🎉,"{""half"":""\\ud800""}"\r\n',
    );
  });
});

describe('toNdjson and toJsonArray', () => {
  it('write records that read back the same', async () => {
    const lines = (await textOf(toNdjson()(calls))).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(calls);
    expect(JSON.parse(await textOf(toJsonArray()(calls)))).toEqual(calls);
  });

  it('write no line and an empty array when there are no records', async () => {
    expect(await textOf(toNdjson()([]))).toBe('');
    expect(await textOf(toJsonArray()([]))).toBe('[]\n');
  });

  it('write half of a surrogate pair so that it reads back the same', async () => {
    const rows = [{ sid: 's1', a: 'x\ud800y', 'k\udc00': '\udc00' }];
    expect(JSON.parse(await textOf(toNdjson<object>()(rows)))).toEqual(rows[0]);
    expect(JSON.parse(await textOf(toJsonArray<object>()(rows)))).toEqual(rows);
  });

  it('refuse an item that is a bigint', async () => {
    await expect(all(toNdjson<bigint>()([1n]))).rejects.toThrow(/^an item has no form in JSON/);
  });
});

describe('toGzip', () => {
  it('writes what any reader of gzip reads', async () => {
    const text = await textOf(toNdjson()(calls));
    const zipped = Buffer.concat(await all(toGzip()(toNdjson()(calls))));
    expect(gunzipSync(zipped).toString()).toBe(text);
    expect(zipped.length).toBeLessThan(text.length / 3);
  });

  it('gives the same bytes whatever the chunks, and however often it is resumed', async () => {
    const text = Buffer.from(
      Array.from({ length: 300_000 }, (_, i) => `${(i * 7919) % 104_729},`).join(''),
    );

    const cut = (size: number) =>
      Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
        text.subarray(i * size, (i + 1) * size),
      );

    const whole = Buffer.concat(await all(toGzip()([text])));
    expect(gunzipSync(whole).equals(text)).toBe(true);
    const { signal } = new AbortController();
    let state: unknown = null;
    const out: Uint8Array[] = [];
    for (const chunk of cut(300_001)) {
      const run = toGzip().begin(state, signal);
      out.push(...((await run.page([chunk], null)) as Uint8Array[]));
      state = JSON.parse(JSON.stringify(run.save?.()));
    }

    out.push(...((await toGzip().begin(state, signal).end?.()) ?? []));
    expect(Buffer.concat(out).equals(whole)).toBe(true);
  });

  it('writes an empty gzip file when there is no input', async () => {
    expect(gunzipSync(Buffer.concat(await all(toGzip()([])))).length).toBe(0);
  });
});

describe('toParquet', () => {
  const parquetOf = async (
    operator: (rows: never) => AsyncIterable<Uint8Array>,
    rows: readonly unknown[],
  ) => {
    const bytes = Buffer.concat(await all(operator(rows as never)));
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  };

  it('writes values and types that read back as in the field table', async () => {
    const file = await parquetOf(toParquet(), calls);
    const read = await parquetReadObjects({ file });
    expect(read.length).toBe(calls.length);
    const wire = read.map((row) =>
      Object.fromEntries(
        fields.map(({ name, type }) => {
          const value = row[name];
          if (value === null || value === undefined) return [name, null];
          if (type === 'integer') return [name, Number(value)];
          if (type === 'decimal-string') return [name, (value as number).toFixed(1)];
          if (value instanceof Date) {
            const text = value.toISOString().replace('T', ' ');
            return [name, type === 'datetime' ? text.slice(0, 19) : text.slice(0, 21)];
          }

          return [name, String(value)];
        }),
      ),
    );
    const expected = calls.map((call) =>
      Object.fromEntries(
        fields.map(({ name }) => [
          name,
          (call as unknown as Record<string, unknown>)[name] ?? null,
        ]),
      ),
    );
    expect(wire).toEqual(expected);
  });

  it('writes typed columns, times without a zone, and groups of ten thousand rows', async () => {
    const metadata = parquetMetadata(await parquetOf(toParquet(), calls));
    const byName = new Map(metadata.schema.map((element) => [element.name, element]));
    expect(byName.get('pool_id')?.type).toBe('INT64');
    expect(byName.get('talk_minutes')?.type).toBe('DOUBLE');
    expect(byName.get('date_added')?.logical_type).toMatchObject({
      type: 'TIMESTAMP',
      isAdjustedToUTC: false,
    });
    expect(byName.get('sid')?.converted_type).toBe('UTF8');
    const many = Array.from({ length: 10_050 }, (_, i) => callOf({ sid: String(i) }));
    const { row_groups } = parquetMetadata(await parquetOf(toParquet({ columns: ['sid'] }), many));
    expect(row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([10_000, 50]);
  });

  it('writes a file with its columns when there are no records', async () => {
    const file = await parquetOf(toParquet({ columns: ['sid', 'talk_minutes'] }), []);
    expect(parquetMetadata(file).schema.map(({ name }) => name)).toEqual([
      'root',
      'sid',
      'talk_minutes',
    ]);
    expect(await parquetReadObjects({ file })).toEqual([]);
  });

  it.each([0, 1, 3])(
    'writes %i records in a form that the strict reader of Arrow takes',
    async (count) => {
      const rows = Array.from({ length: count }, (_, i) => callOf({ sid: String(i) }));
      // A name that holds the bytes which a list without row groups has.
      const odd = { name: '\x16\0\x19\0', type: 'string', value: () => null } as const;
      for (const [operator, last] of [
        [toParquet(), 'odd'],
        [toParquet({ columns: ['sid', odd] }), odd.name],
      ] as const) {
        const file = await parquetOf(operator, rows);
        const batches = readParquet(new Uint8Array(file)).recordBatches();
        expect(batches.reduce((sum, { numRows }) => sum + numRows, 0)).toBe(count);
        expect(parquetMetadata(file).schema.at(-1)?.name).toBe(last);
      }
    },
  );

  it.each([
    [
      'date_added',
      '2024-02-30 10:00:00',
      /column date_added in call odd has type timestamp, which a string value does not fit/,
    ],
    [
      'talk_minutes',
      'secret words',
      /^talk_minutes in call odd is a string that is not a decimal number/,
    ],
    [
      'pool_id',
      1.5,
      /column pool_id in call odd has type integer, which a number value does not fit/,
    ],
  ])(
    'names column and call when %s does not fit its type, and not the value',
    async (name, value, message) => {
      const odd = { ...callOf({ sid: 'odd' }), [name]: value };
      await expect(
        parquetOf(toParquet({ columns: [name as 'date_added', 'sid'] }), [odd]),
      ).rejects.toThrow(message);
    },
  );

  it.each([
    ['integer', '9223372036854775807', 9223372036854775807n, '9223372036854775808'],
    ['integer', -(2n ** 63n), -(2n ** 63n), 1.5],
    ['date', '2024-02-29', new Date('2024-02-29T00:00:00Z'), 'infinity'],
    ['date', '1969-12-31', new Date('1969-12-31T00:00:00Z'), '2023-02-29'],
    [
      'timestamp',
      '2024-02-29 10:00:00.123456',
      new Date('2024-02-29T10:00:00.123Z'),
      '2024-02-29 10:00:00.1234567',
    ],
  ] as const)(
    'stores %s: %s, and refuses what would lose digits',
    async (type, value, stored, tooLong) => {
      const rows = [{ v: value }, { v: null }];
      const columns = [{ name: 'v', type, value: (row: { v: unknown }) => row.v as string }];
      const read = await parquetReadObjects({
        file: await parquetOf(toParquet({ columns }), rows),
      });
      expect(read).toEqual([{ v: stored }, { v: null }]);
      await expect(parquetOf(toParquet({ columns }), [{ v: tooLong }])).rejects.toMatchObject({
        code: 'unfit_value',
        message: expect.stringMatching(
          /^column v has type .*; choose another type for the column$/,
        ),
      });
    },
  );

  it.each(['decimal(9,1)', 'text', 'toString'])('refuses the type %s', (type) => {
    const columns = [{ name: 'v', type: type as 'string', value: () => 'a' }];
    expect(() => toParquet({ columns })).toThrow(
      /column v has the unknown type ".*"; expected string, integer, decimal/,
    );
  });

  it('refuses a column that is not a field', () => {
    expect(() => toParquet({ columns: ['sidd' as 'sid'] })).toThrow(/have no field sidd/);
  });
});
