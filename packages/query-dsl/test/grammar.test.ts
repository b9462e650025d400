import { describe, expect, it } from 'vitest';
import { parse, printFilter, safeParse } from '../src/index.ts';

describe('what the specification leaves open and this package accepts', () => {
  it.each([
    ['', ''],
    ['   ', ''],
    ['  talk_minutes:[2 TO 5]  ', 'talk_minutes:[2 TO 5]'],
    ['talk_minutes:[2 TO 5]  ,   inc_gce:1', 'talk_minutes:[2 TO 5],inc_gce:1'],
    ['talk_minutes:{* TO 5]', 'talk_minutes:[* TO 5]'],
    ['talk_minutes:[5 TO *}', 'talk_minutes:[5 TO *]'],
    ['talk_minutes:{1 TO 5}', 'talk_minutes:{1 TO 5}'],
    ['talk_minutes:[5 TO *],talk_minutes:[* TO 9]', 'talk_minutes:[5 TO *],talk_minutes:[* TO 9]'],
    ['talk_minutes:[007.50 TO 8.0]', 'talk_minutes:[7.5 TO 8]'],
    ['talk_minutes:[-0.50 TO 0.0]', 'talk_minutes:[-0.5 TO 0]'],
    ['date_added:[2024-02-29 23:59:59 TO *]', 'date_added:[2024-02-29 23:59:59 TO *]'],
    [
      'date_added:[0000-02-29 00:00:00 TO 0004-02-29 00:00:00]',
      'date_added:[0000-02-29 00:00:00 TO 0004-02-29 00:00:00]',
    ],
  ])('%j prints as %j', (text, canonical) => {
    expect(printFilter(parse(text))).toBe(canonical);
  });

  it('gives offsets that point at what was written', () => {
    const text = ' talk_minutes:[02.50 TO 5} , inc_gce:1';
    const [range, flag] = parse(text).clauses;
    if (range?.kind !== 'range') throw new Error('a range was expected');
    const slice = (part: { start?: number; end?: number }) => text.slice(part.start, part.end);
    expect(slice(range)).toBe('talk_minutes:[02.50 TO 5}');
    expect(range.lower).toMatchObject({ text: '2.5', inclusive: true });
    expect(slice(range.lower ?? {})).toBe('02.50');
    expect(range.upper).toMatchObject({ text: '5', inclusive: false });
    expect(slice(range.upper ?? {})).toBe('5');
    expect(slice(flag ?? {})).toBe('inc_gce:1');
  });
});

describe('what this package refuses', () => {
  it.each([undefined, null, 42, {}, [], ['inc_gce:1']])(
    'it refuses %j, which is not a string',
    (value) => {
      expect(safeParse(value as unknown as string)).toMatchObject({
        ok: false,
        problem: { start: 0 },
      });
      expect(() => parse(value as unknown as string)).toThrow(TypeError);
    },
  );

  it('respects its limits', () => {
    const two = 'inc_gce:1,inc_gce:1';
    expect(safeParse(two, { maxClauses: 2, maxLength: two.length }).ok).toBe(true);
    expect(safeParse(two, { maxClauses: 1 })).toMatchObject({
      problem: { code: 'syntax', start: 10 },
    });
    expect(safeParse(two, { maxLength: 18 })).toMatchObject({
      problem: { code: 'syntax', start: 18 },
    });
    expect(safeParse(`${two},`.repeat(5001)).ok).toBe(false);
    expect(safeParse(' '.repeat(1_000_001)).ok).toBe(false);
  });
});

describe('fields of the caller', () => {
  const fields = { smart_minutes: 'decimal', last_touch_timestamp: 'date' } as const;

  it('are read like the documented fields', () => {
    const text = 'smart_minutes:[1 TO 2],last_touch_timestamp:[2024-01-01 00:00:00 TO *]';
    expect(printFilter(parse(text, { fields }))).toBe(text);
    expect(safeParse(text).ok).toBe(false);
    expect(safeParse('smart_minutes:[2024-01-01 00:00:00 TO *]', { fields }).ok).toBe(false);
  });

  it('do not replace the documented fields', () => {
    expect(safeParse('inc_gce:1', { fields, version: 'v2' }).ok).toBe(false);
    expect(safeParse('inc_gce:1', { fields, version: 'v3' }).ok).toBe(true);
  });
});
