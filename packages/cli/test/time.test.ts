import { describe, expect, test } from 'vitest';
import { type Present, readLast, readRange } from '../src/args/time.ts';
import { periodText } from '../src/reading/period.ts';

const at = (now: string, timeZone: string | null): Present => ({ now: Date.parse(now), timeZone });

const relative: [string, string, string, string][] = [
  // text, now, zone, wall clock
  ['7d', '2026-11-05T12:00:00Z', 'America/New_York', '2026-10-29 07:00:00'],
  // Clocks go back on 1 November: one day is 25 hours, but the same time of day.
  ['1d', '2026-11-01T17:00:00Z', 'America/New_York', '2026-10-31 12:00:00'],
  ['24h', '2026-11-01T17:00:00Z', 'America/New_York', '2026-10-31 13:00:00'],
  // 02:30 does not exist on 8 March: the clock jumps to 03:00.
  ['1d', '2026-03-09T06:30:00Z', 'America/New_York', '2026-03-08 03:30:00'],
  // On Lord Howe Island the clock jumps by half an hour, from 02:00 to 02:30.
  ['1d', '2026-10-04T15:45:00Z', 'Australia/Lord_Howe', '2026-10-04 02:45:00'],
  ['90m', '2026-03-08T07:30:00Z', 'America/New_York', '2026-03-08 01:00:00'],
  ['1mo', '2026-03-31T12:00:00Z', 'UTC', '2026-02-28 12:00:00'],
  ['13mo', '2026-01-15T12:00:00Z', 'UTC', '2024-12-15 12:00:00'],
  // At 02:00 on 1 November clocks go back to 01:00: calls of the second pass have times before those of the first.
  ['30m', '2026-11-01T06:10:00Z', 'America/New_York', '2026-11-01 01:00:00'],
  ['30m', '2026-11-01T06:40:00Z', 'America/New_York', '2026-11-01 01:10:00'],
  ['2h', '2026-11-01T06:40:00Z', 'America/New_York', '2026-11-01 00:40:00'],
  ['20m', '2026-04-04T15:10:00Z', 'Australia/Lord_Howe', '2026-04-05 01:30:00'],
  ['2w', '2026-11-21T12:00:00Z', 'Europe/Berlin', '2026-11-07 13:00:00'],
];
test.each(relative)('--last %s at %s in %s begins at %s', (text, now, zone, wall) => {
  expect(readLast(text, at(now, zone))).toBe(wall);
});

test.each([
  ['today', '2026-11-21T03:00:00Z', 'America/New_York', '2026-11-20 00:00:00'],
  ['yesterday', '2026-11-21T03:00:00Z', 'America/New_York', '2026-11-19 00:00:00'],
  ['yesterday', '2026-11-21T03:00:00Z', 'Asia/Kolkata', '2026-11-20 00:00:00'],
  // Samoa had no December 30, 2011; in Brazil some days began at 01:00.
  ['yesterday', '2011-12-30T20:00:00Z', 'Pacific/Apia', '2011-12-29 00:00:00'],
  ['yesterday', '2011-12-31T20:00:00Z', 'Pacific/Apia', '2011-12-31 00:00:00'],
  ['yesterday', '2017-10-15T12:00:00Z', 'America/Sao_Paulo', '2017-10-14 00:00:00'],
  ['yesterday', '2018-02-18T12:00:00Z', 'America/Sao_Paulo', '2018-02-17 00:00:00'],
])('--period %s at %s in %s begins at %s', (text, now, zone, wall) => {
  expect(readRange({ period: text }, at(now, zone)).from).toBe(wall);
  expect(readRange({ from: text }, at(now, zone))).toEqual({ from: wall, to: null });
});

const zoneless = at('2026-11-21T12:00:00Z', null);
const readFrom = (text: string) => readRange({ from: text }, zoneless).from;
const readTo = (text: string) => readRange({ to: text }, zoneless).to;

test('absolute times need no time zone and stay as typed', () => {
  expect(readFrom('2026-11-20')).toBe('2026-11-20 00:00:00');
  expect(readFrom('2026-11-20 14:30')).toBe('2026-11-20 14:30:00');
  expect(readFrom('2026-11-20T14:30:05')).toBe('2026-11-20 14:30:05');
});

