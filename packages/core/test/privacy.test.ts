import { isLoopback } from '@call-attribution/core';
import {
  createPseudonymizer,
  phoneKey,
  pseudonymKeyFrom,
  replacePatterns,
  toE164,
} from '@call-attribution/core/privacy';
import { describe, expect, test } from 'vitest';

test.each([
  ['+1 (555) 555-0100', '5555550100'],
  ['15555550100', '5555550100'],
  ['+44 20 7946 0000', '442079460000'],
  ['Anonymous', 'Anonymous'],
])('%s is the same number as %s', (number, key) => expect(phoneKey(number)).toBe(key));

test.each([
  ['(212) 555-0100', '+12125550100'],
  ['1 212 555 0100', '+12125550100'],
  ['+44 20 7946 0000', '+442079460000'],
  ['5550100', null],
  ['Anonymous', null],
  [null, null],
])('%j in E.164 is %j', (number, form) => expect(toE164(number)).toBe(form));

test('equal values get equal pseudonyms under one key, and others under another', () => {
  const [a, again, b] = ['one', 'one', 'two'].map((key) => createPseudonymizer(pseudonymKeyFrom(key)));
  expect(a?.('phone', '5555550100')).toMatch(/^phone-\d{12}$/);
  expect(a?.('phone', '5555550100')).toBe(again?.('phone', '5555550100'));
  expect(a?.('phone', '5555550100')).not.toBe(b?.('phone', '5555550100'));
  expect(a?.('name', '5555550100')).not.toBe(a?.('phone', '5555550100'));
});

describe('patterns', () => {
  test.each([
    ['write to a.b@example.com', 'write to [email]'],
    ['call (212) 555-0100 or 2125550100', 'call [phone] or [phone]'],
    ['from 192.0.2.17 or 2001:db8::1', 'from [ip] or [ip]'],
    ['/page?name=Ana&utm_term=roof', '/page?name=[value]&utm_term=roof'],
    ['2026-11-20 14:03:00, version 1.2.3.4.5, gclid=2125550100', null],
  ])('%s', (text, clean) => {
    expect(replacePatterns(text, (kind) => `[${kind}]`)).toBe(clean ?? text);
  });
});

test.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['127.8.8.8', true],
  ['[::1]', true],
  ['::1', true],
  ['LOCALHOST', true],
  ['[0:0:0:0:0:0:0:1]', true],
  ['[::ffff:127.0.0.1]', true],
  ['::ffff:7f00:1', true],
  ['127.evil.example', false],
  ['localhost.', false],
  ['127.0.0.1.', false],
  ['127.1', false],
  ['0x7f.1', false],
  ['2130706433', false],
  ['127.0.0.999', false],
  ['[::1%lo]', false],
  ['[::ffff:10.0.0.1]', false],
  ['0.0.0.0', false],
  ['', false],
  ['127.0.0.1.evil.example', false],
  ['localhost.evil.example', false],
  ['10.0.0.1', false],
])('whether %s is this machine: %s', (host, answer) => expect(isLoopback(host)).toBe(answer));
