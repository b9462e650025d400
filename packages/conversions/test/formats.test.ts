import { readFileSync } from 'node:fs';
import {
  type ConversionRules,
  conversionOf,
  conversions,
  type LeftOutReason,
  type SheetFormat,
  sheetFormats,
  toSheet,
} from '@call-attribution/conversions';
import { type Call, fromCall, toCall } from '@call-attribution/core';
import { callWith } from '@call-attribution/test-tools/call-with';
import { describe, expect, test } from 'vitest';
import { toE164 } from '../src/phone.ts';
import { readSheet, wrongCells } from './read-sheet.ts';

const formats = Object.values(sheetFormats);
const rules: ConversionRules = {
  timeZone: 'America/New_York',
  conversionName: 'Phone lead',
  currency: 'USD',
  value: () => 25,
  // The golden files have a call that nobody answered.
  unanswered: true,
  now: Date.parse('2026-11-21T12:00:00Z'),
};

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** A sheet of calls, as text, and what each call changes. */
async function written(format: SheetFormat, calls: readonly Call[], set: ConversionRules = rules) {
  const changes = await collect(conversions(calls, set, format));
  const lines = await collect(toSheet(format, set)(changes));
  return { text: Buffer.concat(lines).toString(), changes };
}

/** The cells of the one call, or the reason why it is left out. */
async function rowOf(format: SheetFormat, call: Call, set: ConversionRules = rules) {
  const { text, changes } = await written(format, [call], set);
  if (changes[0]?.kind === 'left-out') return changes[0].why;
  return readSheet(text, format.delimiter).at(-1) ?? [];
}

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

async function sheetOf(format: SheetFormat, set: ConversionRules = rules): Promise<string> {
  const { text, changes } = await written(format, calls, set);
  expect(changes.filter(({ kind }) => kind === 'add')).toHaveLength(calls.length);
  return text;
}
const headLines = (format: SheetFormat): number => (format.preamble ? 2 : 1);

test('a tool has a sheet of adjustments exactly where it can find a conversion again', () => {
  for (const { name, accepts, adjustments } of formats)
    expect([name, accepts.findsBy]).toEqual([name, adjustments === undefined ? null : 'click']);
});

describe.each(formats.map((format) => [format.name, format] as const))('%s', (name, format) => {
  test('the sheet is the golden one, and each cell has the form of its column', async () => {
    const sheet = await sheetOf(format);
    expect(sheet).toBe(readFileSync(new URL(`golden/${name}.txt`, import.meta.url), 'utf8'));
    expect(wrongCells(sheet, format, rules)).toEqual([]);
  });

  test('the sheet without values is good as well', async () => {
    const { value: _, currency: __, ...plain } = rules;
    expect(wrongCells(await sheetOf(format, plain), format, plain)).toEqual([]);
  });

  test('the sheet has no name, address, email or IP of a caller, and a number only where the tool matches by it', async () => {
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
    const text = JSON.stringify(await rowOf(format, call));
    expect(text).not.toMatch(/Personal|99999|203\.0\.113\.77|recordings/);
    expect(/2025550123/.test(text)).toBe(name === 'google-ads-calls');
    const conversion = conversionOf(call, format.accepts, rules);
    expect(/2025550123/.test(JSON.stringify(conversion))).toBe(name === 'google-ads-calls');
  });

  test('without a time zone every call is left out for that reason', () => {
    expect(conversionOf(callWith(extension), format.accepts, { ...rules, timeZone: null })).toEqual(
      {
        reason: 'zone_missing',
      },
    );
  });
});

const clicks = formats.filter((format) => format.name !== 'google-ads-calls');
const limited = formats.filter((format) => !['skai', 'marin'].includes(format.name));
const withStatus = formats.filter((format) => format.name !== 'skai');
const noClick = {
  first_touch: null,
  last_touch: null,
  url_tag: '',
  ppc_gclid: null,
  landing_page: null,
  conversion_page: null,
};

const leftOut: [LeftOutReason, readonly SheetFormat[], Record<string, unknown>][] = [
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
  ['in_the_future', formats, { date_added: '2026-11-22 06:30:00' }],
  ['time_not_in_zone', formats, { date_added: '2026-03-08 02:30:00' }],
  ['time_twice_in_zone', formats, { date_added: '2026-11-01 01:30:00' }],
  ['time_unreadable', formats, { date_added: 'yesterday' }],
  ['time_unreadable', formats, { date_added: null }],
];
test.each(leftOut)('a call is left out because of %s', async (reason, formats, changes) => {
  for (const format of formats)
    expect(await rowOf(format, callWith({ ...extension, ...changes })), format.name).toBe(reason);
});

