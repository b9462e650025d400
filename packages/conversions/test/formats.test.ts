import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { e164 } from '../src/eligible.ts';
import { ValueRulesError } from '../src/errors.ts';
import type { Reason, SheetFormat, SheetOptions } from '../src/format.ts';
import { sheetFormats } from '../src/formats.ts';
import { readSheet, sheetLine } from '../src/sheet.ts';
import { readValueRules, valueByRules } from '../src/value.ts';
import { callWith } from './calls.ts';

const options: SheetOptions = {
  timeZone: 'America/New_York',
  conversionName: 'Phone lead',
  currency: 'USD',
  value: () => 25,
  now: Date.parse('2026-11-21T12:00:00Z'),
};

const tagged =
  'https://shop.example/?gclid=Cj0KCQ_click-1&msclkid=f894f652ea334e739002f7167ab8f8e3&k_clickid=kc-77_a&mkwid=s8Hx2k&pcrid=5551234';
const extension = { channel: 'Call Extension', first_touch: tagged };

// The calls of the golden files: plain, an odd name, before and after the clock change, no talk.
const calls = [
  callWith({ ...extension }),
  callWith({
    ...extension,
    sid: '1000000002',
    date_added: '2026-10-30 23:59:59',
    talk_end: null,
    talk_minutes: '0.0',
    ani: '+442079460123',
  }),
  callWith({
    ...extension,
    sid: '1000000003',
    date_added: '2026-11-17 00:00:00',
    talk_end: '2026-11-17 00:01:00.0',
    ani: '(202) 555-0199',
  }),
];

function sheetOf(format: SheetFormat, set: SheetOptions = options): string {
  const rows = calls.flatMap((call) => {
    const outcome = format.row(call, set);
    return 'row' in outcome ? [outcome.row] : [];
  });
  return [...format.head(set), ...rows].map((cells) => sheetLine(cells, format.delimiter)).join('');
}

describe.each(sheetFormats.map((format) => [format.name, format] as const))('%s', (name, format) => {
  test('makes the golden sheet, and its own validator takes it', () => {
    const sheet = sheetOf(format);
    expect(sheet).toBe(readFileSync(new URL(`golden/${name}.txt`, import.meta.url), 'utf8'));
    expect(format.validate(sheet, options)).toEqual([]);
  });

  test('without values the sheet is still valid', () => {
    const { value: _, currency: __, ...plain } = options;
    expect(format.validate(sheetOf(format, plain), plain)).toEqual([]);
  });

  test('the validator names the line of every kind of fault', () => {
    const { lines } = readSheet(sheetOf(format), format.delimiter);
    const head = format.head(options).length;
    const change = (line: number, column: number, cell: string): string =>
      lines
        .map((cells, at) =>
          sheetLine(
            at === line ? cells.map((old, c) => (c === column ? cell : old)) : cells,
            format.delimiter,
          ),
        )
        .join('');
    const faults = (text: string) => format.validate(text, options).map((problem) => problem.line);
    expect(faults(change(head - 1, 0, 'Wrong heading'))).toContain(head);
    for (const column of format.head(options)[head - 1]?.keys() ?? []) {
      expect(faults(change(head, column, 'a person <someone@example.com>')), `column ${column}`).toContain(
        head + 1,
      );
    }
    const short = lines
      .map((cells, at) => sheetLine(at === head ? cells.slice(1) : cells, format.delimiter))
      .join('');
    expect(faults(short)).toContain(head + 1);
    expect(format.validate('', options).length).toBeGreaterThan(0);
  });

  test('holds no name, address, mail or IP of a caller, and a number only where the tool matches by it', () => {
    const call = callWith({
      ...extension,
      first_name: 'Personal-First',
      last_name: 'Personal-Last',
      street_address: 'Personal-Street 1',
      city: 'Personal-City',
      zipcode: '99999',
      ip_address: '203.0.113.77',
      recording: 'https://recordings.example/personal',
      ani: '2025550123',
    });
    const outcome = format.row(call, options);
    const text = JSON.stringify('row' in outcome ? outcome.row : []);
    expect(text).not.toMatch(/Personal|99999|203\.0\.113\.77|recordings/);
    expect(/2025550123/.test(text)).toBe(name === 'google-ads-calls');
  });

  test('needs the zone: without one every call is left out for that reason', () => {
    expect(format.row(calls[0] ?? callWith(), { ...options, timeZone: null })).toEqual({
      reason: 'zone_missing',
    });
  });
});

const clicks = sheetFormats.filter((format) => format.name !== 'google-ads-calls');
const limited = sheetFormats.filter((format) => !['skai', 'marin'].includes(format.name));
const withStatus = sheetFormats.filter((format) => format.name !== 'skai');
const noClick = {
  first_touch: null,
  last_touch: null,
  url_tag: '',
  ppc_gclid: null,
  landing_page: null,
  conversion_page: null,
};

const leftOut: [Reason, readonly SheetFormat[], Record<string, unknown>][] = [
  ['no_click_id', clicks, noClick],
  [
    'no_click_id',
    clicks,
    {
      ...noClick,
      ppc_gclid: '=HYPERLINK("x")',
      first_touch: 'https://x.example/?gclid=%3Dbad%2B1&msclkid=a%40b.example',
    },
  ],
  [
    'click_too_old',
    limited.filter((format) => format.name !== 'google-ads-calls'),
    { displayed_timestamp: '2026-08-20 12:00:00' },
  ],
  ['click_too_old', limited, { date_added: '2026-08-20 12:00:00', displayed_timestamp: null }],
  ['status_not_final', withStatus, { ppc_status: 'Not Processed' }],
  ['status_not_final', withStatus, { ppc_status: 'Waiting For Keyword' }],
  ['too_recent', limited, { date_added: '2026-11-21 06:30:00', displayed_timestamp: null }],
  ['in_the_future', sheetFormats, { date_added: '2026-11-22 06:30:00' }],
  ['time_not_in_zone', sheetFormats, { date_added: '2026-03-08 02:30:00' }],
  ['time_twice_in_zone', sheetFormats, { date_added: '2026-11-01 01:30:00' }],
  ['time_unreadable', sheetFormats, { date_added: 'yesterday' }],
  ['time_unreadable', sheetFormats, { date_added: null }],
];
test.each(leftOut)('%s holds a call back', (reason, formats, changes) => {
  for (const format of formats) {
    expect(format.row(callWith({ ...extension, ...changes }), options), format.name).toEqual({ reason });
  }
});

