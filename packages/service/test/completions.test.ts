import { safeParse } from '@call-attribution/query-dsl';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completionsAt } from '../browser/completions.ts';

const texts = (text: string, version: 'v2' | 'v3' = 'v3') =>
  completionsAt(text, text.length, version).map((item) => item.text);

describe('the completions of the filter box', () => {
  it.each([
    ['', ['date_added:', 'talk_minutes:', 'inc_gce:1']],
    ['ta', ['talk_minutes:']],
    ['Ta', ['talk_minutes:']],
    ['talk_minutes:[2 TO 5], in', ['inc_gce:1']],
    ['x', []],
    ['inc_gce:', ['1']],
    ['inc_gce:1', [',']],
    ['inc_gce:2', []],
    ['talk_minutes:', ['[', '{']],
    ['talk_minutes:[', ['0', '*']],
    ['talk_minutes:[2', [' TO ']],
    ['talk_minutes:[2.', []],
    ['talk_minutes:[*', [' TO ']],
    ['talk_minutes:[2 ', [' TO ']],
    ['talk_minutes:[2 T', [' TO ']],
    ['talk_minutes:[2 TO ', ['0', '*']],
    ['talk_minutes:[2 TO *', [']', '}']],
    ['talk_minutes:[2 TO 5', [']', '}']],
    ['talk_minutes:[2 TO 5]', [',']],
    ['talk_minutes:[2 TO 5]x', []],
    ['talk_minutes:2', []],
    ['date_added:[', ['YYYY-MM-DD HH:MM:SS', '*']],
    ['date_added:[2024-0', ['2024-0M-DD HH:MM:SS']],
    ['date_added:[2024-01-01', ['2024-01-01 HH:MM:SS']],
    ['date_added:[2024-01-01 ', ['2024-01-01 HH:MM:SS']],
    ['date_added:[2024-01-01 00:0', ['2024-01-01 00:0M:SS']],
    ['date_added:[2024-01-01 00:00:00', [' TO ']],
    ['date_added:[2024-01-01 00:00:00 TO 2024-01-', ['2024-01-DD HH:MM:SS']],
    ['date_added:[2024-01-01 00:00:00 TO 2024-01-01 00', ['2024-01-01 00:MM:SS']],
    ['date_added:[2024-01-01 00:00:00 TO 2024-01-02 00:00:00', [']', '}']],
    ['date_added:[x', []],
  ])('after %j are %j', (text, expected) => {
    expect(texts(text)).toEqual(expected);
  });

  it('respect the version', () => {
    expect(texts('', 'v2')).toEqual(['date_added:', 'talk_minutes:']);
    expect(completionsAt('talk_minutes:', 13, 'v3')[1]?.detail).toContain('documented for v2');
  });

  it('replace the name under the cursor', () => {
    const text = 'inc_gce:1,talk_m:[2 TO 5]';
    expect(completionsAt(text, 13, 'v3')).toMatchObject([{ text: 'talk_minutes:', start: 10, end: 17 }]);
    expect(completionsAt('talk_minutes:[2 T', 17, 'v3')).toMatchObject([{ start: 15, end: 17 }]);
  });

  it('lead to a filter, whichever are taken', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 12, maxLength: 40 }), (choices) => {
        let text = '';
        for (const choice of choices) {
          const items = completionsAt(text, text.length, 'v3');
          const item = items[choice % items.length];
          if (item === undefined) throw new Error(`Nothing is offered after ${text}`);
          const chosen = /[YMDHS]/.test(item.text) ? '2024-02-01 00:00:00' : item.text;
          text = text.slice(0, item.start) + chosen + text.slice(item.end);
          if (/[\]}]$/.test(text)) expect(safeParse(text).ok).toBe(true);
        }
      }),
    );
  });
});
