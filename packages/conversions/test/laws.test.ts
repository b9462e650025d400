import {
  type CallChange,
  type ConversionRules,
  conversions,
  createTally,
  sheetFormats,
  toSheet,
} from '@call-attribution/conversions';
import type { Call } from '@call-attribution/core';
import { clickIdNames, createAnswers, planQuestion } from '@call-attribution/questions';
import { callWith } from '@call-attribution/test-tools/call-with';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wrongCells } from './read-sheet.ts';

const now = Date.parse('2026-11-21T12:00:00Z');
const pad = (value: number): string => String(value).padStart(2, '0');

// Times around both clock changes, the edges of the windows and the future.
const time = fc
  .tuple(
    fc.constantFrom(
      '2026-03-08',
      '2026-08-23',
      '2026-11-01',
      '2026-11-18',
      '2026-11-21',
      '2026-11-22',
    ),
    fc.nat(23),
    fc.nat(59),
  )
  .map(([date, hour, minute]) => `${date} ${pad(hour)}:${pad(minute)}:00`);
// What visitors and callers may leave in a record.
const wild = fc.oneof(
  fc.constantFrom(
    'someone@example.com',
    '+1 (202) 555-0123',
    '=HYPERLINK("x")',
    'a,"b"\r\nc\td',
    'Jane Personal',
    '%40%2B12025550123',
    '',
  ),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
const clickId = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_-]{16,40}$/),
  // A visitor can change an address: too short, an email address, a formula, a phone number.
  fc.constantFrom(
    'abc',
    'someone@example.com',
    '=HYPERLINK("x")',
    '%2B12025550123',
    '12025550123',
    '%zz',
    'ü',
  ),
  fc.constant('f894f652ea334e739002f7167ab8f8e3'),
);
const url = fc
  .tuple(fc.subarray([...clickIdNames]), clickId, wild)
  .map(
    ([names, id, more]) =>
      `https://shop.example/?q=${more}${names.map((name) => `&${name}=${id}`).join('')}`,
  );
const call: fc.Arbitrary<Call> = fc
  .record({
    sid: fc.nat(60).map(String),
    date_added: fc.oneof({ weight: 9, arbitrary: time }, { weight: 1, arbitrary: wild }),
    displayed_timestamp: fc.option(time),
    talk_end: fc.option(time),
    talk_minutes: fc.option(fc.constantFrom('0.0', '0.1', '0.5', '1.0', '12.3', 'x')),
    channel: fc.constantFrom('Tracker', 'Call Extension'),
    ppc_status: fc.constantFrom('Processed', 'No Match', 'Not Processed', 'Desktop', 'N/A'),
    ppc_gclid: fc.option(clickId),
    first_touch: fc.option(url),
    last_touch: fc.option(url),
    ani: fc.constantFrom(
      '2025550123',
      '+1 (202) 555-0123',
      '12025550123',
      '+442079460123',
      'anonymous',
      '',
      'someone@example.com',
    ),
    dnis: fc.oneof(fc.constant('8005550100'), fc.string({ unit: 'grapheme', maxLength: 20 })),
    first_name: wild,
    city: wild,
    ip_address: fc.constant('203.0.113.77'),
    custom_value: wild,
  })
  .map((fields) => callWith(fields));
