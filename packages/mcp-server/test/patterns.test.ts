import { describe, expect, test } from 'vitest';
import { createMasks, pseudonymKeyFrom } from '../src/privacy/masking.ts';
import { replacePatterns, replacePersonal } from '../src/privacy/patterns.ts';

test('equal values get equal masks under one key, and others under another', () => {
  const [a, again, b] = ['one', 'one', 'two'].map((key) => createMasks(pseudonymKeyFrom(key)).ofField);
  expect(a?.('phone', '5555550100')).toMatch(/^phone-\d{12}$/);
  expect(a?.('phone', '5555550100')).toBe(again?.('phone', '5555550100'));
  expect(a?.('phone', '5555550100')).not.toBe(b?.('phone', '5555550100'));
  expect(a?.('name', '5555550100')).not.toBe(a?.('phone', '5555550100'));
});

test.each([
  '+1 (555) 555-0100',
  '0015555550100',
  '5555550100 x5',
  '５５５５５５０１００',
  'sip:5555550100@10.0.0.1',
  'tel:+1-555-555-0100',
])('%s gets the mask of the same number in another spelling', (spelling) => {
  const { ofField, ofText } = createMasks('a key');
  expect(ofField('phone', spelling)).toBe(ofField('phone', '5555550100'));
  expect(ofText('phone', spelling)).toBe(ofText('phone', '5555550100'));
});

describe('patterns', () => {
  const clean = (text: string) => replacePatterns(text, (kind) => `[${kind}]`);

  test.each([
    ['write to a.b@example.com', 'write to [email]'],
    ['call (212) 555-0100 or 2125550100', 'call [phone] or [phone]'],
    ['from 192.0.2.17 or 2001:db8::1', 'from [ip] or [ip]'],
    ['/page?name=Ana&utm_term=roof', '/page?name=[value]&utm_term=roof'],
    // Digits of other scripts, wide and styled ones.
    ['٢١٢٥٥٥٠١٠٠ and २१२-५५५-०१००', '[phone] and [phone]'],
    ['２１２５５５０１００, 𝟚𝟙𝟚𝟝𝟝𝟝𝟘𝟙𝟘𝟘, 2️⃣125550100', '[phone], [phone], [phone]'],
    // Encoded, also several times.
    ['%32%31%32-555-0100 \\u0032125550100 &#50;&#x31;25550100', '[phone] [phone] [phone]'],
    ['?e=john%2540example.com&q=roof', '?e=[email]&q=roof'],
    ['john [at] example (dot) com', '[email]'],
    // Separators and prefixes.
    ['212 ---- 555 ---- 0100; 212.555.0100; 212_555_0100', '[phone]; [phone]; [phone]'],
    ['0151 23456789, 06 12 34 56 78, 00441632960961', '[phone], [phone], [phone]'],
    ['+44 20 7946 0958 and 2 1 2 5 5 5 0 1 0 0', '[phone] and [phone]'],
    ['tel: 12345678', 'tel: [phone]'],
    ['2026-11-20 212-555-0100', '2026-11-20 [phone]'],
    // Cards have a checksum.
    ['4111 1111 1111 1111 or 378282246310005', '[card] or [card]'],
    ['123-45-6789', '[number]'],
    // Names of parameters.
    ['billing_name=Bob Smith&x=1', 'billing_name=[value]&x=1'],
    ['?customer=Bob%20Smith%26Co&ok=1', '?customer=[value]&ok=1'],
    [
      'to=https%3A%2F%2Fx.example%3Fname%3DBob%26utm_term%3Droof',
      'to=https%3A%2F%2Fx.example%3Fname%3D[value]%26utm_term%3Droof',
    ],
    ['{"full_name": "Bob Smith", "plan": "b"}', '{"full_name": "[value]", "plan": "b"}'],
    ['https://user:hunter2@example.com/', 'https://user:[value]'],
  ])('%s', (text, masked) => expect(clean(text)).toBe(masked));

  test.each([
    '2026-11-20 14:03:00, version 1.2.3.4.5, gclid=2125550100',
    '11/01/2026 10:30, from 2026-11-01 to 2026-11-30, 20261101100000, 1763769600, 1763769600123',
    'campaignid=9876543210&adgroupid=8765432109&utm_content=9876543210&gad_campaignid=21255501009',
    'gclid=EAIaIQobChMI2125550100abcD&fbclid=IwAR0abc-4567890123&wbraid=Cjk_5550-1234',
    '_ga=GA1.2.2125550100.1763769600; fb.1.1763769600123.2125550100',
    '$1,299.00, $250-3000, EUR 1 299,00, $1.299.000, 1 000 000',
    'Chrome 120.0.6099.109 on Windows, Chrome/17.5.1.2, 24/7, 4.9 (1,234 reviews), page 3 of 12',
    '550e8400-e29b-41d4-a716-446655440000 23843123456789012 ORD-2026-000123',
    'campaign_name=Spring Sale, product_name=Widget, customer_type=new, user=guest, sort_key=price',
    'https://www.example.com/services/plumbing-2024-10?utm_campaign=spring&utm_term=roof%20repair',
    'plumber near me 80202, 2019 2020 2021, size 100 200, 1920x1080',
    'lat=39.7392&lng=-104.9903',
    'Straße & Café – 50 % «günstig»',
  ])('%s stays as it is', (text) => expect(clean(text)).toBe(text));

  test('known values are found in any spelling', () => {
    const known = [
      { kind: 'phone', value: '+4915123456789' },
      { kind: 'name', value: 'Jürgen' },
      { kind: 'name', value: 'O’Brien-Strauß' },
    ];
    const masked = (text: string) => replacePersonal(text, known, (kind) => `[${kind}]`);
    expect(masked('juergen-obrien-strauss, JURGEN STRAUSS')).toBe('[name]-[name], [name] [name]');
    expect(masked('0151/2345.67-89 id15123456789x')).toBe('[phone] id[phone]x');
  });
});
