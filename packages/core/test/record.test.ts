import { type Call, CallsError, fromCall, toCall } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { describe, expect, test } from 'vitest';
import { fixtureWireCalls } from './support.ts';

describe('toCall and fromCall', () => {
  test.each(['v2', 'v3'] as const)(
    'simulated %s records keep the table without a single problem',
    (version) => {
      const problems: unknown[] = [];
      for (const record of fixtureWireCalls(50, version))
        toCall(record, version, {
          records: 'strict',
          onProblem: (problem) => problems.push(problem),
        });

      expect(problems).toEqual([]);
    },
  );
  test('a v3 record survives the way from wire to neutral and back', () => {
    for (const call of fixtureCalls(20)) expect(toCall(fromCall(call, 'v3'), 'v3')).toEqual(call);
  });
  test('a v2 record survives the way from wire to neutral and back', () => {
    for (const record of fixtureWireCalls(20, 'v2'))
      expect(fromCall(toCall(record, 'v2'), 'v2')).toEqual(record);
  });
  test('a v2 record gets v3 names', () => {
    const [record] = fixtureWireCalls(1, 'v2');
    const call = toCall({ ...record, baseuri: 'https://a.example/x', ads_keyword_id: '7' }, 'v2');
    expect(call).toMatchObject({ first_touch: 'https://a.example/x', ppc_keyword_id: '7' });
    expect(call).not.toHaveProperty('baseuri');
  });
  test('known aliases are read as the documented field, in both versions', () => {
    const [v2] = fixtureWireCalls(1, 'v2');
    const { ads_account_id, ...rest } = v2 as typeof v2 & object;
    const problems: unknown[] = [];
    const call = toCall({ ...rest, adwords_account_id: '42' }, 'v2', {
      onProblem: (p) => problems.push(p),
    });
    expect([call.ppc_account_id, problems]).toEqual(['42', []]);
  });
  test('unknown fields are kept and reported, including __proto__', () => {
    const [record] = fixtureWireCalls(1, 'v2');
    const strange = JSON.parse(
      JSON.stringify(record).replace('{', '{"__proto__":{"x":1},"novel":5,'),
    );
    const reports: string[] = [];
    const call = toCall(strange, 'v2', { onProblem: (p) => reports.push(`${p.kind} ${p.field}`) });
    expect(reports).toEqual(['unknown_field __proto__', 'unknown_field novel']);
    expect((call as Call & { novel: unknown }).novel).toBe(5);
    expect(Object.getPrototypeOf(call)).toBe(Object.prototype);
    expect(fromCall(call, 'v2')).toHaveProperty('novel', 5);
  });
  test.each(['1', 'another'])(
    'a v3 name in a v2 record does not take the place of the v2 one (rank %s)',
    (rank) => {
      const [record] = fixtureWireCalls(1, 'v2');
      const call = toCall(
        { ...record, rank, baseuri: 'https://a.example/', first_touch: 'https://b.example/' },
        'v2',
      );
      expect(call.first_touch).toBe('https://a.example/');
    },
  );
  test('strict mode refuses what report mode keeps, and names the field without its value', () => {
    const [record] = fixtureWireCalls(1, 'v3');
    const broken = { ...record, talk_minutes: 'Maria', ani: 5555550100 };
    expect(toCall(broken, 'v3')).toEqual(broken);
    const attempt = () => toCall(broken, 'v3', { records: 'strict' });
    expect(attempt).toThrow(CallsError);
    expect(attempt).toThrow(
      /talk_minutes: expected decimal-string, found a string of another form/,
    );
    expect(attempt).not.toThrow(/Maria|5555550100/);
  });
});
