import { everything, formatNaive, periodOf } from '@call-attribution/core/time';
import { expect, test } from 'vitest';
import {
  addressOf,
  controlsOf,
  periodAt,
  readAddress,
  withDays,
  withPeriod,
} from '../browser/state.ts';

test.each(['last 28 days', 'last month', '2026-Q3', 'since 2026-10-01', 'all time'])(
  'the address of the page keeps the period %j',
  (period) => {
    const address = `#${new URLSearchParams({ period })}`;
    expect(readAddress(address).period).toBe(period);
    expect(addressOf(readAddress(address))).toBe(address);
  },
);

test.each(['0d', 'foo', '2026-13', ''])(
  'the period %j in an address is that at first, never all time',
  (period) => {
    expect(readAddress(`#${new URLSearchParams({ period })}`).period).toBe('last 28 days');
  },
);

test.each([
  ['today', '2026-10-20 00:00:00', '2026-10-21 00:00:00'],
  ['last 28 days', '2026-09-22 00:00:00', '2026-10-20 00:00:00'],
  ['last quarter', '2026-07-01 00:00:00', '2026-10-01 00:00:00'],
  ['last 2 hours', '2026-10-20 21:59:58', '2026-10-20 23:59:58'],
  ['since 2026-10-01', '2026-10-01 00:00:00', null],
  ['all time', null, null],
])('%j counts back from now, in the zone of the account', (words, from, to) => {
  const period = periodAt(words, {
    now: Date.parse('2026-10-21T03:59:58Z'),
    timeZone: 'America/New_York',
  });
  const shown = (millis: number | null) => (millis === null ? null : formatNaive(millis));
  expect([shown(period.from), shown(period.to)]).toEqual([from, to]);
});

test('a period that is none is told as everywhere', () => {
  expect(() => periodAt('last moth', { now: 0 })).toThrow(
    `period is "last moth", which is not a period. Did you mean 'last month'?`,
  );
});

test('days and periods become the time of the filter, and nothing else of it changes', () => {
  const q = withDays('talk_minutes:[2 TO *]', { first: '2026-10-01', last: '2026-10-31' });
  expect(q).toBe('date_added:[2026-10-01 00:00:00 TO 2026-11-01 00:00:00},talk_minutes:[2 TO *]');
  expect(controlsOf(q).days).toEqual({ first: '2026-10-01', last: '2026-10-31' });
  expect(withPeriod(q, periodOf(Date.UTC(2026, 0), null))).toBe(
    'date_added:[2026-01-01 00:00:00 TO *],talk_minutes:[2 TO *]',
  );
  expect(withPeriod(q, everything)).toBe('talk_minutes:[2 TO *]');
});
