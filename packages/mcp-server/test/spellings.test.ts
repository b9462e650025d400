import { readFileSync } from 'node:fs';
import { type Call, fields } from '@call-attribution/core';
import { describe, expect, it } from 'vitest';
import { createRecordMask } from '../src/privacy/mask-record.ts';
import { createMasks, isRevealed } from '../src/privacy/masking.ts';

// What programs and people make of a number, a name or an address before it ends up in another field of the record.

const person: Partial<Call> = {
  ani: '6125550147',
  first_name: 'Anastasia',
  last_name: 'Kowalczyk',
  street_address: '31 Maple Court',
  zipcode: '55401',
};
const email = 'anastasia@kowalczyk.example';
const mask = createRecordMask(fields, { reveal: new Set(), masks: createMasks('a key') });
const base = Object.fromEntries(fields.map((spec) => [spec.name, null])) as unknown as Call;
const masked = (text: string): string =>
  String(mask.whole({ ...base, ...person, search_term: text } as Call).search_term);
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');

describe('text of a visitor', () => {
  it.each<[what: string, text: string, secret: string]>([
    ['a street without its kind', 'near 31 Maple', '31 Maple'],
    ['a street with its kind cut short', 'to 31 Maple Ct now', '31 Maple'],
    ['letters that look like digits', 'call 612555O147', '612555O147'],
    ['a small l for a 1', 'call 6l25550147', '6l25550147'],
    ['a number in words', 'six one two five five five zero one four seven', 'six one two'],
    ['a number in words with oh', 'six-one-two-five-five-five-oh-one-four-seven', 'six-one-two'],
    ['a number backwards', 'ref 7410555216', '7410555216'],
    ['a number in base64', `s=${base64('6125550147')}`, base64('6125550147').slice(0, 10)],
    ['an e-mail address in base64', `u=${base64(email)}`, base64(email).slice(0, 10)],
    [
      'an e-mail address in base64 for addresses',
      `u=${Buffer.from(email).toString('base64url')}`,
      'YW5hc3Rhc2lh',
    ],
    ['a number in hexadecimal digits', `h=${hex('6125550147')}`, hex('6125550147')],
    ['an e-mail address in hexadecimal digits', hex(email), hex(email)],
    ['the key fn', 'https://x.example/?fn=Bob&ln=Tables', 'Bob'],
    ['the key ln', 'https://x.example/?fn=Bob&ln=Tables', 'Tables'],
    ['the key kunde', 'kunde=Schmidt', 'Schmidt'],
    ['an e-mail address in words', 'mail j.doe at example dot org please', 'j.doe at'],
    ['an entity with a name', 'K&oacute;walczyk', 'walczyk'],
    ['an entity of a letter with a stroke', 'Kowa&lstrok;czyk', 'czyk'],
    ['an entity of a whole letter of its own', 'An&aring;stasia', 'stasia'],
    ['the domain of an address in words', 'mail j.doe at example dot org please', 'example dot org'],
    ['the whole street in other letters', '31 MAPLE COURT', 'MAPLE'],
    ['a number in base64 for addresses', `s=${Buffer.from('6125550147').toString('base64url')}`, 'NjEyNTU1'],
    ['an address in hexadecimal capitals', hex(email).toUpperCase(), hex(email).toUpperCase()],
    ['the key kunde with an encoded name', 'kunde=J%C3%BCrgen', 'rgen'],
    ['Cyrillic letters that look like Latin ones', 'Аnаstаsiа', 'Аnаstаsiа'],
  ])('hides %s', (_what, text, secret) => {
    expect(text).toContain(secret);
    expect(masked(text)).not.toContain(secret);
  });

  it.each([
    'gclid=EAIaIQobChMI4Kjb9c3u-wIVhRPUAR0nDQhiEAAYASAAEgJ9xfD_BwE',
    'https://www.harbordental.example/emergency?utm_campaign=brand&utm_content=a1b2c3d4e5f6',
    'emergency dentist near me open at night',
    'one two three',
    'Harbor Dental | Brand',
    '0f8fad5b-d9cb-469f-a165-70867728950e',
  ])('keeps %s', (text) => {
    expect(masked(text)).toBe(text);
  });

  it.each<[what: string, text: string, said: string]>([
    ['quoted-printable', 'Kowalcz=79k', 'quoted-printable (`J=C3=BCrgen`)'],
    [
      'a number in words of another language',
      'seis uno dos cinco cinco cinco',
      'numbers in words of other languages',
    ],
    ['a name of nobody in the record', 'ask for Maria', '("ask for Maria")'],
  ])('shows %s, as the page on privacy says', (_what, text, said) => {
    expect(masked(text)).toBe(text);
    const page = readFileSync(new URL('../../../docs/mcp-privacy-and-security.md', import.meta.url), 'utf8');
    expect(page).toContain(said);
  });

  it('does not take the digits of a time for the number of the caller', () => {
    const call = { ...base, ani: '2026080308', date_added: '2026-08-03 08:30:35' } as Call;
    expect(mask.whole(call).date_added).toBe('2026-08-03 08:30:35');
    const odd = { ...base, ani: '6125050104', date_added: '6125-05-01 04:07:00' } as Call;
    expect(mask.whole(odd).date_added).not.toContain('6125-05-01 04');
  });

  it('keeps what is revealed', () => {
    const reveal = new Set(['text'] as const);
    expect(isRevealed(reveal, 'text')).toBe(true);
    const shown = createRecordMask(fields, { reveal, masks: createMasks('a key') });
    const call = { ...base, ...person, search_term: 'call 6125550147' } as Call;
    expect(shown.whole(call).search_term).toBe('call 6125550147');
  });

  it('is masked alike by a view and by the record to store', () => {
    const call = {
      ...base,
      ...person,
      search_term: `x ${email}`,
      landing_page: 'https://x.example/?p=6125550147',
    };
    const [view, whole] = [mask.view(call as Call), mask.whole(call as Call)];
    for (const { name } of fields)
      expect(Reflect.get(view, name), name).toEqual(Reflect.get(whole, name) ?? null);
  });
});
