import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { applyFix, diagnose, parse, printFilter, safeParse } from '../src/index.ts';

// `mistakes.txt` holds what people write and what they read then. It is meant to be read in one go.
const [, ...groups] = readFileSync(new URL('mistakes.txt', import.meta.url), 'utf8').split('\n## ');
const unescaped = (line: string): string => JSON.parse(`"${line.replaceAll('"', '\\"')}"`);

interface Mistake {
  readonly text: string;
  readonly problem: {
    readonly code: string;
    readonly start: number;
    readonly end: number;
    readonly message: string;
  };
  readonly fixed: string | undefined;
}

function toMistake(entry: string): Mistake {
  const [text = '', about = '', fixed = ''] = entry.trim().split(/\n {2}/);
  const [, code = '', start, end, message = ''] = /^(\w+) (\d+)-(\d+): (.*)$/.exec(about) ?? [];
  return {
    text: unescaped(text),
    problem: { code, start: Number(start), end: Number(end), message: unescaped(message) },
    fixed: fixed === '=>' ? undefined : unescaped(fixed.slice('=> '.length)),
  };
}

describe.each(groups.map((group) => group.split(/\n\n/)))('%s', (_, ...entries) => {
  it.each(entries.map(toMistake))('$text is explained', ({ text, problem, fixed }) => {
    const result = safeParse(text);
    if (result.ok) throw new Error(`accepted as ${printFilter(result.filter)}`);
    const { code, start, end, message } = result.problem;
    expect({ code, start, end, message }).toEqual(problem);
    expect(applyFix(text, result.problem)).toBe(fixed);
  });

  it.each(entries.map(toMistake))(
    '$text is corrected in lenient reading, or refused',
    ({ text, problem, fixed }) => {
      const result = safeParse(text, { lenient: true });
      if (fixed === undefined) {
        expect(result).toMatchObject({ ok: false, problem });
        return;
      }
      if (!result.ok) throw new Error(result.problem.message);
      expect(result.text).toBe(fixed);
      expect(printFilter(result.filter)).toBe(printFilter(parse(fixed)));
      expect(result.warnings[0]).toMatchObject({ ...problem, fix: expect.anything() });
    },
  );
});

it('a number of 400 digits is refused', () => {
  expect(safeParse(`talk_minutes:[1${'0'.repeat(400)} TO *]`)).toMatchObject({
    ok: false,
    problem: {
      code: 'bound',
      start: 14,
      end: 415,
      message: 'A number may have at most 99 digits before the decimal point.',
      fix: undefined,
    },
  });
});

describe('a filter for one version', () => {
  const fieldsOfV2 = 'Fields that can be filtered: date_added and talk_minutes.';
  it.each([
    [
      'inc_gce:1',
      'unknown_field',
      0,
      7,
      '"inc_gce" works only in v3, and this filter is for v2. Leave it out, or use v3.',
    ],
    [
      'talk_minutes:[2 TO 5],inc_gce:1',
      'unknown_field',
      22,
      29,
      '"inc_gce" works only in v3, and this filter is for v2. Leave it out, or use v3.',
    ],
    [
      'Inc_Gce:1',
      'unknown_field',
      0,
      7,
      '"inc_gce" works only in v3, and this filter is for v2. Leave it out, or use v3.',
    ],
    ['ppc_campaign:Brand', 'unknown_field', 0, 12, `"ppc_campaign" cannot be filtered. ${fieldsOfV2}`],
    ['baseuri:[1 TO 2]', 'unknown_field', 0, 7, `"baseuri" cannot be filtered. ${fieldsOfV2}`],
  ] as const)('%j is explained for v2', (text, code, start, end, message) => {
    const result = safeParse(text, { version: 'v2' });
    expect(result).toMatchObject({ ok: false, problem: { code, start, end, message, fix: undefined } });
  });

  it('includes the fields of the caller', () => {
    expect(safeParse('rank:[1 TO 2]', { fields: { smart_minutes: 'decimal' } })).toMatchObject({
      problem: { message: expect.stringContaining('date_added, talk_minutes, inc_gce and smart_minutes.') },
    });
  });
});

describe('a string with several problems', () => {
  const text = 'talk_minuts:[2 to 5] and date_added:[2026-10-01 - 2026-10-31],';
  const fixed = 'talk_minutes:[2 TO 5], date_added:[2026-10-01 00:00:00 TO 2026-11-01 00:00:00}';

  it('has one fix for all of them', () => {
    const { problems } = diagnose(text);
    expect(problems.map(({ found }) => found)).toEqual(['talk_minuts', 'and', ',']);
    for (const problem of problems) expect(applyFix(text, problem)).toBe(fixed);
  });

  it('is corrected in lenient reading, which returns what was wrong with each clause', () => {
    const result = safeParse(text, { lenient: true });
    expect(result).toMatchObject({ ok: true, text: fixed });
    if (result.ok) expect(result.warnings).toEqual(diagnose(text).problems);
  });

  it('has no fix when one of them has none', () => {
    const { problems } = diagnose(`${text}ppc_campaign:Brand`);
    expect(problems.every(({ fix }) => fix === undefined)).toBe(true);
  });

  it('is corrected when the mistakes show only after it is decoded', () => {
    const encoded = 'talk_minutes%3A%5B9%20to%202%5D';
    const result = safeParse(encoded, { lenient: true });
    expect(result).toMatchObject({
      ok: true,
      text: 'talk_minutes:[2 TO 9]',
      warnings: [{ code: 'syntax' }],
    });
  });

  it('causes no warnings when nothing has to be changed', () => {
    const valid = 'talk_minutes:[2 TO 5]';
    expect(safeParse(valid, { lenient: true })).toMatchObject({ ok: true, text: valid, warnings: [] });
  });
});
