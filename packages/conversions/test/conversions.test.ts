import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type ConversionRules,
  conversions,
  createTally,
  type LeftOutReason,
  type SheetFormat,
  sheetFormats,
  summaryLines,
  toConversions,
  toSheet,
} from '@call-attribution/conversions';
import { type Call, fromCall, toCall } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import { callWith } from '@call-attribution/test-tools/call-with';
import { expect, test } from 'vitest';
import { wrongCells } from './read-sheet.ts';

const clicks = sheetFormats['google-ads-clicks'];
const rules: ConversionRules = {
  timeZone: 'America/New_York',
  conversionName: 'Phone lead',
  currency: 'USD',
  value: () => 25,
  now: Date.parse('2026-11-21T12:00:00Z'),
};

/** Session id and reason of each call, `ok` for a conversion. */
async function judged(
  calls: readonly Call[],
  changes: Partial<ConversionRules> = {},
  format: SheetFormat = clicks,
): Promise<Record<string, LeftOutReason | 'ok'>> {
  const found: Record<string, LeftOutReason | 'ok'> = {};
  for await (const { kind, call, why } of conversions(calls, { ...rules, ...changes }, format))
    found[String(call?.sid)] = kind === 'add' ? 'ok' : (why as LeftOutReason);
  return found;
}

const at = (sid: string, date: string, changes: Record<string, unknown> = {}): Call =>
  callWith({
    sid,
    date_added: date,
    displayed_timestamp: date,
    talk_end: null,
    ani: '2025550123',
    ...changes,
  });

test('calls that nobody answered and short ones are left out, unless the rules say otherwise', async () => {
  const calls = [
    at('1', '2026-11-18 10:00:00', { talk_minutes: '0.0' }),
    at('2', '2026-11-18 11:00:00', { talk_minutes: '0.9' }),
    at('3', '2026-11-18 12:00:00', { talk_minutes: '1.0' }),
    at('4', '2026-11-18 13:00:00', { talk_minutes: null }),
  ];
  expect(await judged(calls)).toEqual({
    1: 'unanswered',
    2: 'too_short',
    3: 'ok',
    4: 'unanswered',
  });
  expect(await judged(calls, { minTalk: 0 })).toEqual({
    1: 'unanswered',
    2: 'ok',
    3: 'ok',
    4: 'unanswered',
  });
  expect(await judged(calls, { unanswered: true })).toEqual({
    1: 'ok',
    2: 'too_short',
    3: 'ok',
    4: 'ok',
  });
});

test.each([undefined, 'google-ads-clicks'])('the tool %s is refused in words', (tool) => {
  expect(() => toConversions(rules, tool as unknown as SheetFormat)).toThrow(
    "Expected the tool after the rules, such as sheetFormats['google-ads-clicks'].",
  );
});

test('each tool has a minimum talk time of its own', () => {
  expect(
    Object.fromEntries(
      Object.values(sheetFormats).map(({ name, accepts }) => [name, accepts.minTalk]),
    ),
  ).toMatchObject({
    'google-ads-calls': '60s',
    'google-ads-clicks': '60s',
    'microsoft-ads': '30s',
    'microsoft-bulk': '30s',
    sa360: '60s',
    skai: '0s',
    marin: '30s',
  });
});

const repeated = [
  at('1', '2026-11-01 10:00:00', { ani: '+1 (202) 555-0123', talk_minutes: '0.0' }),
  at('2', '2026-11-03 10:00:00'),
  at('3', '2026-11-09 10:00:00'),
  at('4', '2026-11-11 10:00:00'),
  at('5', '2026-11-11 10:00:00', {
    ani: '2025550199',
    ppc_gclid: 'Cj0KCQ_other',
    first_touch: null,
  }),
  at('6', '2026-11-12 10:00:00', { ani: 'anonymous' }),
  at('7', '2026-11-13 10:00:00', { ani: 'anonymous' }),
];

test('only the first call of a caller counts when the rules say so, whatever became of it', async () => {
  expect(await judged(repeated, { firstCallOnly: true })).toEqual({
    1: 'unanswered',
    2: 'repeat_caller',
    3: 'repeat_caller',
    4: 'repeat_caller',
    5: 'ok',
    6: 'ok',
    7: 'ok',
  });
});

test('a caller counts once in a span of days when the rules say so', async () => {
  expect(await judged(repeated, { oncePerCaller: '7d' })).toEqual({
    1: 'unanswered',
    2: 'ok',
    3: 'caller_counted',
    4: 'ok',
    5: 'ok',
    6: 'ok',
    7: 'ok',
  });
});