test.each(['today', 'yesterday', '7d'])('%s without a time zone is refused, never guessed', (text) => {
  const read = () => (text === '7d' ? readLast(text, zoneless) : readRange({ period: text }, zoneless));
  expect(read).toThrow(/needs a time zone/);
});

test.each(['period', 'from', 'to'])('--%s 7d is refused, and the way out is said', (name) => {
  const read = () => readRange({ [name]: '7d' }, zoneless);
  expect(read).toThrow('"7d" is a length of time, not a time');
  expect(read).toThrow(expect.objectContaining({ hints: ['--last 7d is a period that ends now'] }));
});

test.each([
  ['7', '7 what? write 7d for days'],
  ['2026-11-20', 'write it as 90m, 12h, 7d, 2w or 3mo'],
  ['yesterday', 'write it as 90m'],
  ['-7d', 'write it as 90m'],
])('--last %s is refused, and the way out is said', (text, hint) => {
  const read = () => readLast(text, at('2026-11-21T12:00:00Z', 'UTC'));
  expect(read).toThrow(/^--last must be a duration, not/);
  expect(read).toThrow(expect.objectContaining({ hints: [expect.stringContaining(hint)] }));
});

test.each([
  '2026-02-30',
  '2026-13-01',
  '25:00',
  '7',
  '-7d',
  '2026-11-20 24:00:00',
  '2026-11-20 10:00:00.5',
  '',
])('it refuses %j as a time', (text) => {
  expect(() => readFrom(text)).toThrow(/^from is ".*", which is not a time that exists/);
});

test.each([
  ['2026-11-20', '2026-11-21 00:00:00'],
  ['2026-12-31', '2027-01-01 00:00:00'],
  ['2024-02-28', '2024-02-29 00:00:00'],
  ['2026-11-20 00:00', '2026-11-20 00:00:00'],
  ['2026-11-20 23:59:59', '2026-11-20 23:59:59'],
])('%s as an end includes a day and excludes a time: it is %s', (text, end) => {
  expect(readTo(text)).toBe(end);
});

test('a period is a half-open range', () => {
  const clock = at('2026-11-21T12:00:00Z', 'UTC');
  const readPeriod = (period: string) => readRange({ period }, clock);
  expect(readPeriod('2026-11')).toEqual({
    from: '2026-11-01 00:00:00',
    to: '2026-12-01 00:00:00',
  });
  expect(readPeriod('2026-12')).toEqual({
    from: '2026-12-01 00:00:00',
    to: '2027-01-01 00:00:00',
  });
  expect(readPeriod('2026-02-28')).toEqual({
    from: '2026-02-28 00:00:00',
    to: '2026-03-01 00:00:00',
  });
  expect(readPeriod('yesterday')).toEqual({
    from: '2026-11-20 00:00:00',
    to: '2026-11-21 00:00:00',
  });
  expect(readPeriod('last month')).toEqual({
    from: '2026-10-01 00:00:00',
    to: '2026-11-01 00:00:00',
  });
  expect(readPeriod('since 2026-11-05')).toEqual({ from: '2026-11-05 00:00:00', to: null });
  expect(() => readPeriod('2026-11-05 to 2026-11-01')).toThrow(/ends before it begins/);
});

describe('the period that a command says', () => {
  test.each<[{ from: string | null; to: string | null }, string | null, string | null]>([
    [{ from: null, to: null }, 'UTC', null],
    [
      { from: '2026-10-01 00:00:00', to: '2026-11-01 00:00:00' },
      'America/New_York',
      '2026-10-01 00:00:00 to 2026-10-31 23:59:59, America/New_York',
    ],
    [{ from: '2026-10-01 12:30:00', to: null }, 'UTC', 'from 2026-10-01 12:30:00, UTC'],
    [
      { from: null, to: '2026-10-02 00:00:00' },
      null,
      'up to 2026-10-01 23:59:59, in the time zone of the account',
    ],
  ])('%j in %s is %j', (range, zone, text) => {
    expect(periodText(range, zone)).toBe(text);
  });
});
