import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseFilter } from '../src/arguments/filter.ts';
import { readArguments } from '../src/arguments/read.ts';
import { failureText, ToolError } from '../src/text/failures.ts';
import { listCalls } from '../src/tools/list-calls.ts';
import { summarizeCalls } from '../src/tools/summarize-calls.ts';

const read = (args: unknown) => readArguments('list_calls', listCalls.input, args) as Record<string, unknown>;
const errorOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof ToolError) return failureText(error.problem);
    throw error;
  }
  throw new Error('expected an error');
};

describe('arguments', () => {
  it.each([[['sid', 'ani']], ['sid,ani'], [' sid , ani ,'], ['["sid","ani"]']])(
    'take a list as %j',
    (fields) => {
      expect(read({ fields }).fields).toEqual(['sid', 'ani']);
    },
  );

  it('take numbers and booleans as text', () => {
    expect(read({ rows: '10', min_talk_minutes: '1.5', include_call_extensions: 'TRUE' })).toEqual({
      rows: 10,
      min_talk_minutes: 1.5,
      include_call_extensions: true,
    });
  });

  it('take the whole object as JSON text, and null as left out', () => {
    expect(read('{"rows":3,"from":null,"q":""}')).toEqual({ rows: 3 });
    expect(read(undefined)).toEqual({});
  });

  it.each([
    [{ row: 3 }, 'Did you mean "rows"?'],
    [{ minTalkMinutes: 3 }, 'Did you mean "min_talk_minutes"?'],
    [{ __proto__x: 3 }, 'list_calls takes: q, from, to'],
    [{ rows: 0 }, '"rows"'],
    [{ rows: 2.5 }, '"rows"'],
    [{ min_talk_minutes: -1 }, '"min_talk_minutes"'],
    [[1, 2], 'must be one JSON object'],
    ['not json', 'must be one JSON object'],
  ])('refuse %j and say what to do', (args, text) => {
    expect(errorOf(() => read(args))).toContain(text);
  });

  it('are either read or refused in words, whatever comes', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.dictionary(fc.constantFrom('q', 'rows', 'fields', 'from', 'x'), fc.anything()),
        ),
        (args) => {
          for (const tool of [listCalls, summarizeCalls]) {
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

describe('the filter of a call', () => {
  it.each([
    [{}, ''],
    [{ from: '2026-11-01', to: '2026-11-30' }, 'date_added:[2026-11-01 00:00:00 TO 2026-12-01 00:00:00}'],
    [{ from: '2026-11-01 08:30:00' }, 'date_added:[2026-11-01 08:30:00 TO *]'],
    [{ to: '2026-11-01T09:00' }, 'date_added:[* TO 2026-11-01 09:00:00}'],
    [{ to: '2024-02-29' }, 'date_added:[* TO 2024-03-01 00:00:00}'],
    [{ min_talk_minutes: 2 }, 'talk_minutes:[2 TO *]'],
    [{ min_talk_minutes: 0.25 }, 'talk_minutes:[0.3 TO *]'],
    [{ min_talk_minutes: 2.04 }, 'talk_minutes:[2.1 TO *]'],
    [{ min_talk_minutes: 1.1 }, 'talk_minutes:[1.1 TO *]'],
    [{ include_call_extensions: true }, 'inc_gce:1'],
    [{ q: 'talk_minutes:[1 TO *],inc_gce:1' }, 'talk_minutes:[1 TO *],inc_gce:1'],
  ])('of %j is %j', (args, text) => {
    expect(chooseFilter(args, 'v3').text).toBe(text);
  });

  it.each([
    [{ q: 'x', from: '2026-01-01' }, 'cannot be combined'],
    [{ from: '2026-02-30' }, 'not a valid date or time'],
    [{ from: '2026-11-01T00:00:00Z' }, 'no time zone'],
    [{ from: 'yesterday' }, 'Write from as YYYY-MM-DD'],
    [{ from: '2026-11-02', to: '2026-11-01' }, 'The range is empty'],
    [{ q: 'talk_minute:[1 TO *]' }, 'talk_minutes'],
    [{ q: 'talk_minutes:[1 TO' }, 'check_filter'],
  ])('of %j is refused, saying %j', (args, text) => {
    expect(errorOf(() => chooseFilter(args, 'v3'))).toContain(text);
  });

  it('says that v3 leaves call extensions out unless asked', () => {
    expect(chooseFilter({}, 'v3').notes.join()).toContain('left out');
    expect(chooseFilter({ include_call_extensions: true }, 'v3').notes).toEqual([]);
    expect(chooseFilter({}, 'v2').notes).toEqual([]);
    expect(chooseFilter({ include_call_extensions: true }, 'v2').notes.join()).toContain('no switch');
  });
});