test('calls by number go in only through call extensions, with a number, and not from a desktop', () => {
  const format = sheetFormats.find((entry) => entry.name === 'google-ads-calls') as SheetFormat;
  expect(format.row(callWith({ channel: 'Tracker' }), options)).toEqual({ reason: 'not_a_call_extension' });
  expect(format.row(callWith({ ...extension, ani: 'anonymous' }), options)).toEqual({
    reason: 'no_caller_number',
  });
  expect(format.row(callWith({ ...extension, ppc_status: 'Desktop' }), options)).toEqual({
    reason: 'desktop_call',
  });
});

test('the hour that comes twice is taken as first or second when that is asked for', () => {
  const format = clicks.find((entry) => entry.name === 'google-ads-clicks') as SheetFormat;
  const call = callWith({ date_added: '2026-11-01 01:30:00', displayed_timestamp: null });
  const time = (repeatedHour: 'first' | 'second') => {
    const outcome = format.row(call, { ...options, repeatedHour });
    return 'row' in outcome ? outcome.row[2] : outcome.reason;
  };
  expect(time('first')).toBe('2026-11-01 01:30:00-0400');
  expect(time('second')).toBe('2026-11-01 01:30:00-0500');
});

test('a youngest age of one’s own replaces the one of the tool', () => {
  const format = clicks.find((entry) => entry.name === 'google-ads-clicks') as SheetFormat;
  const call = callWith({ date_added: '2026-11-21 06:30:00', displayed_timestamp: null });
  expect(format.row(call, { ...options, minAge: 0 })).toHaveProperty('row');
  expect(format.row(callWith(), { ...options, minAge: 96 * 3_600_000 })).toEqual({ reason: 'too_recent' });
});

test('a record of v2, without status and click field, gives its click from the address', () => {
  const format = clicks.find((entry) => entry.name === 'google-ads-clicks') as SheetFormat;
  const {
    ppc_status: _,
    ppc_gclid: __,
    ...old
  } = callWith({ first_touch: tagged }) as unknown as Record<string, unknown>;
  expect(format.row(old as never, options)).toHaveProperty('row');
});

test.each([
  ['2025550123', '+12025550123'],
  ['12025550123', '+12025550123'],
  ['+1 (202) 555-0123', '+12025550123'],
  ['+442079460123', '+442079460123'],
  ['anonymous', null],
  ['0', null],
  ['1234567890', null],
  ['+0123456789', null],
  [null, null],
])('the caller number %s is written %s', (text, number) => {
  expect(e164(text)).toBe(number);
});

describe('value rules', () => {
  const rules = readValueRules(
    JSON.stringify({
      rules: [
        { minMinutes: 10, campaign: 'brand*', value: 120 },
        { minMinutes: 10, value: 80 },
        { label: '*sales*line', maxMinutes: 1, value: 5 },
      ],
      otherwise: 20,
    }),
    'rules.json',
  );
  test.each([
    [{ talk_minutes: '12.0', ppc_campaign: 'Brand – East' }, 120],
    [{ talk_minutes: '10.0', ppc_campaign: 'Generic' }, 80],
    [{ talk_minutes: '0.9', phone_label: 'Main sales hot line' }, 5],
    [{ talk_minutes: '0.9', phone_label: 'Service' }, 20],
    [{ talk_minutes: null, ppc_campaign: null, phone_label: null }, 20],
  ])('the first rule that holds for %j gives %i', (changes, value) => {
    expect(valueByRules(callWith(changes), rules)).toBe(value);
  });

  test('without a rule that holds and without otherwise, the call is left out', () => {
    const strict = readValueRules('{ "rules": [{ "minMinutes": 100, "value": 1 }] }', 'rules.json');
    for (const format of withStatus) {
      const outcome = format.row(callWith(extension), {
        ...options,
        value: (call) => valueByRules(call, strict),
      });
      expect(outcome, format.name).toEqual({ reason: 'no_value' });
    }
  });

  test.each([
    ['{', /is not JSON/],
    ['[]', /must be an object/],
    ['{}', /"rules" must be a list/],
    ['{ "rules": [{}] }', /rule 1 has no "value"/],
    ['{ "rules": [{ "value": -1 }] }', /rule 1: "value" must be a number/],
    ['{ "rules": [{ "value": 1, "campain": "x" }] }', /unknown name "campain"/],
    ['{ "rules": [{ "value": 1, "label": 5 }] }', /"label" must be a text/],
    ['{ "rules": [], "otherwise": "x" }', /"otherwise" must be a number/],
  ])('%s is refused', (text, message) => {
    expect(() => readValueRules(text, 'rules.json')).toThrow(message);
    expect(() => readValueRules(text, 'rules.json')).toThrow(ValueRulesError);
  });
});

test('a line written is read back the same', () => {
  const cell = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !/[\r\n]/.test(text));
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
      (lines) => {
        const text = lines.map((cells) => sheetLine(cells, ',')).join('');
        expect(readSheet(text, ',').lines).toEqual(lines);
      },
    ),
  );
});
