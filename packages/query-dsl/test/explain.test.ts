import { describe, expect, it } from 'vitest';
import {
  explain,
  FilterSyntaxError,
  fromQueryParam,
  parse,
  safeParse,
  where,
} from '../src/index.ts';

describe('explain', () => {
  const times = 'is at or after 2026-10-01 00:00:00 and before 2026-11-01 00:00:00';
  it.each([
    ['', 'All calls.'],
    ['inc_gce:1', 'All calls, including calls through call extensions.'],
    ['talk_minutes:[2 TO *]', 'Calls whose talk_minutes is at least 2.'],
    ['talk_minutes:{2 TO *]', 'Calls whose talk_minutes is more than 2.'],
    ['talk_minutes:[* TO 5}', 'Calls whose talk_minutes is less than 5.'],
    ['talk_minutes:[0 TO 0]', 'Calls whose talk_minutes is exactly 0.'],
    ['talk_minutes:[* TO *]', 'Calls whose talk_minutes has any value.'],
    [
      'talk_minutes:{5 TO 6},talk_minutes:[1 TO 9]',
      'Calls whose talk_minutes is more than 5 and less than 6.',
    ],
    ['talk_minutes:[5 TO 5}', 'No calls: no talk_minutes is at least 5 and less than 5.'],
    [
      'talk_minutes:[5 TO *],talk_minutes:[* TO 2]',
      'No calls: no talk_minutes is at least 5 and at most 2.',
    ],
    [
      'date_added:{2026-10-01 00:00:00 TO *]',
      'Calls whose date_added is after 2026-10-01 00:00:00.',
    ],
    [
      'date_added:[* TO 2026-10-01 00:00:00]',
      'Calls whose date_added is at or before 2026-10-01 00:00:00.',
    ],
    [
      'date_added:[2026-10-01 00:00:00 TO 2026-11-01 00:00:00},talk_minutes:[* TO 5],inc_gce:1',
      `Calls whose date_added ${times} and whose talk_minutes is at most 5, including calls through call extensions.`,
    ],
  ])('%j', (text, sentence) => {
    expect(explain(text)).toBe(sentence);
  });

  it('takes what is built, too', () => {
    expect(explain(where('talk_minutes').above(2))).toBe(
      'Calls whose talk_minutes is more than 2.',
    );
  });
});

describe('a failed safeParse', () => {
  it('serializes with its problem, which is made only once', () => {
    const result = safeParse('inc_gce:2');
    if (result.ok) throw new Error('this is not a filter');
    expect(result.problem).toBe(result.problem);
    expect(JSON.parse(JSON.stringify(result))).toMatchObject({
      ok: false,
      problem: {
        code: 'syntax',
        message: 'Expected "1" at position 8, found "2". For example: inc_gce:1',
        start: 8,
        frame: 'inc_gce:2\n        ^',
      },
    });
  });
});

describe('a FilterSyntaxError', () => {
  it('has the problem and its properties', () => {
    try {
      parse('talk_minutes:[2 to 5]');
      throw new Error('this is not a filter');
    } catch (error) {
      if (!(error instanceof FilterSyntaxError)) throw error;
      const { problem } = error;
      expect(error.name).toBe('FilterSyntaxError');
      expect(String(error)).toBe(
        'FilterSyntaxError: Expected " TO " at position 15, found " to". Write "talk_minutes:[2 TO 5]".',
      );
      expect(error).toMatchObject({
        code: 'syntax',
        start: 15,
        end: 18,
        found: ' to',
        expected: [' TO '],
        suggestions: [],
        fix: { start: 16, end: 18, text: 'TO' },
        frame: problem.frame,
      });
    }
  });
});

describe('fromQueryParam', () => {
  it('decodes exactly once', () => {
    expect(fromQueryParam('talk_minutes%3A%5B2%20TO%205%5D')).toBe('talk_minutes:[2 TO 5]');
    expect(fromQueryParam('talk_minutes:[2+TO+5]')).toBe('talk_minutes:[2 TO 5]');
    expect(fromQueryParam('talk_minutes:[2%2520TO%25205]')).toBe('talk_minutes:[2%20TO%205]');
    expect(fromQueryParam('a%2Bb')).toBe('a+b');
  });

  it.each(['%', '%2', 'a%zz', '%ff', '%C3%28'])('refuses %j', (text) => {
    expect(() => fromQueryParam(text)).toThrow(FilterSyntaxError);
  });
});