test('calls before a time are only read for the rules about callers', async () => {
  const from = '2026-11-09 00:00:00';
  expect(await judged(repeated, { oncePerCaller: '7d', from })).toMatchObject({
    3: 'caller_counted',
    4: 'ok',
  });
  expect(Object.keys(await judged(repeated, { from }))).toEqual(['3', '4', '5', '6', '7']);
  expect(await judged(repeated.slice(2), { firstCallOnly: true, from })).toMatchObject({ 3: 'ok' });
});

test('a value may depend on whether the caller has called before', async () => {
  const values: (number | null)[] = [];
  const set = {
    ...rules,
    value: (_: Call, caller: { isFirstCall: boolean | null }) => (caller.isFirstCall ? 50 : 10),
  };
  for await (const { conversion } of conversions(repeated.slice(1, 4), set, clicks))
    if (conversion !== null) values.push(conversion.value);
  expect(values).toEqual([50, 10, 10]);
});

test('a click may be younger than the tool accepts when the rules say so', async () => {
  const calls = [at('1', '2026-11-10 10:00:00'), at('2', '2026-11-19 10:00:00')];
  expect(await judged(calls, { clickWindow: '7d' })).toEqual({ 1: 'click_too_old', 2: 'ok' });
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const sheetOf = async (
  format: SheetFormat,
  set: ConversionRules,
  calls: readonly Call[],
): Promise<string> =>
  Buffer.concat(await collect(toSheet(format, set)(conversions(calls, set, format)))).toString();

test('consent is written in columns of its own when the rules have it', async () => {
  const consent = { adUserData: 'granted', adPersonalization: 'denied' } as const;
  for (const name of ['google-ads-clicks', 'google-ads-calls'] as const) {
    const set = { ...rules, consent };
    const sheet = await sheetOf(sheetFormats[name], set, [callWith({ channel: 'Call Extension' })]);
    const [, headings, row] = sheet.split('\r\n');
    expect(headings).toMatch(/,Ad User Data,Ad Personalization$/);
    expect(row).toMatch(/,Granted,Denied$/);
    expect(wrongCells(sheet, sheetFormats[name], set)).toEqual([]);
  }
});

test('calls become a sheet in a pipeline', async () => {
  const calls = [
    at('1', '2026-11-18 10:00:00'),
    at('2', '2026-11-18 10:00:00'),
    at('3', '2026-11-19 10:00:00'),
  ];
  const chunks: Uint8Array[] = [];
  await pipeline(
    Readable.from(calls),
    toConversions(rules, clicks),
    toSheet(clicks, rules),
    async (lines) => {
      for await (const chunk of lines) chunks.push(chunk);
    },
  );
  const text = Buffer.concat(chunks).toString();
  expect(text).toBe(await sheetOf(clicks, rules, calls));

  // Two calls have the same click, name and time.
  expect(text.trimEnd().split('\r\n')).toHaveLength(2 + 2);
  expect(wrongCells(text, clicks, rules)).toEqual([]);
});

test('a value may be one number for all, as in files of rules', async () => {
  const calls = [at('1', '2026-11-18 10:00:00')];
  const values = async (value: ConversionRules['value']) => {
    const found: unknown[] = [];
    for await (const { conversion } of conversions(calls, { ...rules, value }, clicks))
      found.push(conversion?.value);
    return found;
  };
  expect(await values(25)).toEqual([25]);
  expect(await values(25)).toEqual(await values(() => 25));
  expect(await values(0)).toEqual([0]);
});

test('a summary does not count short calls where none may be', async () => {
  const linesFor = (minTalk: string) =>
    summaryLines(createTally().summary(), clicks, { ...rules, minTalk } as ConversionRules)[0];
  expect(linesFor('20s')).toMatch(/talked for less than 30 s/);
  expect(linesFor('30s')).not.toMatch(/talked/);
});

test('a sheet without rows has its head', async () => {
  expect(await sheetOf(clicks, rules, [])).toMatch(
    /^Parameters:TimeZone=[^\r]+\r\nGoogle Click ID,[^\r]+\r\n$/,
  );
});

test('a misspelled rule is refused: conversions would go without a value, or count that should not', () => {
  const wrong = { ...rules, valeu: 25 };
  expect(() => toConversions(wrong, clicks)).toThrow(
    'There is no option rules.valeu. Did you mean rules.value?',
  );
});

const bad: [string, Partial<ConversionRules>, RegExp][] = [
  ['no zone', { timeZone: null }, /needs a time zone/],
  ['a zone that was forgotten', { timeZone: undefined as unknown as null }, /needs a time zone/],
  [
    'a zone that does not exist',
    { timeZone: 'Mars/Olympus' },
    /there is no time zone "Mars\/Olympus"; use an IANA name/,
  ],
  ['letters for a zone', { timeZone: 'EST' }, /"EST".*America\/New_York, or America\/Panama/],
  [
    'a value below 0',
    { value: -1 },
    /value must be a number of 0 or more, a table of rules, or a function/,
  ],
  ['a value of no number', { value: Number.NaN }, /value must be a number/],
  ['a value in words', { value: '25' as never }, /value must be a number/],
  ['no name', { conversionName: '' }, /needs a conversion name/],
  [
    'an address as its name',
    { conversionName: 'lead@example.com' },
    /must not be an address or a phone/,
  ],
  ['a currency that does not exist', { currency: 'XXQ' }, /no currency "XXQ"/],
  [
    'a window that is too long',
    { clickWindow: '120d' },
    /120 days is too long: .* at most 90 days/,
  ],
  ['a window of nothing', { clickWindow: 0 }, /no call can count/],
  ['a negative talk time', { minTalk: -1 }, /minTalk is -1; expected milliseconds/],
  ['an age that leaves no call', { minAge: '48h', clickWindow: '2d' }, /no call can count/],
  ['a start that is not a time', { from: 'yesterday' }, /from must be a time/],
];
test.each(bad)('rules with %s are refused before a call is read', (_, changes, message) => {
  expect(() => toConversions({ ...rules, ...changes }, clicks)).toThrow(message);
  expect(() => conversions([], { ...rules, ...changes }, clicks)).toThrow(CallsError);
});

test('a summary says what the conversions are worth, which rules decided, and what is left out', async () => {
  const tally = createTally();
  const set = { ...rules, minTalk: 0, oncePerCaller: '30d' } as const;
  const sheet = [
    at('1', '2026-11-18 10:00:00', { talk_minutes: '0.3' }),
    at('2', '2026-11-18 11:00:00', { ani: '2025550199' }),
    at('3', '2026-11-18 12:00:00'),
    at('4', '2026-11-18 13:00:00', { talk_minutes: '0.0' }),
  ];
  for await (const change of conversions(sheet, set, clicks)) tally.add(change);
  expect(tally.summary()).toMatchObject({
    calls: 4,
    rows: 2,
    values: new Map([['USD', 50]]),
    short: 1,
  });
  expect(summaryLines(tally.summary(), clicks, set)).toEqual([
    'worth 50.00 USD; 1 of 2 (50 %) talked for less than 30 s',
    'minimum talk time 0 s; calls nobody answered do not count; clicks of at most 90 days; one call of a caller in 30 days',
    'left out: 2 calls',
    '  1  caller_counted: another call of this caller counts already in this span of days',
    '  1  unanswered: nobody answered the call',
  ]);
});

test('a summary says how many calls were read with v2, which lacks fields that decide', async () => {
  const tally = createTally();
  const read = at('1', '2026-11-18 10:00:00');
  const ofV2 = toCall(fromCall(at('2', '2026-11-18 11:00:00', { ani: '2025550199' }), 'v2'), 'v2');
  for await (const change of conversions([read, ofV2], rules, clicks)) tally.add(change);
  expect(tally.summary()).toMatchObject({ calls: 2, ofV2: 1 });
  expect(summaryLines(tally.summary(), clicks, rules)).toContain(
    '1 of 2 (50 %) were read with v2, which has no ppc_status, ppc_gclid, landing_page and conversion_page: unfinished calls and ' +
      'calls from desktops are not held back, and click IDs may be missing; read the calls with v3',
  );
});

test('a summary writes large numbers as people do', () => {
  const counts = {
    calls: 3_000,
    rows: 1_519,
    values: new Map([['USD', 8_125]]),
    short: 1_200,
    ofV2: 0,
  };
  const summary = {
    ...counts,
    byRule: new Map(),
    days: 3,
    leftOut: new Map([['unanswered', 1_481]] as const),
  };
  const lines = summaryLines(summary, clicks, rules);
  expect(lines[0]).toBe('worth 8,125.00 USD; 1,200 of 1,519 (79 %) talked for less than 30 s');
  expect(lines.slice(2)).toEqual([
    'left out: 1,481 calls',
    '  1,481  unanswered: nobody answered the call',
  ]);
});
