import { fields } from '@call-attribution/core';
import { isCallExtension, isFinalStatus, maskClasses } from '@call-attribution/core/fields';
import { filterFields } from '@call-attribution/query-dsl';
import { describe, expect, test } from 'vitest';

describe('the field table', () => {
  test.each(['name', 'v2', 'v3'] as const)('no two fields have the same name (%s)', (version) => {
    const names = fields.flatMap((spec) => spec[version] ?? []);
    expect(new Set(names).size).toBe(names.length);
  });
  test.each(['v2', 'v3'] as const)('a filter of %s compares fields that it sends', (version) => {
    const types = { date: 'datetime', decimal: 'decimal-string' };
    for (const [name, type] of Object.entries(filterFields[version]))
      if (type !== 'flag')
        expect(fields.find((spec) => spec[version] === name)).toMatchObject({ type: types[type] });
  });
  test('the table says for every personal field, and for no other, how it is masked', () => {
    for (const { name, personal, mask } of fields) expect(mask !== undefined, name).toBe(personal);
    expect(new Set(fields.flatMap(({ mask }) => mask?.class ?? []))).toEqual(new Set(maskClasses));
  });
  test('the table marks as ids what is compared and never added up', () => {
    expect(fields.filter(({ isId }) => isId).map(({ name }) => name)).toEqual([
      'sid',
      'acct_id',
      'call_logging_id',
      'super_id',
      'pid',
      'activity_type_id',
      'pool_id',
      'domain_set_id',
      'location_id',
      'ppc_account_id',
      'ppc_campaign_id',
      'ppc_adgroup_id',
      'ppc_keyword_id',
      'ppc_ad_id',
      'ppc_gclid',
    ]);
  });
  test('the table knows which values of ppc_status may still change', () => {
    const { values = [], interimValues = [] } =
      fields.find(({ name }) => name === 'ppc_status') ?? {};
    for (const value of values)
      expect(isFinalStatus(value), String(value)).toBe(!interimValues.includes(String(value)));
    expect([
      isFinalStatus('Waiting For Keyword'),
      isFinalStatus('Archived'),
      isFinalStatus(null),
    ]).toEqual([false, true, true]);
  });
});

describe('isCallExtension', () => {
  test.each([
    'Call Extension',
    'Call Extensions',
    'Google Call Extension',
    'call extensions',
    'GOOGLE_CALL_EXTENSION',
    'Bing Call-Extensions v2',
  ])('%s is the channel of a call extension', (channel) =>
    expect(isCallExtension({ channel })).toBe(true),
  );
  test.each([
    'Tracker',
    'Extension',
    'Recall Extension',
    'Location Extension',
    '',
    null,
    undefined,
    7,
  ])('%j is another channel', (channel) => expect(isCallExtension({ channel })).toBe(false));
});
