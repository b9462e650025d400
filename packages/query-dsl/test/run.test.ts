import fc from 'fast-check';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { includeCallExtensions, matcher, parse, simplify, toSql, where } from '../src/index.ts';
import { dateText, decimalText, filters, runs } from './arbitrary.ts';

interface Row {
  readonly date_added: string | null;
  readonly talk_minutes: string | null;
  readonly channel: string | null;
}

// Records in wire form: every field a string or null.
const rows: fc.Arbitrary<Row[]> = fc.array(
  fc.record({
    date_added: fc.option(dateText, { freq: 9 }),
    talk_minutes: fc.option(decimalText, { freq: 9 }),
    channel: fc.constantFrom('Tracker', 'Call Extension', null),
  }),
  { minLength: 5, maxLength: 25 },
);

const columns = { date_added: 'added', talk_minutes: 'talk' };

describe('a matcher and SQL', () => {
  const db = new Database(':memory:');
  beforeAll(() =>
    db.exec('CREATE TABLE calls (id INTEGER PRIMARY KEY, added TEXT, talk REAL, channel TEXT)'),
  );
  afterAll(() => db.close());

  function bySql(records: readonly Row[], condition: { text: string; values: readonly unknown[] }): number[] {
    db.exec('DELETE FROM calls');
    const insert = db.prepare('INSERT INTO calls VALUES (?, ?, ?, ?)');
    for (const [id, { date_added, talk_minutes, channel }] of records.entries()) {
      insert.run(id, date_added, talk_minutes === null ? null : Number(talk_minutes), channel);
    }
    const found = db
      .prepare(`SELECT id FROM calls WHERE ${condition.text} ORDER BY id`)
      .all(...condition.values);
    return (found as { id: number }[]).map(({ id }) => id);
  }

  const byMatcher = (records: readonly Row[], match: (record: Row) => boolean): number[] =>
    [...records.keys()].filter((id) => match(records[id] as Row));

  it('match the same records in SQLite', () => {
    fc.assert(
      fc.property(filters, rows, (filter, records) => {
        const expected = byMatcher(records, matcher(filter));
        expect(bySql(records, toSql(filter, { columns, placeholder: '?' }))).toEqual(expected);
      }),
      { numRuns: runs },
    );
  });

  it('match the same records when call extensions are left out by default', () => {
    fc.assert(
      fc.property(filters, rows, (filter, records) => {
        const match = matcher(filter, {
          callExtensions: { channel: 'channel', isExtension: (value) => value === 'Call Extension' },
        });
        const sql = toSql(filter, {
          columns,
          placeholder: '?',
          callExtensions: { column: 'channel', values: ['Call Extension'] },
        });
        expect(bySql(records, sql)).toEqual(byMatcher(records, match));
      }),
      { numRuns: runs },
    );
  });

  it('match the same records before and after simplify', () => {
    fc.assert(
      fc.property(filters, rows, (filter, records) => {
        expect(byMatcher(records, matcher(simplify(filter)))).toEqual(byMatcher(records, matcher(filter)));
      }),
      { numRuns: runs },
    );
  });
});

describe('a matcher', () => {
  const takes = (text: string, values: readonly unknown[]): unknown[] =>
    values.filter((talk_minutes) => matcher(parse(text))({ talk_minutes }));

  it('compares decimal strings as numbers', () => {
    expect(takes('talk_minutes:[2 TO 10}', ['1.9', '2', '2.0', '9.9', '10', '10.0', '-3', 5])).toEqual([
      '2',
      '2.0',
      '9.9',
      5,
    ]);
  });

  it.each([
    ['talk_minutes:[* TO 5]', [null, undefined, '', ' ', 'many', '0x1', '1e0', {}, true, Number.NaN]],
    ['talk_minutes:[-1 TO *]', [null, undefined, '', ' ', 'many', '0x1', '1e0', {}, true, Number.NaN]],
  ])('%s matches nothing that is not a number', (text, values) => {
    expect(takes(text, values)).toEqual([]);
  });

  it('matches any value but null when both ends are open', () => {
    expect(takes('talk_minutes:[* TO *]', ['', '5', 'x', null, undefined])).toEqual(['', '5', 'x']);
    expect(matcher(parse('talk_minutes:[* TO *]'))({})).toBe(false);
  });

  it('compares dates as strings, even with fractions of a second', () => {
    const match = matcher(
      parse('talk_start:[2024-01-01 00:00:00 TO 2024-01-02 00:00:00}', { fields: { talk_start: 'date' } }),
    );
    const starts = [
      '2023-12-31 23:59:59.9',
      '2024-01-01 00:00:00',
      '2024-01-01 23:59:59.9',
      '2024-01-02 00:00:00',
      null,
      7,
    ];
    expect(starts.filter((talk_start) => match({ talk_start }))).toEqual([
      '2024-01-01 00:00:00',
      '2024-01-01 23:59:59.9',
    ]);
  });

  it('never looks at a field named inc_gce', () => {
    const match = matcher(includeCallExtensions());
    expect(match({ inc_gce: '0' })).toBe(true);
    expect(match({})).toBe(true);
  });

  it('matches everything without a filter', () => {
    expect(matcher(parse(''))({})).toBe(true);
  });
});

