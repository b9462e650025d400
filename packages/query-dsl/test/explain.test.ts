import { describe, expect, it } from 'vitest';
import { diagnose, FilterSyntaxError, fromQueryParam, parse, printFilter, safeParse } from '../src/index.ts';

describe('diagnose', () => {
  it('returns the first problem of each clause and the clauses that are right', () => {
    const text = 'tlk_minutes:[2 TO 5],talk_minutes:[2 to 5,date_added:[2023-02-30 00:00:00 TO *],inc_gce:1,';
    const { filter, problems, warnings } = diagnose(text);
    expect(printFilter(filter)).toBe('inc_gce:1');
    expect(problems.map(({ code, start }) => [code, start])).toEqual([
      ['unknown_field', 0],
      ['syntax', 37],
      ['bound', 62],
      ['syntax', text.length - 1],
    ]);
    expect(warnings).toEqual([]);
  });

  it('corrects several mistakes in one clause', () => {
    const { problems } = diagnose('Talk_Minutes:[ +2 to "5" ]');
    expect(problems.map(({ found }) => found)).toEqual(['Talk_Minutes']);
    const corrected = safeParse('Talk_Minutes:[ +2 to "5" ]', { lenient: true });
    expect(corrected.ok && printFilter(corrected.filter)).toBe('talk_minutes:[2 TO 5]');
  });

  it('warns about the clauses that are right', () => {
    expect(diagnose('talk_minutes:[* TO *],inc_gce:2').warnings).toMatchObject([{ code: 'any_value' }]);
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
        message: '"inc_gce" accepts only the value 1. Write "inc_gce:1", or leave it out.',
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
        'FilterSyntaxError: Expected " TO " between the two bounds, with one space on each side; found "to". Write "talk_minutes:[2 TO 5]".',
      );
      expect(error).toMatchObject({
        code: 'syntax',
        start: 16,
        end: 18,
        found: 'to',
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
