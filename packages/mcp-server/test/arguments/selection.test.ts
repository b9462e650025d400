import { fields } from '@call-attribution/core';
import { describe, expect, it } from 'vitest';
import { choose, type SelectionArguments } from '../../src/arguments/selection.ts';
import { filterOf } from '../../src/copy/copy.ts';
import { failureOf } from '../support/failure-of.ts';

const now = Date.parse('2026-11-22T15:00:00Z');
const chosen = (args: SelectionArguments, version: 'v2' | 'v3' = 'v3') =>
  choose(args, { version, fields, reveal: new Set(), now: () => now, timeZone: 'America/New_York' });
const filter = (args: SelectionArguments) => filterOf(chosen(args).period, args.calls === 'all');

describe('choose', () => {
  it.each([
    [{}, ''],
    [{ from: '2026-11-01', to: '2026-11-30' }, 'date_added:[2026-11-01 00:00:00 TO 2026-11-30 23:59:59]'],
    [{ from: '2026-11-01 08:30:00' }, 'date_added:[2026-11-01 08:30:00 TO *]'],
    [{ to: '2026-11-01T09:00' }, 'date_added:[* TO 2026-11-01 08:59:59]'],
    [{ to: '2026-11-01 23:59:59' }, 'date_added:[* TO 2026-11-01 23:59:58]'],
    [{ to: '2024-02-29' }, 'date_added:[* TO 2024-02-29 23:59:59]'],
    [{ from: '2026-10', to: '2026-10' }, 'date_added:[2026-10-01 00:00:00 TO 2026-10-31 23:59:59]'],
    [{ from: '28d', to: 'yesterday' }, 'date_added:[2026-10-25 00:00:00 TO 2026-11-21 23:59:59]'],
    [{ from: 'today' }, 'date_added:[2026-11-22 00:00:00 TO *]'],
    [{ period: 'last month' }, 'date_added:[2026-10-01 00:00:00 TO 2026-10-31 23:59:59]'],
    [{ period: '2026-Q3' }, 'date_added:[2026-07-01 00:00:00 TO 2026-09-30 23:59:59]'],
    [{ calls: 'all' as const }, 'inc_gce:1'],
  ])('turns %j into %j', (args, text) => {
    expect(filter(args)).toBe(text);
  });

  it.each([
    [{ period: 'today', from: '2026-01-01' }, 'leave out from and to'],
    [{ period: 'last fortnight' }, 'last month'],
    [{ where: "state = 'TX" }, 'where: '],
    [{ where: "ani = '6125550147'" }, 'ani cannot be compared with that'],
    [{ where: "ani LIKE '612%'" }, 'ani cannot be compared with that'],
    [{ where: "search_term LIKE '%6125550147%'" }, 'search_term cannot be compared with that'],
    [
      { from: '2026-02-30' },
      'from is "2026-02-30", which is not a time that exists. Did you mean 2026-02-28?',
    ],
    [{ to: '2026-09-31 12:00:00' }, 'Did you mean 2026-09-30 12:00:00?'],
    [{ from: '2026/11/1' }, 'Did you mean 2026-11-01?'],
    [{ from: '2026-11-01T00:00:00Z' }, 'no time zone. Did you mean 2026-11-01 00:00:00?'],
    [{ from: 'last weak' }, "Did you mean 'last week'?"],
    [{ from: '2026-11-02', to: '2026-11-01' }, 'Did you mean from 2026-11-01 and to 2026-11-02?'],
    [{ from: '2026-11-02 09:00:00', to: '2026-11-02 09:00:00' }, 'is not before to (2026-11-02 09:00:00)'],
    [{ time_zone: 'America/New_Yrok' }, 'Did you mean America/New_York?'],
  ])('refuses %j: %s', (args, text) => {
    expect(failureOf(() => chosen(args))).toContain(text);
  });

  it('leaves call extensions out in v3 unless they are requested, and counts them in v2', () => {
    expect(chosen({}).selection.calls).toBe('website');
    expect(chosen({ calls: 'all' }).selection.calls).toBe('all');
    expect(chosen({}, 'v2')).toMatchObject({ selection: { calls: 'all' } });
    expect(chosen({}, 'v2').notes.join()).toContain('always counts calls through call extensions');
    expect(chosen({ calls: 'website' }, 'v2').notes).toEqual([]);
  });
});
