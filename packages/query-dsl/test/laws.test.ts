import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allOf,
  applyFix,
  explain,
  type Filter,
  FilterSyntaxError,
  fromQueryParam,
  type Problem,
  parse,
  printFilter,
  safeParse,
  simplify,
  toQueryParam,
} from '../src/index.ts';
import { bare, filters, runs } from './arbitrary.ts';

const assertLaw = <T extends [unknown, ...unknown[]]>(property: fc.IPropertyWithHooks<T>): void =>
  fc.assert(property, { numRuns: runs });

// A string is read, or refused with one of our own errors whose fix, if it has one, parses.
function check(text: string, options = {}): void {
  const result = safeParse(text, options);
  if (result.ok) {
    expect(parse(text, options)).toEqual(result.filter);
    expect(bare(parse(printFilter(result.filter), options))).toEqual(bare(result.filter));
    return;
  }

  const thrown = catchError(() => parse(text, options));
  expect(thrown).toBeInstanceOf(FilterSyntaxError);
  expect(isSound(text, result.problem, options)).toBe(true);
  const { code, start, end, found, message, fix } = result.problem;
  expect(thrown).toMatchObject({ code, start, end, found, message });
  expect((thrown as FilterSyntaxError).fix).toEqual(fix);
}

// One expectation for all rules: hundreds of thousands of them would take half a minute.
function isSound(text: string, problem: Problem, options: object): boolean {
  const { start, end, message, frame } = problem;
  const fixed = applyFix(text, problem);
  return (
    start >= 0 &&
    end >= start &&
    end <= text.length &&
    !/\n|undefined/.test(message) &&
    frame.split('\n').length === 2 &&
    (fixed === undefined || parse(fixed, options).clauses.length > 0)
  );
}