test('a call that comes twice is left out the second time, also where the tool would count it again', async () => {
  for (const format of formats) {
    const { text, changes } = await written(format, [callWith(extension), callWith(extension)]);
    expect(changes, format.name).toMatchObject([
      { kind: 'add' },
      { kind: 'left-out', why: 'duplicate' },
    ]);
    expect(readSheet(text, format.delimiter)).toHaveLength(headLines(format) + 1);
  }
});

test('calls by number go in only through call extensions, with a number, and not from a desktop', async () => {
  const format = sheetFormats['google-ads-calls'];
  expect(await rowOf(format, callWith({ channel: 'Tracker' }))).toBe('not_a_call_extension');
  expect(await rowOf(format, callWith({ ...extension, ani: 'anonymous' }))).toBe(
    'no_caller_number',
  );
  expect(await rowOf(format, callWith({ ...extension, ppc_status: 'Desktop' }))).toBe(
    'desktop_call',
  );
});

const googleClicks = sheetFormats['google-ads-clicks'];

test('a time that the clocks showed twice is the first or the second when the rules say so', async () => {
  const call = callWith({ date_added: '2026-11-01 01:30:00', displayed_timestamp: null });
  const time = async (repeatedHour: 'first' | 'second') =>
    (await rowOf(googleClicks, call, { ...rules, repeatedHour }))?.[2];
  expect(await time('first')).toBe('2026-11-01 01:30:00-0400');
  expect(await time('second')).toBe('2026-11-01 01:30:00-0500');
});

test('a minimum age of your own replaces the one of the tool', async () => {
  const call = callWith({ date_added: '2026-11-21 06:30:00', displayed_timestamp: null });
  expect(await rowOf(googleClicks, call, { ...rules, minAge: 0 })).toBeInstanceOf(Array);
  expect(await rowOf(googleClicks, callWith(), { ...rules, minAge: 96 * 3_600_000 })).toBe(
    'too_recent',
  );
});

test('a record of v2, without status and click field, gives its click from the URL', async () => {
  const old = toCall(fromCall(callWith({ first_touch: tagged }), 'v2'), 'v2');
  expect(await rowOf(googleClicks, old)).toBeInstanceOf(Array);
});

test('a conversion is independent of the tool', () => {
  expect(
    conversionOf(callWith({ first_touch: tagged }), googleClicks.accepts, rules),
  ).toMatchObject({
    key: '1000000001',
    sid: '1000000001',
    account: '101',
    name: 'Phone lead',
    value: 25,
    currency: 'USD',
    consent: null,
    talkSeconds: 360,
    isAnswered: true,
    callerNumber: null,
    calledNumber: '8005550100',
    startedAt: Date.parse('2026-11-18T19:03:00Z'),
    endedAt: Date.parse('2026-11-18T19:09:30Z'),
    clickedAt: Date.parse('2026-11-18T18:50:00Z'),
    click: { kind: 'gclid', id: 'Cj0KCQ_click-1' },
    clickIds: {
      msclkid: 'f894f652ea334e739002f7167ab8f8e3',
      k_clickid: 'kc-77_a',
      mkwid: 's8Hx2k',
    },
  });
});

test.each([
  ['2025550123', '+12025550123'],
  ['12025550123', '+12025550123'],
  ['+1 (202) 555-0123', '+12025550123'],
  ['(212) 555-0100', '+12125550100'],
  ['5550100', null],
  ['+442079460123', '+442079460123'],
  ['0012025550123', '+12025550123'],
  ['+1 202 555 0123 x5', '+12025550123'],
  ['tel:+44-20-7946-0123;ext=5', '+442079460123'],
  ['sip:+12025550123@10.20.30.40', '+12025550123'],
  ['２０２５５５０１２３', '+12025550123'],
  [2025550123, '+12025550123'],
  ['call 2025550123', null],
  ['anonymous', null],
  ['0', null],
  ['1234567890', null],
  ['+0123456789', null],
  [null, null],
])('the caller number %s is written %s', (text, number) => {
  expect(toE164(text)).toBe(number);
});
