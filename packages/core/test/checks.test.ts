import { fields, toCall, type Version } from '@call-attribution/core';
import { callSchema, callV2Schema, callV3Schema } from '@call-attribution/core/schemas';
import { fixtureCalls } from '@call-attribution/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { brokenFields, keepsTable } from '../src/record/check-record.ts';
import { fixtureWireCalls } from './support.ts';

const versions: Version[] = ['v2', 'v3'];
const anything = fc.oneof(
  fc.constantFrom(
    null,
    undefined,
    '',
    '1',
    '7.5',
    '-1',
    '1e5',
    1,
    1.5,
    9,
    true,
    'Processed',
    'x',
    '2024-01-01 00:00:00',
    '2024-01-01 00:00:00.0',
  ),
  fc.string(),
  fc.constant([]),
  fc.constant({}),
);

describe.each(versions)('a %s record', (version) => {
  const names = fields.flatMap((field) => field[version] ?? []);
  const schema = version === 'v2' ? callV2Schema : callV3Schema;
  const [good] = fixtureWireCalls(1, version) as object[];

  test('a record passes the quick check exactly when the slow check finds nothing, and the schema agrees', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), anything, fc.boolean(), (name, value, extra) => {
        const record: Record<string, unknown> = {
          ...good,
          [name]: value,
          ...(extra ? { novel: 1 } : {}),
        };
        if (value === undefined) delete record[name];
        const broken = brokenFields(record, version);
        expect(keepsTable(record, version)).toBe(broken.length === 0);
        expect(schema.safeParse(record).success).toBe(broken.length === 0);
      }),
      { numRuns: 1000 },
    );
  });

  test('a record with a wrong value in any field is reported under that field, and kept', () => {
    for (const name of names) {
      const reports: string[] = [];
      const broken = { ...good, [name]: { odd: true } };
      if (name === 'sid') continue;
      const call = toCall(broken, version, {
        onProblem: ({ kind, field }) => reports.push(`${kind} ${field}`),
      });
      expect(reports).toEqual([`type ${name}`]);
      expect(Object.values(call)).toContainEqual({ odd: true });
    }
  });

  test('a record without a field is reported as missing it', () => {
    for (const name of names.filter((one) => one !== 'sid')) {
      const reports: string[] = [];
      const { [name as never]: _, ...short } = good as Record<string, unknown>;
      toCall(short, version, { onProblem: ({ kind, field }) => reports.push(`${kind} ${field}`) });
      expect(reports).toEqual([`missing ${name}`]);
    }
  });

  test('a record without sid is refused', () => {
    const { sid: _, ...short } = good as { sid: string };
    expect(() => toCall(short, version)).toThrow(/sid: expected string, found nothing/);
  });
});

test('deprecated fields are accepted in v3', () => {
  const reports: unknown[] = [];
  const [good] = fixtureWireCalls(1, 'v3');
  const call = toCall({ ...good, phone_number: null, super_id: 'x', call_logging_id: null }, 'v3', {
    onProblem: (p) => reports.push(p),
  });
  expect([reports, call.super_id]).toEqual([[], 'x']);
});

test('the neutral schema accepts records of both versions', () => {
  for (const version of versions)
    for (const record of fixtureWireCalls(20, version))
      expect(callSchema.safeParse(toCall(record, version)).error).toBeUndefined();
  for (const call of fixtureCalls(20)) expect(callSchema.safeParse(call).success).toBe(true);
});
