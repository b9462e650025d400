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
  ['{ "rules": [{ "value": 1, "fromHour": 25 }] }', /rule 1: "fromHour" must be an hour/],
  ['{ "rules": [{ "value": 1, "caller": "new" }] }', /rule 1: "caller" must be "first" or "repeat"/],
  [
    '{ "rules": [{ "value": 1, "minMinutes": 5, "maxMinutes": 5 }] }',
    /rule 1 can never apply: its conditions/,
  ],
  ['{ "rules": [{ "value": 1, "fromHour": 8, "toHour": 8 }] }', /rule 1 can never apply: its conditions/],
  ['{ "rules": [{ "value": 1 }, { "value": 2, "label": "x" }] }', /rule 2 can never apply: rule 1 applies/],
  [
    '{ "rules": [{ "value": 1, "campaign": "brand*" }, { "value": 2, "campaign": "Brand*East", "minMinutes": 3 }] }',
    /rule 2 can never apply: rule 1 applies/,
  ],
  [
    '{ "rules": [{ "value": 1, "fromHour": 20, "toHour": 8 }, { "value": 2, "fromHour": 22, "toHour": 6 }] }',
    /rule 2 can never apply: rule 1 applies/,
  ],
  [
    '{ "rules": [{ "value": 1, "minMinutes": 9, "name": "long" }, { "value": 2, "name": "long" }] }',
    /rule 2 has the name "long", as rule 1 has/,
  ],
])('the rule table %s is refused', (text, message) => {
  expect(() => readValueRules(text, 'rules.json')).toThrow(message);
  expect(() => readValueRules(text, 'rules.json')).toThrow(ValueRulesError);
});

test.each([
  ['2026-11-18 07:59:59', true, 40],
  ['2026-11-18 08:00:00', true, 30],
  ['2026-11-18 08:00:00', false, 20],
  ['2026-11-18 17:59:59', null, 10],
  ['2026-11-18 23:00:00', null, 40],
])('a call at %s is worth what its hour and its caller say', (date_added, isFirstCall, value) => {
  const table = readValueRules(
    JSON.stringify({
      rules: [
        { name: 'night', fromHour: 18, toHour: 8, value: 40 },
        { name: 'new', caller: 'first', value: 30 },
        { name: 'known', caller: 'repeat', value: 20 },
      ],
      otherwise: 10,
    }),
    'rules.json',
  );
  expect(valueByRules(callWith({ date_added }), table, { isFirstCall })).toBe(value);
});

test('a misspelled name in a rule table gets a suggestion', () => {
  const read = () => readValueRules('{ "rules": [{ "value": 1, "campain": "x" }] }', 'rules.json');
  expect(read).toThrow(expect.objectContaining({ code: 'unknown_name', hint: 'did you mean "campaign"?' }));
});
