import { ResponseError } from '@call-attribution/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitRecords } from '../src/page/split-records.ts';
import { fixtureWireCalls } from './support.ts';

const cut = (text: string, expected?: number): unknown[] => {
  const bytes = Buffer.from(text);
  return splitRecords(bytes, expected).map(({ start, end }) =>
    JSON.parse(bytes.subarray(start, end).toString()),
  );
};

/** Strings that look like boundaries of records. */
const nasty = fc.constantFrom(
  '},{',
  '"},{"sid":',
  '\\',
  '\\"',
  '}]',
  '[{',
  '},{"sid":"1',
  '\\\\"},{\\"sid\\":',
  'é漢😀',
  '',
);
const value = fc.oneof(
  nasty,
  fc.string(),
  fc.integer(),
  fc.constant(null),
  fc.array(fc.record({ sid: nasty }), { maxLength: 2 }),
);
const record = fc.record({ sid: fc.string(), a: value, b: value });

describe('splitRecords', () => {
  test('it finds the records of a page', () => {
    const records = fixtureWireCalls(50, 'v3');
    expect(cut(JSON.stringify(records), 50)).toEqual(records);
    expect(cut(JSON.stringify(records))).toEqual(records);
  });

  test('it finds the same records as JSON.parse, whatever strings, nested values and spaces there are, and however many are expected', () => {
    fc.assert(
      fc.property(
        fc.array(record, { maxLength: 8 }),
        fc.constantFrom(undefined, 0, 0, 0, -3, -2, -1, 1, 2, 3),
        fc.constantFrom(undefined, 1, '\t'),
        (records, off, indent) => {
          const text = JSON.stringify(records, null, indent);
          const expected = off === undefined ? undefined : Math.max(0, records.length + off);
          expect(cut(text, expected)).toEqual(JSON.parse(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('a response that is cut anywhere is an error or complete', () => {
    const text = JSON.stringify(fixtureWireCalls(3, 'v2'));
    for (let length = 0; length < text.length; length += 7) {
      expect(() => splitRecords(Buffer.from(text.slice(0, length)), 3)).toThrow(ResponseError);
      expect(() => splitRecords(Buffer.from(text.slice(0, length)))).toThrow(ResponseError);
    }
  });

  test.each([
    ['[]', 0],
    [' [ ] \n', 0],
    ['[{}]', 1],
    ['\ufeff[{"a":1}]', 1],
    ['[ {"a":1} ,\r\n {"a":2} ]', 2],
  ])('%j has %i records', (text, count) => {
    expect(cut(text)).toHaveLength(count);
    expect(cut(text, count)).toHaveLength(count);
  });

  test.each([
    '',
    '{}',
    'null',
    '[1]',
    '["a"]',
    '[[]]',
    '[{},]',
    '[,{}]',
    '[{} {}]',
    '[{}',
    '{}]',
    '[{}]]',
    '[{"a":"}]',
    '[{]}',
    'x',
  ])('%j is refused', (text) => {
    expect(() => splitRecords(Buffer.from(text))).toThrow(ResponseError);
  });
});
