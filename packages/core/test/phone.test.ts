import { callerOf, isPhoneNumber, phoneKey, readPhone } from '@call-attribution/core/record';
import { describe, expect, test } from 'vitest';
import { plainText } from '../src/errors/plain-text.ts';

const spellings: readonly unknown[] = [
  '3125550199',
  '13125550199',
  '+13125550199',
  '+1 (312) 555-0199',
  ' +1.312.555.0199 ',
  '0013125550199',
  '001 312 555 0199',
  '01113125550199',
  3125550199,
  13125550199,
  13125550199n,
  '3125550199 x5',
  '312-555-0199x12',
  '(312) 555-0199 ext. 5',
  '312 555 0199, Extension 1234',
  '+1 312 555 0199 #7',
  '3125550199,,5#',
  '3125550199;5',
  '３１２５５５０１９９',
  '＋１（３１２）５５５－０１９９',
  '３１２５５５０１９９ ｘ５',
  '٣١٢٥٥٥٠١٩٩',
  '३१२५५५०१९९',
  '三一二五五五〇一九九',
  '312\u2011555\u20130199',
  '\u202a+1\u00a0312\u00a0555\u00a00199\u202c',
  'sip:3125550199@10.20.30.40',
  'sip:+13125550199@gw7.example.com;user=phone',
  'sips:+13125550199:5061@example.com',
  '"Desk 4" <sip:3125550199@10.20.30.40:5060>;tag=998877',
  '13125550199@10.20.30.40',
  'tel:+1-312-555-0199',
  'tel:001-312-555-0199;ext=5;phone-context=+44',
  'Tel: 312 555 0199',
  'whatsapp:+13125550199',
  '%2B13125550199',
  'sip:%2B13125550199@example.com',
];

test.each(spellings.map((spelling) => [spelling]))('%s is one and the same number', (spelling) => {
  expect(phoneKey(spelling)).toBe('3125550199');
});

test.each([
  ['+44 20 7946 0958', '442079460958'],
  ['0044 20 7946 0958', '442079460958'],
  ['011 44 20 7946 0958', '442079460958'],
  ['+44 (0)20 7946 0958', '442079460958'],
  ['0044(0)20 7946 0958', '442079460958'],
  ['sip:0044207946 0958@example.com', '442079460958'],
  ['+15555550100', '5555550100'],
  // An area code that looks like a prefix; a number that is only zeros; what is too short to have
  // an extension.
  ['0113 496 0000', '01134960000'],
  ['0011223', '0011223'],
  ['0000000000', '0000000000'],
  ['555 #0199', '5550199'],
  ['10012345678', '10012345678'],
  ['Anonymous', 'Anonymous'],
  ['anonymous@anonymous.invalid', 'anonymous@anonymous.invalid'],
  ['', ''],
  [null, ''],
  [undefined, ''],
  [['3125550199'], ''],
  ['%', '%'],
  ['%ZZ3125550199', '3125550199'],
])('of %s the key is %s', (number, key) => {
  expect(phoneKey(number)).toBe(key);
});

test('the key of a key is the key', () => {
  for (const number of [
    ...spellings,
    '0044 20 7946 0958',
    '10012345678',
    '011 44 20 7946 0958',
    '0010012345678',
  ])
    expect(phoneKey(phoneKey(number))).toBe(phoneKey(number));
});

test('two numbers are never taken for one because of an extension or a machine', () => {
  const keys = ['3125550199 x5', '3125550198 x5', 'sip:3125550197@10.0.0.1'].map(phoneKey);
  expect(new Set(keys).size).toBe(3);
});

test('a text as long as a record is read in time that grows with its length', () => {
  for (const piece of ['. ', '(', ',', 'x', '1@', 'tel:', '０', 'ext ']) {
    const text = piece.repeat(500_000);
    expect(phoneKey(text).length).toBeLessThanOrEqual(text.length);
  }
});

describe('what somebody types', () => {
  test.each([
    ['3125550199', true],
    ['+1 (312) 555-0199 x5', true],
    ['sip:3125550199@example.com', true],
    ['３１２５５５０１９９', true],
    ['"3125550199"', true],
    ['0044 20 7946 0958', true],
    ['3125550199 3125550198', false],
    ['3125550199;3125550198', false],
    ['3125550199,3125550198', false],
    ['3125550199,Ann', false],
    ['Ann', false],
    ['12', false],
    ['', false],
    ['number', false],
    ['2026-11-23 07:00:00', false],
  ])('%s: a number and nothing else is %s', (text, isNumber) => {
    expect(isPhoneNumber(text)).toBe(isNumber);
  });
});

test('a number with a country code says so', () => {
  expect(readPhone('tel:001-312-555-0199;ext=5')).toEqual({
    digits: '13125550199',
    isInternational: true,
    isAlone: true,
  });
  expect(readPhone('312 555 0199')).toMatchObject({ digits: '3125550199', isInternational: false });
  expect(readPhone('call 312 555 0199')).toMatchObject({ isAlone: false });
  expect(readPhone('none')).toBeNull();
  expect(plainText('٣ and 三 and ９')).toBe('3 and 3 and 9');
});

test('a caller has a number of 7 to 15 digits, however it is written', () => {
  const one = callerOf({ ani: '5555550100' });
  for (const ani of ['+1 (555) 555-0100', 'sip:+15555550100@example.com', 5555550100])
    expect(callerOf({ ani })).toBe(one);
  expect(callerOf({ ani: '5550100' })).not.toBeNull();
  expect(callerOf({ ani: '0550100' })).not.toBe(callerOf({ ani: '550100' }));
  expect(callerOf({ ani: '999999999999999' })).not.toBeNull();
  for (const ani of ['Anonymous', '', null, '0', '101', '555010', '9999999999999999', {}])
    expect(callerOf({ ani })).toBeNull();
  expect(callerOf({})).toBeNull();
});
