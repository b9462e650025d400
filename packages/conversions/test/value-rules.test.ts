import {
  createSheet,
  readValueRules,
  sheetFormats,
  ValueRulesError,
  valueByRules,
} from '@call-attribution/conversions';
import { callWith } from '@call-attribution/test-tools/call-with';
import { expect, test } from 'vitest';

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
])('the first rule that applies to %j gives %i', (changes, value) => {
  expect(valueByRules(callWith(changes), rules)).toBe(value);
});

test('a call without a rule that applies and without otherwise is left out', () => {
  const strict = readValueRules('{ "rules": [{ "minMinutes": 100, "value": 1 }] }', 'rules.json');
  const tagged = 'https://shop.example/?gclid=Cj0KCQ_1&msclkid=f894f652ea334e739002f7167ab8f8e3&mkwid=s8Hx2k';
  const call = callWith({ channel: 'Call Extension', first_touch: tagged });
  for (const format of Object.values(sheetFormats).filter(({ accepts }) => accepts.takesValue)) {
    const sheet = createSheet(format, {
      timeZone: 'America/New_York',
      conversionName: 'Phone lead',
      now: Date.parse('2026-11-21T12:00:00Z'),
      value: (call) => valueByRules(call, strict),
    });
    expect(sheet.add(call), format.name).toBe('no_value');
  }
});

test.each([
  ['{', /is not JSON/],
  ['[]', /must be an object/],
  ['{}', /"rules" must be a list/],
  ['{ "rules": [{}] }', /rule 1 has no "value"/],
  ['{ "rules": [{ "value": -1 }] }', /rule 1: "value" must be a number/],
  ['{ "rules": [{ "value": 1, "campain": "x" }] }', /unknown name "campain"/],
  ['{ "rules": [{ "value": 1, "label": 5 }] }', /"label" must be a string/],
  ['{ "rules": [], "otherwise": "x" }', /"otherwise" must be a number/],
])('the rule table %s is refused', (text, message) => {
  expect(() => readValueRules(text, 'rules.json')).toThrow(message);
  expect(() => readValueRules(text, 'rules.json')).toThrow(ValueRulesError);
});

test('a misspelled name in a rule table gets a suggestion', () => {
  const read = () => readValueRules('{ "rules": [{ "value": 1, "campain": "x" }] }', 'rules.json');
  expect(read).toThrow(expect.objectContaining({ code: 'unknown_name', hint: 'did you mean "campaign"?' }));
});
