import { describe, expect, it } from 'vitest';
import { chooseFilter } from '../../src/arguments/filter.ts';
import { failureOf } from '../support/failure-of.ts';

describe('chooseFilter', () => {
  it.each([
    [{}, ''],
    [{ from: '2026-11-01', to: '2026-11-30' }, 'date_added:[2026-11-01 00:00:00 TO 2026-12-01 00:00:00}'],
    [{ from: '2026-11-01 08:30:00' }, 'date_added:[2026-11-01 08:30:00 TO *]'],
    [{ to: '2026-11-01T09:00' }, 'date_added:[* TO 2026-11-01 09:00:00}'],
    [{ to: '2024-02-29' }, 'date_added:[* TO 2024-03-01 00:00:00}'],
    [{ min_talk_minutes: 2 }, 'talk_minutes:[2 TO *]'],
    [{ min_talk_minutes: 0.25 }, 'talk_minutes:[0.3 TO *]'],
    [{ min_talk_minutes: 2.04 }, 'talk_minutes:[2.1 TO *]'],
    [{ min_talk_minutes: 1.1 }, 'talk_minutes:[1.1 TO *]'],
    [{ include_call_extensions: true }, 'inc_gce:1'],
    [{ q: 'talk_minutes:[1 TO *],inc_gce:1' }, 'talk_minutes:[1 TO *],inc_gce:1'],
  ])('turns %j into %j', (args, text) => {
    expect(chooseFilter(args, 'v3').text).toBe(text);
  });

  it.each([
    [{ q: 'x', from: '2026-01-01' }, 'cannot be combined'],
    [{ from: '2026-02-30' }, 'not a valid date or time'],
    [{ from: '2026-11-01T00:00:00Z' }, 'no time zone'],
    [{ from: 'yesterday' }, 'Write from as YYYY-MM-DD'],
    [{ from: '2026-11-02', to: '2026-11-01' }, 'The range is empty'],
    [{ q: 'talk_minute:[1 TO *]' }, 'talk_minutes'],
    [{ q: 'talk_minutes:[1 TO' }, 'check_filter'],
  ])('refuses %j: %s', (args, text) => {
    expect(failureOf(() => chooseFilter(args, 'v3'))).toContain(text);
  });

  it('notes that v3 leaves call extensions out unless they are requested', () => {
    expect(chooseFilter({}, 'v3').notes.join()).toContain('left out');
    expect(chooseFilter({ include_call_extensions: true }, 'v3').notes).toEqual([]);
    expect(chooseFilter({}, 'v2').notes).toEqual([]);
    expect(chooseFilter({ include_call_extensions: true }, 'v2').notes.join()).toContain('no switch');
  });
});
