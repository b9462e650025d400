import { describe, expect, it } from 'vitest';
import { matcher, parse, printFilter, safeParse, simplify } from '../src/index.ts';

const size = 100_000;

describe('a filter with many clauses', () => {
  const parts = Array.from({ length: 10_000 }, (_, index) =>
    index % 2
      ? `talk_minutes:[${index % 7} TO *]`
      : 'date_added:[2024-01-01 00:00:00 TO 2024-02-01 00:00:00}',
  );

  it('is read, printed, simplified and run', () => {
    const text = parts.join(',');
    const filter = parse(text);
    expect(filter.clauses).toHaveLength(10_000);
    expect(printFilter(filter)).toBe(text);
    expect(printFilter(simplify(filter))).toBe(
      'date_added:[2024-01-01 00:00:00 TO 2024-02-01 00:00:00},talk_minutes:[6 TO *]',
    );
    expect(matcher(filter)({ date_added: '2024-01-02 00:00:00', talk_minutes: '6.5' })).toBe(true);
  });
});

describe('a long text that is not a filter', () => {
  it.each([
    ['brackets', '['.repeat(size)],
    ['closing brackets', ']'.repeat(size)],
    ['commas', ','.repeat(size)],
    ['commas in a bracket', `talk_minutes:[${', '.repeat(size)}`],
    ['quotes', '"'.repeat(size)],
    ['quotes around spaces', `talk_minutes:["${' '.repeat(size)}`],
    ['a name', 'a'.repeat(size)],
    ['names', 'a,'.repeat(size)],
    ['a name in a bracket', `talk_minutes:[,${'a'.repeat(size)}`],
    ['spaces', `${' '.repeat(size)}x`],
    ['spaces before TO', `talk_minutes:[2${' '.repeat(size)}TO 5]`],
    ['spaces in a date', `date_added:[2024-01-01${' '.repeat(size)}00:00:00 TO *]`],
    ['tabs', `talk_minutes:[${'\t'.repeat(size)}2 TO 5]`],
    ['zeros', `talk_minutes:[0.${'0'.repeat(size)}1 TO ${'0'.repeat(size)}]`],
    ['digits', `talk_minutes:[${'9'.repeat(size)} TO *]`],
    ['the keyword', `talk_minutes:[${'to '.repeat(size)}`],
    ['open ranges', 'talk_minutes:[2 TO '.repeat(size / 20)],
    ['percent signs', '%20'.repeat(size)],
    ['wide characters', '\u3042'.repeat(size)],
  ])('is read in linear time when it consists of %s', (_, text) => {
    const result = safeParse(text);
    if (result.ok) return;
    expect(result.problem.message.length).toBeLessThan(400);
    expect(result.problem.frame.length).toBeLessThan(300);
  });
});

describe('the frame of a problem', () => {
  const frame = (text: string): string => {
    const result = safeParse(text);
    return result.ok ? '' : result.problem.frame;
  };

  it('puts the caret under the mistake', () => {
    expect(frame('talk_minutes:[2 to 5],inc_gce:1')).toBe(
      'talk_minutes:[2 to 5],inc_gce:1\n               ^^^',
    );
    expect(frame('talk_minutes:[2')).toBe('talk_minutes:[2\n               ^');
  });

  it('shows part of a long text', () => {
    const good = 'talk_minutes:[2 TO 5],'.repeat(20);
    const drawn = frame(`${good}talk_minutes:[2 to 5],${good}inc_gce:1`);
    const [line = '', caret = ''] = drawn.split('\n');
    expect(line.length).toBeLessThan(110);
    expect(line.startsWith('...') && line.endsWith('...')).toBe(true);
    expect(line.slice(caret.indexOf('^'), caret.lastIndexOf('^') + 1)).toBe(' to');
  });

  it('keeps the caret in line under wide characters and shows invisible ones', () => {
    expect(frame('talk_minutes:[2\u00a0TO 5]')).toBe('talk_minutes:[2·TO 5]\n               ^^^');
    expect(frame('talk_minutes:[2 TO 5]\u3042 x')).toContain('\u3042 x\n');
    expect(frame('\u3042\u3042:1')).toBe('\u3042\u3042:1\n^^');
  });
});
