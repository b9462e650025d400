import {
  type ConsentRules,
  type ConversionRules,
  changesToSend,
  conversions,
  createTally,
  type LedgerEntry,
  type SheetFormat,
  sheetFormats,
  toSheet,
} from '@call-attribution/conversions';
import type { Call } from '@call-attribution/core';
import { callWith } from '@call-attribution/test-tools/call-with';
import { expect, test } from 'vitest';

const google = sheetFormats['google-ads-clicks'];
const rulesOf = (consent: ConsentRules): ConversionRules => ({
  timeZone: 'America/New_York',
  conversionName: 'Phone lead',
  now: Date.parse('2026-11-21T12:00:00Z'),
  consent,
});
const call = (sid: string, custom_value: string | null): Call =>
  callWith({
    sid,
    custom_value,
    ppc_gclid: `click_${sid}`,
    first_touch: `https://shop.example/?msclkid=f894f652ea334e739002f7167ab8f8e${sid}`,
  });

// Agreed to both, to one, refused, said nothing.
const calls = [call('1', 'ads=1 pers=1'), call('2', 'ads=1'), call('3', 'ads=0'), call('4', null)];
const byValue: ConsentRules = {
  adUserData: { granted: "custom_value LIKE '%ads=1%'", denied: "custom_value LIKE '%ads=0%'" },
  adPersonalization: { granted: "custom_value LIKE '%pers=1%'" },
};

async function judged(
  format: SheetFormat,
  consent: ConsentRules,
  of: readonly Call[] = calls,
  known = new Map<string, LedgerEntry>(),
) {
  const tally = createTally();
  const rules = rulesOf(consent);
  const changes = await changesToSend(conversions(of, rules, format, known), tally.add);
  const lines: Uint8Array[] = [];
  for await (const line of toSheet(format, rules)(changes)) lines.push(line);
  const rows = Buffer.concat(lines).toString().trimEnd().split('\r\n');
  const { leftOut, uncorrected } = tally.summary();
  const entries = changes.flatMap(({ entry }) => entry ?? []);
  return { rows, entries, leftOut: Object.fromEntries(leftOut), uncorrected };
}

test('two consents are judged by conditions, each by itself; what no condition grants is not granted', async () => {
  const { rows, leftOut } = await judged(google, byValue);
  const cells = rows.slice(2).map((row) => row.split(',').slice(-2).join());
  expect(cells).toEqual(['Granted,Granted', 'Granted,', 'Denied,']);
  expect(leftOut).toEqual({ no_consent: 1 });
});

test('a call of which nothing is known is left out, or goes without a word about consent', async () => {
  const { rows, leftOut } = await judged(google, { ...byValue, otherwise: 'unknown' });
  expect(rows.at(-1)).toMatch(/^click_4,.*,,$/);
  expect(leftOut).toEqual({});
});

test('a call that is denied is left out where the tool has no place to say so', async () => {
  const { rows, leftOut } = await judged(sheetFormats['microsoft-ads'], byValue);
  expect(rows.slice(2)).toHaveLength(2);
  expect(leftOut).toEqual({ consent_denied: 1, no_consent: 1 });
});

test('a refusal wins over an agreement', async () => {
  const both = { ...byValue, adUserData: { granted: 'talk_minutes > 0', denied: "sid = '1'" } };
  const { rows } = await judged(google, both, [call('1', null)]);
  expect(rows.at(-1)).toMatch(/,Denied,$/);
});

test('the same for all calls needs no condition', async () => {
  const all = { adUserData: 'granted', adPersonalization: 'denied' } as const;
  const { rows } = await judged(google, all, [call('4', null)]);
  expect(rows.at(-1)).toMatch(/,Granted,Denied$/);
});

test('a consent that was withdrawn after it was sent is listed, and nothing is sent about it', async () => {
  for (const format of [google, sheetFormats['microsoft-ads']]) {
    const { entries } = await judged(format, byValue, calls.slice(0, 2));
    const known = new Map(entries.map((entry) => [entry.key, entry]));
    const now = [call('1', 'ads=0'), call('2', null)];
    const after = await judged(format, byValue, now, known);
    expect(after.entries).toEqual([]);
    expect(after.uncorrected).toEqual([
      { sid: '1', what: 'consent_withdrawn' },
      { sid: '2', what: 'consent_withdrawn' },
    ]);
  }
});

test('a mistake in a condition is refused before a call is read', () => {
  const wrong = { ...byValue, adPersonalization: { denied: 'custom = 1' } };
  expect(() => conversions([], rulesOf(wrong), google)).toThrow(
    /consent\.adPersonalization\.denied has a mistake: /,
  );
});