function catchError(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('for every filter or text,', () => {
  it('what is printed reads back as the same tree', () => {
    assertLaw(
      fc.property(filters, (filter) => {
        expect(bare(parse(printFilter(filter)))).toEqual(filter);
      }),
    );
  });

  it('printing is idempotent, even for numbers with needless zeros', () => {
    const number = fc.stringMatching(/^-?[0-9]{1,12}(\.[0-9]{1,12})?$/);
    assertLaw(
      fc.property(number, (text) => {
        const lower = { text, inclusive: true };
        const once = printFilter({
          clauses: [{ kind: 'range', field: 'talk_minutes', lower, upper: null }],
        });
        expect(printFilter(parse(once))).toBe(once);
        expect(once).not.toMatch(/\[-?0\d|\.\d*0 /);
        const [clause] = parse(once).clauses;
        expect(clause?.kind === 'range' && Number(clause.lower?.text) - Number(text)).toBe(0);
      }),
    );
  });

  it('edited trees print and read back', () => {
    assertLaw(
      fc.property(filters, filters, (one, other) => {
        const edited: Filter = {
          clauses: [...parse(printFilter(one)).clauses].reverse().concat(other.clauses),
        };
        expect(bare(parse(printFilter(edited)))).toEqual(bare(edited));
        expect(printFilter(allOf(one, other))).toBe(
          [printFilter(one), printFilter(other)].filter(Boolean).join(','),
        );
      }),
    );
  });

  it('a query parameter decodes to the text it was made of, and contains no plus and no space', () => {
    assertLaw(
      fc.property(filters, (filter) => {
        const encoded = toQueryParam(filter);
        expect(encoded).not.toMatch(/[+ ,:{}[\]]/);
        expect(fromQueryParam(encoded)).toBe(printFilter(filter));
      }),
    );
  });

  it('every prefix of a filter is read or refused with our own error', () => {
    fc.assert(
      fc.property(filters, (filter) => {
        const text = printFilter(filter);
        for (let end = 0; end < text.length; end++) check(text.slice(0, end));
      }),
      { numRuns: Math.ceil(runs / 8) },
    );
  });

  it('every single-character edit is read or refused with our own error', () => {
    const character = fc.oneof(
      fc.constantFrom(...'[]{},:* TOto0129-.+%"\'q=\t\u00a0あ😀\n\\'),
      fc.string({ minLength: 1, maxLength: 1, unit: 'binary' }),
    );
    assertLaw(
      fc.property(filters, fc.nat(), character, (filter, place, char) => {
        const text = printFilter(filter);
        const at = place % (text.length + 1);
        check(text.slice(0, at) + text.slice(at + 1));
        check(text.slice(0, at) + char + text.slice(at));
        check(text.slice(0, at) + char + text.slice(at + 1), { version: 'v2' });
      }),
    );
  });

  it('any text made of the tokens of the grammar is read or refused with our own error', () => {
    const token = fc.constantFrom(
      'talk_minutes',
      'date_added',
      'inc_gce',
      'Date_Added',
      ':',
      '=',
      '[',
      '{',
      ']',
      '}',
      ' TO ',
      ' to ',
      'TO',
      '*',
      ',',
      ' ',
      '1',
      '-2.50',
      '2024-02-30 00:00:00',
      '2024-02-01',
      '2024-02-01T00:00:00Z',
      '"',
      "'",
      '\u00a0',
      ' AND ',
      '%20',
      '+',
      'q=',
      'x',
    );
    assertLaw(
      fc.property(fc.array(token, { maxLength: 14 }), (tokens) => {
        check(tokens.join(''));
        check(tokens.join(''), { version: 'v3', fields: { x: 'date' } });
      }),
    );
  });

  it('any text at all is read or refused with our own error', () => {
    assertLaw(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        check(text);
      }),
    );
  });

  it('a filter written with common slips is corrected to the filter that was meant', () => {
    const slips: readonly ((text: string) => string)[] = [
      (text) => text.replaceAll(' TO ', ' to '),
      (text) => text.replaceAll(' TO ', ' - '),
      (text) => text.replaceAll('talk_minutes', 'Talk-Minuts'),
      (text) => text.replaceAll('date_added', 'DateAdded'),
      (text) => text.replaceAll(':[', ' = [').replaceAll(':{', '{'),
      (text) => text.replaceAll('[', '["').replaceAll(']', '"]'),
      (text) => text.replaceAll('{', '(').replaceAll('}', ')'),
      (text) => text.replaceAll(/(-\d\d) (\d\d:)/g, '$1T$2'),
      (text) => text.replaceAll(/:\[\* TO ([^*\]})]+)\]/g, '<=$1'),
      (text) => text.replaceAll(/:\[([^*\]})]+) TO \*\]/g, '>=$1'),
      (text) => text.replaceAll(/:\{([^*\]})]+) TO \*\]/g, ' > $1'),
      (text) => text.replaceAll('inc_gce:1', 'inc_gce:true'),
      (text) => text.replace(/\]$/, ''),
    ];
    assertLaw(
      fc.property(
        filters.filter(({ clauses }) => clauses.length > 0),
        fc.subarray([...slips.keys()], { minLength: 1, maxLength: 4 }),
        fc.constantFrom(',', ', ', ' AND ', ' && ', ';'),
        (filter, chosen, separator) => {
          const text = printFilter(filter);
          const written = chosen.reduce(
            (each, index) => (slips[index] as (text: string) => string)(each),
            text.replaceAll(',', separator),
          );
          const result = safeParse(written);
          const fixed = result.ok
            ? written
            : (applyFix(written, result.problem) ?? result.problem.message);
          expect(printFilter(parse(fixed))).toBe(text);
        },
      ),
    );
  });

  it('explain says all of it in one sentence', () => {
    assertLaw(
      fc.property(filters, (filter) => {
        const sentence = explain(filter);
        expect(sentence).toMatch(/^(?:All calls|Calls whose|No calls: no) ?[^\n]*\.$/);
        if (sentence.startsWith('No calls')) return;
        for (const clause of simplify(filter).clauses) {
          if (clause.kind === 'flag') expect(sentence).toContain('call extensions');
          else
            for (const bound of [clause.lower, clause.upper])
              expect(sentence).toContain(bound?.text ?? '');
        }
      }),
    );
  });

  it('simplify keeps one clause for each field and changes nothing when done twice', () => {
    assertLaw(
      fc.property(filters, (filter) => {
        const simple = simplify(filter);
        const fields = simple.clauses.map(({ field }) => field);
        expect(new Set(fields).size).toBe(fields.length);
        expect(simplify(simple)).toEqual(simple);
        expect(bare(parse(printFilter(simple)))).toEqual(simple);
      }),
    );
  });
});
