import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CursorScope, readCursor, writeCursor } from '../src/results/cursor.ts';

const scope: CursorScope = {
  tool: 'list_calls',
  version: 'v3',
  filter: 'talk_minutes:[1 TO *]',
  key: 'a key',
};
const position = { rows: 25, start: 3, skip: 7, total: 1234 };

describe('a cursor', () => {
  it('returns the position it was made from', () => {
    fc.assert(
      fc.property(
        fc.record({
          rows: fc.nat(500),
          start: fc.nat(1e6),
          skip: fc.nat(500),
          total: fc.option(fc.nat(1e9)),
        }),
        (any) => {
          expect(readCursor(scope, writeCursor(scope, any), undefined)).toEqual(any);
        },
      ),
      { numRuns: Number(process.env.CALLS_RUNS ?? 200) },
    );
  });

  it.each<[string, Partial<CursorScope>]>([
    ['filter', { filter: '' }],
    ['version', { version: 'v2' }],
    ['tool', { tool: 'list_sms_numbers' }],
    ['server', { key: 'another key' }],
  ])('is refused for another %s', (_what, other) => {
    const cursor = writeCursor({ ...scope, ...other }, position);
    expect(() => readCursor(scope, cursor, undefined)).toThrow('does not belong to this call');
  });

  it('is refused with other rows than it was made with, and accepted with the same', () => {
    const cursor = writeCursor(scope, position);
    expect(() => readCursor(scope, cursor, 50)).toThrow('rows=25');
    expect(readCursor(scope, cursor, 25)).toEqual(position);
  });

  it('is refused when any character was changed', () => {
    const cursor = writeCursor(scope, position);
    for (let at = 0; at < cursor.length; at += 1) {
      const changed = `${cursor.slice(0, at)}${cursor[at] === '1' ? '2' : '1'}${cursor.slice(at + 1)}`;
      expect(() => readCursor(scope, changed, undefined)).toThrow('does not belong');
    }
    for (const text of ['', 'x', '1.2', '9'.repeat(80)]) {
      expect(() => readCursor(scope, text, undefined)).toThrow('does not belong');
    }
  });
});
