import { formatContentRange, parseContentRange, scanField, splitRecords } from '@call-attribution/core/page';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

describe('content ranges', () => {
  test('what is written is read again', () => {
    fc.assert(
      fc.property(fc.nat(1e6), fc.nat(1000), fc.nat(1e6), (offset, count, total) => {
        expect(parseContentRange(formatContentRange(offset, count, total))).toEqual(
          count === 0 ? { first: 0, last: 0, total } : { first: offset + 1, last: offset + count, total },
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

describe('scanField', () => {
  const field = (record: unknown, name: string) => {
    const bytes = Buffer.from(`[${JSON.stringify({ sid: 'other', ani: '1' })},${JSON.stringify(record)}]`);
    const [, range] = splitRecords(bytes);
    return range && scanField(bytes, range, name);
  };
  test('it finds what a parser finds, whatever the record holds', () => {
    const value = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('"sid":"x"', '\\', '{"'),
    );
    fc.assert(
      fc.property(value, value, value, (a, sid, b) => {
        expect(field({ a, sid, b }, 'sid')).toBe(JSON.parse(Buffer.from(JSON.stringify(sid)).toString()));
        expect(field({ a, b }, 'sid')).toBeUndefined();
      }),
    );
  });
  test.each([
    [{ sid: 7 }, '7'],
    [{ sid: null }, undefined],
    [{ sid: { sid: 'x' } }, 'x'],
    [{}, undefined],
  ])('of %j the sid is %j', (record, sid) => expect(field(record, 'sid')).toBe(sid));
  test('it reads a field of a fragment that is not complete JSON, unescaped', () => {
    const bytes = Buffer.from('{"sid":"1","ani":"\\u202a+1 555 555 0100","city":null,');
    expect(scanField(bytes, { start: 0, end: bytes.length }, 'ani')).toBe('\u202a+1 555 555 0100');
  });
});
