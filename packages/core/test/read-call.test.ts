import { ConfigurationError, readCall } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readMoment } from '../src/time/moment.ts';

const zone = 'America/New_York';

describe('readMoment', () => {
  test.each([
    ['2024-01-01 00:00:00', zone, '2024-01-01T00:00:00-05:00', 'exact'],
    ['2024-07-01 12:30:15.4', zone, '2024-07-01T12:30:15.4-04:00', 'exact'],
    ['2024-03-10 01:59:59', zone, '2024-03-10T01:59:59-05:00', 'exact'],
    ['2024-03-10 02:30:00', zone, '2024-03-10T03:30:00-04:00', 'skipped'],
    ['2024-03-10 03:00:00', zone, '2024-03-10T03:00:00-04:00', 'exact'],
    ['2024-11-03 01:30:00', zone, '2024-11-03T01:30:00-04:00', 'repeated'],
    ['2024-11-03 02:00:00', zone, '2024-11-03T02:00:00-05:00', 'exact'],
    ['2024-10-06 02:15:00', 'Australia/Lord_Howe', '2024-10-06T02:45:00+11:00', 'skipped'],
    ['2010-03-14 00:01:30', 'America/St_Johns', '2010-03-14T01:01:30-02:30', 'skipped'],
    ['2010-03-14 01:05:00', 'America/St_Johns', '2010-03-14T01:05:00-02:30', 'exact'],
    ['2010-11-07 00:00:59', 'America/St_Johns', '2010-11-07T00:00:59-02:30', 'repeated'],
    ['2010-11-07 00:01:00', 'America/St_Johns', '2010-11-07T00:01:00-03:30', 'exact'],
    ['0001-01-01 00:00:00', 'UTC', '0001-01-01T00:00:00+00:00', 'exact'],
    ['2011-12-30 12:00:00', 'Pacific/Apia', '2011-12-31T12:00:00+14:00', 'skipped'],
    ['2024-06-01 00:00:00', 'Asia/Kathmandu', '2024-06-01T00:00:00+05:45', 'exact'],
    ['2024-06-01 00:00:00', 'UTC', '2024-06-01T00:00:00+00:00', 'exact'],
  ])('%s in %s is %s, %s', (text, timeZone, iso, certainty) => {
    const moment = readMoment(text, timeZone);
    expect([moment?.iso, moment?.certainty]).toEqual([iso, certainty]);
    expect(moment?.epochMs).toBe(Date.parse(iso));
  });
  test('the second of two equal times is an hour later', () => {
    const moment = readMoment('2024-11-03 01:30:00', zone);
    expect((moment?.otherEpochMs ?? 0) - (moment?.epochMs ?? 0)).toBe(3_600_000);
  });
  test.each([
    '2023-02-30 00:00:00',
    '2024-01-01 24:00:00',
    '2024-01-01',
    '0000-00-00 00:00:00',
    '2024-01-01T00:00:00',
    '',
  ])('%j is not a time', (text) => expect(readMoment(text, zone)).toBeNull());
  test('an exact moment in UTC prints as the text it came from', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
        (date) => {
          const text = date.toISOString().slice(0, 19).replace('T', ' ');
          expect(readMoment(text, 'UTC')?.epochMs).toBe(Math.floor(date.getTime() / 1000) * 1000);
        },
      ),
    );
  });
  test('the clocks of the zone show at the moment what the text says', () => {
    const clock = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'medium',
    });
    fc.assert(
      fc.property(
        fc.date({ min: new Date('2007-01-01'), max: new Date('2030-01-01'), noInvalidDate: true }),
        (date) => {
          const text = date.toISOString().slice(0, 19).replace('T', ' ');
          const moment = readMoment(text, zone);
          if (moment?.certainty !== 'skipped') expect(clock.format(moment?.epochMs)).toBe(text);
        },
      ),
    );
  });
});

describe('readCall', () => {
  test('it returns numbers and moments, and leaves other values as they are', () => {
    const [call] = fixtureCalls(1);
    if (!call) throw new Error('no call');
    const view = readCall(
      { ...call, talk_minutes: '12.5', rank: '2', last_touch_timestamp: null },
      { timeZone: zone },
    );
    expect(view).toMatchObject({
      talk_minutes: 12.5,
      rank: 2,
      last_touch_timestamp: null,
      ani: call.ani,
      unreadable: [],
    });
    expect(view.date_added).toMatchObject({ text: call.date_added, certainty: 'exact' });
  });
  test('without a time zone it says that it needs one', () => {
    const readWithout = readCall as (...given: unknown[]) => unknown;
    expect(() => readWithout(fixtureCalls(1)[0])).toThrow('timeZone must be an IANA name');
  });

  test('it names the fields that it cannot read', () => {
    const [call] = fixtureCalls(1);
    if (!call) throw new Error('no call');
    const view = readCall(
      { ...call, talk_minutes: 'long', talk_start: '0000-00-00 00:00:00.0' },
      { timeZone: zone },
    );
    expect([view.talk_minutes, view.talk_start, view.unreadable]).toEqual([
      null,
      null,
      ['talk_minutes', 'talk_start'],
    ]);
  });
  test.each(['', 'Mars/Olympus', undefined, 5])('it refuses %j as a time zone', (timeZone) => {
    const [call] = fixtureCalls(1);
    expect(() => readCall(call as never, { timeZone } as never)).toThrow(ConfigurationError);
  });
});
