import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readArguments } from '../../src/arguments/read.ts';
import { ToolError } from '../../src/text/failures.ts';
import { analyzeCalls } from '../../src/tools/analyze-calls.ts';
import { countCalls } from '../../src/tools/count-calls.ts';
import { listCalls } from '../../src/tools/list-calls.ts';
import { failureOf } from '../support/failure-of.ts';

const read = (args: unknown) => readArguments('list_calls', listCalls.input, args) as Record<string, unknown>;

describe('readArguments', () => {
  it.each([[['sid', 'ani']], ['sid,ani'], [' sid , ani ,'], ['["sid","ani"]']])(
    'accepts a list written as %j',
    (fields) => {
      expect(read({ fields }).fields).toEqual(['sid', 'ani']);
    },
  );

  it('accepts numbers and booleans as strings', () => {
    expect(read({ rows: '10' })).toEqual({ rows: 10 });
    expect(readArguments('count_calls', countCalls.input, { expected: '1.5' })).toEqual({ expected: 1.5 });
    expect(readArguments('analyze_calls', analyzeCalls.input, { explain: 'TRUE' })).toEqual({
      explain: true,
    });
  });

  it('splits a list of measures where a measure ends', () => {
    const read = readArguments('analyze_calls', analyzeCalls.input, {
      measures: "calls, count(state IN ('TX','CA')), share(city = 'a,b')",
    });
    expect(read).toEqual({ measures: ['calls', "count(state IN ('TX','CA'))", "share(city = 'a,b')"] });
  });

  it('accepts the whole object as a JSON string, and treats null and empty strings as left out', () => {
    expect(read('{"rows":3,"from":null,"where":""}')).toEqual({ rows: 3 });
    expect(read(undefined)).toEqual({});
  });

  it.each([
    [{ row: 3 }, 'Did you mean "rows"?'],
    [{ timezone: 'UTC' }, 'Did you mean "time_zone"?'],
    [{ __proto__x: 3 }, 'list_calls takes: period, from, to, calls'],
    [{ rows: 0 }, '"rows" must be at least 1, not 0.'],
    [{ rows: 2.5 }, '"rows" must be a whole number, not 2.5.'],
    [{ rows: 'many' }, '"rows" must be a number, not a string.'],
    [{ rows: -1 }, '"rows" must be at least 1, not -1.'],
    [
      { calls: 'websites' },
      '"calls" must be one of website, extensions, all, not "websites". Did you mean website?',
    ],
    [{ calls: 'phone' }, '"calls" must be one of website, extensions, all.'],
    [{ fields: ['sid', 7] }, '"fields[1]" must be a string, not a number.'],
    [{ where: 'x'.repeat(4001) }, '"where" must have at most 4000 characters.'],
    [[1, 2], 'must be one JSON object'],
    ['not json', 'must be one JSON object'],
  ])('refuses %j and says what to do', (args, text) => {
    expect(failureOf(() => read(args))).toContain(text);
  });

  it('either reads arguments or throws a ToolError, whatever it gets', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.dictionary(fc.constantFrom('where', 'rows', 'fields', 'from', 'x'), fc.anything()),
        ),
        (args) => {
          for (const tool of [listCalls, analyzeCalls]) {
            try {
              readArguments(tool.name, tool.input, args);
            } catch (error) {
              expect(error).toBeInstanceOf(ToolError);
            }
          }
        },
      ),
      { numRuns: Number(process.env.CALLS_RUNS ?? 300) },
    );
  });
});
