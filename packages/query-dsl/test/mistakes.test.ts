import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { applyFix, safeParse } from '../src/index.ts';

// `mistakes.txt` holds what people write and what they read then. It is meant to be read in one go.
const [, ...groups] = readFileSync(new URL('mistakes.txt', import.meta.url), 'utf8').split('\n## ');
const unescaped = (line: string): string => JSON.parse(`"${line.replaceAll('"', '\\"')}"`);

function toMistake(entry: string) {
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
    if (result.ok) throw new Error('accepted');
    expect(result.problem).toMatchObject(problem);
    expect(applyFix(text, result.problem)).toBe(fixed);
  });
});

it('a number of 400 digits is refused, and so is a range without its end', () => {
  const result = safeParse(`talk_minutes:[1${'0'.repeat(400)} TO *]`);
  expect(result).toMatchObject({ ok: false, problem: { fix: undefined } });
  expect(safeParse('talk_minutes:[2 TO')).toMatchObject({ problem: { code: 'bound', start: 18 } });
});

describe('a filter for one version', () => {
  const onlyV3 = '"inc_gce" works only in v3, and this filter is for v2. Leave it out, or use v3.';
  const ofV2 = 'Expected "date_added" or "talk_minutes" at position 0, found';
  it.each([
    ['inc_gce:1', 'unknown_field', 0, onlyV3],
    ['talk_minutes:[2 TO 5],inc_gce:1', 'unknown_field', 22, onlyV3],
    ['Inc_Gce:1', 'unknown_field', 0, onlyV3],
    [
      'ppc_campaign:Brand',
      'unknown_field',
      0,
      `${ofV2} "ppc_campaign". For example: talk_minutes:[2 TO *]`,
    ],
    [
      'baseuri:[1 TO 2]',
      'unknown_field',
      0,
      `${ofV2} "baseuri". For example: talk_minutes:[2 TO *]`,
    ],
  ] as const)('%j is explained for v2', (text, code, start, message) => {
    const result = safeParse(text, { version: 'v2' });
    expect(result).toMatchObject({ ok: false, problem: { code, start, message, fix: undefined } });
  });

  it('includes the fields of the caller', () => {
    expect(safeParse('rank:[1 TO 2]', { fields: { smart_minutes: 'decimal' } })).toMatchObject({
      problem: { expected: ['date_added', 'talk_minutes', 'inc_gce', 'smart_minutes'] },
    });
  });
});

it('a string with several mistakes has one problem, the first, and a fix for all', () => {
  const text = 'talk_minuts:[2 to 5] and date_added:[2026-10-01 - 2026-10-31],';
  const fixed = 'talk_minutes:[2 TO 5],date_added:[2026-10-01 00:00:00 TO 2026-11-01 00:00:00}';
  const result = safeParse(text);
  if (result.ok) throw new Error('accepted');
  expect(result.problem).toMatchObject({ found: 'talk_minuts', suggestions: ['talk_minutes'] });
  expect(applyFix(text, result.problem)).toBe(fixed);
  expect(safeParse(`${text}ppc_campaign:Brand`)).toMatchObject({ problem: { fix: undefined } });
});