describe('SQL', () => {
  const sql = (text: string, placeholder: '?' | '$' = '?', firstParameter?: number) =>
    toSql(parse(text), { columns, placeholder, firstParameter });

  it.each([
    ['', '1 = 1', []],
    ['inc_gce:1', '1 = 1', []],
    ['talk_minutes:[2 TO *]', 'talk >= ?', [2]],
    ['talk_minutes:{2 TO 5.5}', 'talk > ? AND talk < ?', [2, 5.5]],
    ['talk_minutes:[* TO *]', 'talk IS NOT NULL', []],
    ['talk_minutes:[* TO *],talk_minutes:[* TO 9]', 'talk <= ?', [9]],
    ['date_added:[2024-01-01 00:00:00 TO *]', 'added >= ?', ['2024-01-01 00:00:00']],
    ['talk_minutes:[1 TO *],talk_minutes:{1 TO 8],talk_minutes:[0 TO 9]', 'talk > ? AND talk <= ?', [1, 8]],
  ])('%j becomes %j', (text, condition, values) => {
    expect(sql(text)).toEqual({ text: condition, values });
  });

  it('numbers its placeholders for PostgreSQL', () => {
    expect(sql('talk_minutes:[2 TO 5]', '$')).toEqual({ text: 'talk >= $1 AND talk <= $2', values: [2, 5] });
    expect(sql('talk_minutes:[2 TO 5]', '$', 7).text).toBe('talk >= $7 AND talk <= $8');
  });

  it('binds values with the function of the column', () => {
    const tenths = { column: 'tenths', bind: (text: string) => BigInt(Math.round(Number(text) * 10)) };
    const filter = where('talk_minutes').atLeast(2.5);
    expect(toSql(filter, { columns: { talk_minutes: tenths }, placeholder: '?' })).toEqual({
      text: 'tenths >= ?',
      values: [25n],
    });
  });

  it.each(['talk_minutes', 'constructor', '__proto__'])(
    'refuses the field %s when it is not allowed',
    (field) => {
      const filter = { clauses: [{ kind: 'range', field, lower: null, upper: null }] } as const;
      expect(() => toSql(filter, { columns: { date_added: 'added' }, placeholder: '?' })).toThrow(
        `No column is allowed for the field ${field}. Allowed: date_added.`,
      );
    },
  );
});

describe('simplify', () => {
  it.each([
    ['talk_minutes:[1 TO 9],inc_gce:1,talk_minutes:{2 TO *],inc_gce:1', 'talk_minutes:{2 TO 9],inc_gce:1'],
    ['talk_minutes:[1 TO 2],talk_minutes:[3 TO 4]', 'talk_minutes:[3 TO 3}'],
    ['talk_minutes:[* TO *],date_added:[* TO *]', 'talk_minutes:[* TO *],date_added:[* TO *]'],
    ['', ''],
  ])('%j becomes %j', (text, simple) => {
    expect(simplify(parse(text))).toEqual({
      clauses: parse(simple).clauses.map(({ start, end, ...clause }) => {
        if (clause.kind === 'flag') return clause;
        const bare = (bound: typeof clause.lower) =>
          bound && { text: bound.text, inclusive: bound.inclusive };
        return { ...clause, lower: bare(clause.lower), upper: bare(clause.upper) };
      }),
    });
  });

  it('refuses a field with dates and numbers', () => {
    const bound = (text: string) => ({ text, inclusive: true });
    const clause = { kind: 'range', field: 'x', upper: null } as const;
    const mixed = {
      clauses: [
        { ...clause, lower: bound('1') },
        { ...clause, lower: bound('2024-01-01 00:00:00') },
      ],
    };
    expect(() => simplify(mixed)).toThrow('mix dates and numbers');
  });
});