const rules: fc.Arbitrary<ConversionRules> = fc
  .record(
    {
      value: fc.constantFrom<NonNullable<ConversionRules['value']>>(
        () => 25,
        (call) => (call.channel === 'Tracker' ? 0.005 : null),
        (_, { isFirstCall }) => (isFirstCall ? 1e6 : 3.333333333),
        { rules: [{ where: "channel = 'Tracker' AND talk_minutes > 1", value: 7 }], otherwise: 2 },
        { rules: [{ where: "caller_type = 'returning' OR custom_value IS NULL", value: 7 }] },
      ),
      unanswered: fc.boolean(),
      minTalk: fc.constantFrom(0, '30s' as const, '10m' as const),
      clickWindow: fc.constantFrom('1d' as const, '30d' as const, '90d' as const),
      minAge: fc.constant(0),
      firstCallOnly: fc.boolean(),
      oncePerCaller: fc.constantFrom('1d' as const, '30d' as const),
      repeatedHour: fc.constantFrom('first' as const, 'second' as const, 'leave-out' as const),
      consent: fc.constantFrom<NonNullable<ConversionRules['consent']>>(
        { adUserData: 'granted', adPersonalization: 'denied' },
        {
          adUserData: { granted: 'talk_minutes > 0', denied: "channel = 'Tracker'" },
          adPersonalization: { granted: "state = 'TX'" },
          otherwise: 'unknown',
        },
        { adUserData: { granted: 'talk_minutes > 0' }, adPersonalization: 'denied' },
      ),
      currency: fc.constant('USD'),
    },
    { requiredKeys: [] },
  )
  .map((chosen) => ({
    timeZone: 'America/New_York',
    conversionName: 'Phone lead',
    now,
    ...chosen,
  }));

test.each(Object.values(sheetFormats).map((format) => [format.name, format] as const))(
  '%s: every call is a row or left out, every row passes the check, and personal data stays out',
  async (name, format) => {
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 40 }), rules, async (calls, rules) => {
        const tally = createTally();
        const changes: CallChange[] = [];
        for await (const change of conversions(calls, rules, format)) {
          tally.add(change);
          changes.push(change);
        }

        const summary = tally.summary();
        const left = [...summary.leftOut.values()].reduce((sum, count) => sum + count, 0);
        expect(summary.rows + left).toBe(calls.length);

        const chunks: Uint8Array[] = [];
        for await (const chunk of toSheet(format, rules)(changes)) chunks.push(chunk);
        const text = Buffer.concat(chunks).toString();
        expect(wrongCells(text, format, rules)).toEqual([]);
        const head = format.preamble ? 2 : 1;
        expect(text.trimEnd().split('\r\n')).toHaveLength(head + summary.rows);
        expect(text).not.toMatch(/Jane|203\.0\.113\.77|someone|HYPERLINK/);
        if (name === 'google-ads-calls') return;
        for (const { call, conversion } of changes) {
          const number = String(call?.ani).replace(/\D/g, '').slice(-10);
          if (number.length < 10 || conversion === null) continue;
          const row = format.columns(rules).map((column) => column.cell(conversion, rules));
          expect(row.join()).not.toContain(number);
        }
      }),
      { numRuns: Number(process.env.CALLS_LAW_RUNS ?? 1) * 60 },
    );
  },
);

const caller = fc.constantFrom(
  '2025550123',
  '+1 (202) 555-0123',
  '5550123',
  '+442079460123',
  '000',
  '101',
  '12025550123000000',
  'anonymous',
  null,
);

test('the calls that count once for each caller are those of first-time callers, and of nobody', async () => {
  const calls = fc.array(fc.tuple(caller, fc.constantFrom('101', '102')), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(calls, async (drawn) => {
      const made = drawn.map(([ani, acct_id], i) =>
        callWith({ sid: String(i), ani, acct_id, date_added: `2026-11-18 14:${pad(i)}:00` }),
      );
      const once: ConversionRules = {
        timeZone: 'America/New_York',
        conversionName: 'Phone lead',
        currency: 'USD',
        value: () => 25,
        firstCallOnly: true,
        now,
      };
      let counted = 0;
      for await (const { kind } of conversions(made, once, sheetFormats['google-ads-clicks']))
        if (kind === 'add') counted += 1;

      const measures = ['first_time_callers', 'count(caller_nth IS NULL) as nobody'];
      const answers = createAnswers([planQuestion({ measures })]);
      for (const each of made) answers.add(each, String(each.acct_id));
      const total = answers.answers()[0]?.total;
      expect(counted).toBe(Number(total?.first_time_callers) + Number(total?.nobody));
    }),
    { numRuns: 100 },
  );
});
