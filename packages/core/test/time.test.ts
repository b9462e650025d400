import { ConfigurationError } from '@call-attribution/core';
import {
  addDays,
  addMonths,
  day,
  durationMillis,
  formatNaive,
  formatNaiveTenths,
  formatOffset,
  instantOf,
  instantsOf,
  isTimeZone,
  naiveAt,
  offsetAt,
  parseDuration,
  parseNaive,
  parseTime,
} from '@call-attribution/core/time';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const instants = fc
  .integer({ min: Date.UTC(2000, 0), max: Date.UTC(2040, 0) })
  .map((time) => Math.floor(time / 1000) * 1000);
const zones = [
  'America/New_York',
  'Europe/Berlin',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'UTC',
];

describe('naive times', () => {
  test('every time that is written is read again', () => {
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(1000, 0), max: Date.UTC(9999, 11, 31) }), (millis) => {
        const seconds = Math.floor(millis / 1000) * 1000;
        expect(parseNaive(formatNaive(millis))).toBe(seconds);
        expect(parseNaive(formatNaiveTenths(millis))).toBe(Math.floor(millis / 100) * 100);
        expect(formatNaive(millis)).toBe(
          new Date(millis).toISOString().slice(0, 19).replace('T', ' '),
        );
      }),
    );
  });
  test.each([
    ['2026-11-01 00:00:00', Date.UTC(2026, 10, 1)],
    ['2026-11-01 08:30:05.5', Date.UTC(2026, 10, 1, 8, 30, 5, 500)],
    ['0050-01-01 00:00:00', Date.parse('0050-01-01T00:00:00Z')],
    ['2024-02-29 00:00:00', Date.UTC(2024, 1, 29)],
  ])('%s is %i', (text, millis) => expect(parseNaive(text)).toBe(millis));
  test.each([
    '2023-02-29 00:00:00',
    '2024-04-31 00:00:00',
    '2024-13-01 00:00:00',
    '2024-01-01 24:00:00',
    '2024-01-01 12:60:00',
    '2024-01-01T00:00:00',
    '2024-01-01',
    '0000-00-00 00:00:00',
    '2024-01-01 00:00:00Z',
    '',
    null,
    5,
  ])('%j is not a naive time', (text) => expect(parseNaive(text)).toBeNaN());
  test.each([
    ['2026-11-20', '2026-11-20 00:00:00', true],
    [' 2026-11-20 14:30 ', '2026-11-20 14:30:00', false],
    ['2026-11-20T14:30:05', '2026-11-20 14:30:05', false],
    ['2026-11-20 14:30:05.250', '2026-11-20 14:30:05', false],
  ])('a person may type %j', (text, wire, isWholeDay) => {
    const time = parseTime(text);
    expect([formatNaive(time?.millis ?? 0), time?.isWholeDay]).toEqual([wire, isWholeDay]);
  });
  test.each([
    '2026-02-30',
    '25:00',
    '2026-11-20 24:00',
    '2026-11-20T14:30:00Z',
    '2026-11-20 14:30+01:00',
    '',
  ])('%j is refused as a typed time', (text) => expect(parseTime(text)).toBeNull());
  test.each([
    ['2026-03-31 12:00:00', -1, '2026-02-28 12:00:00'],
    ['2026-01-15 12:00:00', -13, '2024-12-15 12:00:00'],
    ['2024-01-31 00:00:00', 1, '2024-02-29 00:00:00'],
    ['2026-12-01 00:00:00', 1, '2027-01-01 00:00:00'],
    ['2026-10-31 00:00:00', 0, '2026-10-31 00:00:00'],
  ])('%s and %i months is %s', (from, count, to) => {
    expect(formatNaive(addMonths(parseNaive(from), count))).toBe(to);
  });
  test('days are added to dates across months and years', () => {
    expect([addDays('2026-12-31', 1), addDays('2024-03-01', -1)]).toEqual([
      '2027-01-01',
      '2024-02-29',
    ]);
  });
});

describe('durations', () => {
  test.each([
    ['250ms', 250],
    ['1.5h', 5_400_000],
    ['90m', 5_400_000],
    ['7d', 7 * day],
    ['2w', 14 * day],
  ] as const)('%s is %i milliseconds', (text, millis) => {
    expect([parseDuration(text), durationMillis(text, 'size')]).toEqual([millis, millis]);
  });
  test.each(['', '7', 'd', '-1d', '1y', '1 d', '7dd'])('%j is not a duration', (text) => {
    expect(parseDuration(text)).toBeNaN();
    expect(() => durationMillis(text as '1d', 'settle')).toThrow(/^settle is/);
  });
  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, null])(
    '%j is not a number of milliseconds',
    (value) => {
      expect(() => durationMillis(value as number, 'settle')).toThrow(ConfigurationError);
    },
  );
});

describe('time zones', () => {
  test('only names of zones are zones', () => {
    expect(['America/New_York', 'UTC', 'Europe/Berlin'].every(isTimeZone)).toBe(true);
    expect(['+02:00', 'Eastern', 'Mars/Base', ''].some(isTimeZone)).toBe(false);

    // Letters that mean one offset the whole year, or several places.
    expect(['EST', 'mst', 'PST', 'IST', 'BST'].some(isTimeZone)).toBe(false);
    expect(['GMT', 'utc', 'CET', 'EST5EDT', 'HST', 'GB'].every(isTimeZone)).toBe(true);
  });
  test('an instant shown by the clocks of a zone is found again', () => {
    fc.assert(
      fc.property(instants, fc.constantFrom(...zones), (instant, zone) => {
        const naive = naiveAt(instant, zone);
        expect(instantsOf(naive, zone)).toContain(instant);
        expect(naive - offsetAt(instant, zone)).toBe(instant);
      }),
    );
  });
  test('a gap holds no instant and a repeated hour holds two', () => {
    expect(instantsOf(parseNaive('2026-03-08 02:30:00'), 'America/New_York')).toEqual([]);
    expect(instantsOf(parseNaive('2026-11-01 01:30:00'), 'America/New_York')).toEqual([
      Date.UTC(2026, 10, 1, 5, 30),
      Date.UTC(2026, 10, 1, 6, 30),
    ]);
  });
  test.each([
    ['2026-03-08 02:30:00', 'America/New_York', '2026-03-08 03:30:00'],
    ['2026-10-04 02:15:00', 'Australia/Lord_Howe', '2026-10-04 02:45:00'],
    ['2011-12-30 12:00:00', 'Pacific/Apia', '2011-12-31 12:00:00'],
  ])('%s in %s is moved by the length of the gap to %s', (text, zone, moved) => {
    const { epochMs, certainty } = instantOf(parseNaive(text), zone);
    expect([formatNaive(naiveAt(epochMs, zone)), certainty]).toEqual([moved, 'skipped']);
  });
  test.each([
    [-5, '-05:00'],
    [5.75, '+05:45'],
    [0, '+00:00'],
    [-3.5, '-03:30'],
  ])('an offset of %d hours is written %s', (hours, text) => {
    expect(formatOffset(hours * 3_600_000)).toBe(text);
  });
});
