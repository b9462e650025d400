import {
  conversions,
  readValueRules,
  sheetFormats,
  valueByRules,
} from '@call-attribution/conversions';
import { type Call, ConfigurationError } from '@call-attribution/core';
import { callWith } from '@call-attribution/test-tools/call-with';
import { expect, test } from 'vitest';

const rules = await readValueRules(
  JSON.stringify({
    rules: [
      { minTalk: '10m', campaign: 'brand*', value: 120 },
      { minTalk: '10m', value: 80 },
      { label: '*sales*line', maxTalk: '1m', value: 5 },
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

test('a call without a rule that applies and without otherwise is left out', async () => {
  const strict = await readValueRules(
    '{ "rules": [{ "minTalk": "100m", "value": 1 }] }',
    'rules.json',
  );
  const tagged =
    'https://shop.example/?gclid=Cj0KCQ_1&msclkid=f894f652ea334e739002f7167ab8f8e3&mkwid=s8Hx2k';
  const call = callWith({ channel: 'Call Extension', first_touch: tagged });
  for (const format of Object.values(sheetFormats).filter(({ accepts }) => accepts.takesValue)) {
    const rules = {
      timeZone: 'America/New_York',
      conversionName: 'Phone lead',
      now: Date.parse('2026-11-21T12:00:00Z'),
      value: (call: Call) => valueByRules(call, strict),
    };
    const { value: change } = await conversions([call], rules, format)
      [Symbol.asyncIterator]()
      .next();
    expect(change, format.name).toMatchObject({ why: 'no_value' });
  }
});

test.each([
  ['{', 'rules.json is not JSON: line 1, column 2 should have a name in double quotes, or }'],
  ['[]', 'rules.json must be an object, not a list'],
  ['{}', 'rules.json: rules is missing'],
  ['{ "rules": {} }', 'rules.json: rules must be a list, not an object'],
  ['{ "rules": [{}] }', 'rules.json: rules[0].value is missing; it must be a number, 0 or greater'],
  ['{ "rules": [7] }', 'rules.json: rules[0] must be an object, not a number'],
  ['{ "rules": [{ "value": -1 }] }', 'rules[0].value must be a number, 0 or greater, not -1'],
  [
    '{ "rules": [{ "value": 1, "campain": "x" }] }',
    'rules.json: rules[0] has an unknown name "campain"; did you mean campaign?',
  ],
  ['{ "rule": [] }', 'rules.json has an unknown name "rule"; did you mean rules?'],
  ['{ "rules": [{ "value": 1, "label": 5 }] }', 'rules[0].label must be a string, not a number'],
  ['{ "rules": [], "otherwise": "x" }', 'otherwise must be a number, 0 or greater, not a string'],
  [
    '{ "rules": [{ "value": 1, "fromHour": 25 }] }',
    'rules[0].fromHour must be an hour, from 0 to 24, not 25',
  ],
  [
    '{ "rules": [{ "value": 1, "toHour": -1 }] }',
    'rules[0].toHour must be a number, 0 or greater, not -1',
  ],
  ['{ "rules": [{ "value": 1, "caller": "new" }] }', 'rules[0].caller must be first or repeat'],
])('the rule table %s is refused: %s', async (text, message) => {
  const error = await readValueRules(text, 'rules.json').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(String(error)).toContain(message);
});

test.each([
  ['2026-11-18 07:59:59', true, 40],
  ['2026-11-18 08:00:00', true, 30],
  ['2026-11-18 08:00:00', false, 20],
  ['2026-11-18 17:59:59', null, 10],
  ['2026-11-18 23:00:00', null, 40],
])(
  'a call at %s is worth what its hour and its caller say',
  async (date_added, isFirstCall, value) => {
    const table = await readValueRules(
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
  },
);
