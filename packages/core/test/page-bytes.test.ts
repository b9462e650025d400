import { type ByteRange, formatContentRange, scanFields } from '@call-attribution/core/page';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseContentRange } from '../src/page/content-range.ts';
import { splitRecords } from '../src/page/split-records.ts';

describe('content ranges', () => {
  test('what is written is read again', () => {
    fc.assert(
      fc.property(fc.nat(1e6), fc.nat(1000), fc.nat(1e6), (offset, count, total) => {
        expect(parseContentRange(formatContentRange(offset, count, total))).toEqual(
          count === 0
            ? { first: 0, last: 0, total }
            : { first: offset + 1, last: offset + count, total },
        );
      }),
    );
  });
  test.each([
    ['items 3-4/18', { first: 3, last: 4, total: 18 }],
    ['3-4/*', { first: 3, last: 4, total: null }],
    ['*/0', { first: 0, last: 0, total: 0 }],
    ['0-0/5', { first: 0, last: 0, total: 5 }],
    ['1-5555550100/5555550100', null],
    ['all of them', null],
    [null, null],
    [undefined, null],
  ])('%j is %j', (header, range) => expect(parseContentRange(header)).toEqual(range));
});

describe('scanFields', () => {
  const scanField = (...[bytes, ranges, name]: [Uint8Array, readonly ByteRange[], string]) =>
    scanFields(bytes, ranges, [name])[0] ?? [];
  const field = (record: unknown, name: string, indent?: number) => {
    const bytes = Buffer.from(JSON.stringify([{ sid: 'other', ani: '1' }, record], null, indent));
    return scanField(bytes, splitRecords(bytes), name)[1];
  };

  test('it finds what a parser finds, whatever the record holds', () => {
    const value = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('"sid":"x"', '\\', '{"'),
    );
    fc.assert(
      fc.property(value, value, value, (a, sid, b) => {
        for (const indent of [undefined, 1]) {
          expect(field({ a, sid, b }, 'sid', indent)).toBe(
            JSON.parse(Buffer.from(JSON.stringify(sid)).toString()),
          );
          expect(field({ a, b }, 'sid', indent)).toBeUndefined();
        }
      }),
    );
  });
  test.each([
    [{ sid: 7 }, '7'],
    [{ sid: -1.5e300 }, '-1.5e+300'],
    [{ list: ['a', 'sid'], sid: 'b' }, 'b'],
    [{ a: 'sid', 'no"sid': '1', sid: 'b' }, 'b'],
    [{ sid: null }, undefined],
    [{ sid: { sid: 'x' } }, undefined],
    [{ tags: { sid: 'in' }, sid: 'out', more: [{ sid: 'in' }] }, 'out'],
    [{ '}': '{"', a: { b: { sid: 'in' }, c: '}' }, sid: 'out' }, 'out'],
    [{ a: { sid: 'in' } }, undefined],
    [{}, undefined],
  ])('of %j the sid is %j', (record, sid) => expect(field(record, 'sid')).toBe(sid));

  type Json = string | number | null | Json[] | { pairs: [string, Json][] };
  // As they are written: a name may have escapes, too.
  const key = fc.oneof(
    fc.constantFrom('sid', 'a', '}', '"sid":{', '\\').map((name) => JSON.stringify(name)),
    fc.constantFrom('"s\\u0069d"', '"\\u0073id"', '"\\u0053id"', '"\\\\u0073id"'),
  );
  const leaf = fc.oneof(
    fc.string({ maxLength: 9 }),
    fc.integer(),
    fc.constantFrom(null, 'sid', '"sid":"x"', '{', '}', '\\'),
  );
  const { json } = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.array(tie('json'), { maxLength: 3 }),
      fc.record({ pairs: fc.array(fc.tuple(key, tie('json')), { maxLength: 3 }) }),
    ),
  }));

  const textOf = (value: Json): string => {
    if (Array.isArray(value)) return `[${value.map(textOf)}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    return `{${value.pairs.map(([name, of]) => ` ${name} : ${textOf(of)}`)}}`;
  };

  test('it finds what JSON.parse finds, whatever the record holds in objects or twice', () => {
    const record = fc.record({ pairs: fc.array(fc.tuple(key, json), { maxLength: 6 }) });
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 4 }), (records) => {
        const text = textOf(records);
        const bytes = Buffer.from(text);
        const expected = (JSON.parse(text) as { sid?: unknown }[]).map(({ sid }) =>
          typeof sid === 'string' || typeof sid === 'number' ? String(sid) : undefined,
        );
        expect(scanField(bytes, splitRecords(bytes), 'sid')).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  test('a number is read digit by digit, also where JavaScript would round it', () => {
    const bytes = Buffer.from('[{"sid" :\t9007199254740993 }]');
    expect(scanField(bytes, splitRecords(bytes), 'sid')).toEqual(['9007199254740993']);
  });
  test.each([
    [['{"sid":"1","a":2}', '{"a":"x","sid":"2"}', '{"sid":"3"}']],
    [['{"a":1}', '{"b":2}', '{"sid":"3"}', '{"c":4}']],
    [['{"sid":null}', '{"sid":7}', '{"sid" : "8"}', '{"sid":""}']],
    [['{"sid":"a\\"b"}', '{"sid":"\u00e9"}', '{"a":"\\"sid\\":\\"no\\"","sid":"yes"}']],
    [['{"a":"sid","sid":"5"}', '{"tags":{"sid":"in"},"sid":"out"}', '{"x\\\\":"sid"}']],
    [[]],
  ])('of %j, each record of a page has the value that it has alone', (records) => {
    const bytes = Buffer.from(`[${records.join(',')}]`);
    const each = records.flatMap((record) => {
      const alone = Buffer.from(record);
      return scanField(alone, [{ start: 0, end: alone.length }], 'sid');
    });
    expect(scanField(bytes, splitRecords(bytes), 'sid')).toEqual(each);
  });
  test('it reads a field of a fragment that is not complete JSON, unescaped', () => {
    const bytes = Buffer.from('{"sid":"1","ani":"\\u202a+1 555 555 0100","city":null,');
    expect(scanField(bytes, [{ start: 0, end: bytes.length }], 'ani')).toEqual([
      '\u202a+1 555 555 0100',
    ]);
  });
});
