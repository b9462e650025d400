import { describe, expect, test } from 'vitest';
import { CallsError } from '../src/errors/index.ts';
import { checkOption, defineOptions, option } from '../src/options/index.ts';

const retries = defineOptions({ attempts: option.whole(1).default(3), wait: option.number(0) });
const table = defineOptions({
  name: option.string().required(),
  rows: option.whole(1).default(250),
  since: option.string().or(option.only(null)).default(null),
  mode: option.oneOf('fast', 'exact', 'off'),
  retry: option.table(retries).default({}),
  window: option.only(false).or(option.table(retries)),
  sink: option.methods<{ write(): void }>('a sink with write()', 'write').or(option.table(retries)),
  code: option.string().expecting('a code'),
  now: option.callback<() => number>().default(() => 7),
});

function refused(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (CallsError.is(error, 'invalid_option')) return `${error.message} ${error.hint ?? ''}`.trim();
    throw error;
  }
  throw new Error('It was accepted.');
}

describe('a table of options', () => {
  test('adds the defaults, also those within an option, to what was left out or is undefined', () => {
    const { now, ...read } = table.read({ name: 'a', rows: undefined, window: {} });
    expect(read).toEqual({
      name: 'a',
      rows: 250,
      since: null,
      retry: { attempts: 3 },
      window: { attempts: 3 },
    });
    expect(now()).toBe(7);
  });
  test('leaves what was given as it is, null and false too', () => {
    const sink = { write() {} };
    const given = { name: 'a', since: null, window: false, sink, mode: 'off', retry: { wait: 0.5 } } as const;
    expect(table.read(given)).toMatchObject({ ...given, retry: { attempts: 3, wait: 0.5 } });
    expect(table.read(given).sink).toBe(sink);
  });
  test.each<[unknown, string]>([
    [undefined, 'options must be an object; got nothing.'],
    [[], 'options must be an object; got an array.'],
    [{}, 'name must be a string; got nothing.'],
    [{ name: undefined }, 'name must be a string; got nothing.'],
    [{ name: 'a', rows: 0 }, 'rows must be a whole number of at least 1; got 0.'],
    [{ name: 'a', rows: null }, 'rows must be a whole number of at least 1; got null.'],
    [{ name: 'a', mode: 'slow' }, `mode must be 'fast', 'exact' or 'off'; got "slow".`],
    [{ name: 'a', since: 5 }, 'since must be a string, or null; got 5.'],
    [{ name: 'a', window: true }, 'window must be false, or an object with attempts, wait; got true.'],
    [{ name: 'a', window: { wait: -1 } }, 'window.wait must be a number of at least 0; got -1.'],
    [{ name: 'a', retry: { atempts: 1 } }, 'There is no option retry.atempts. Did you mean retry.attempts?'],
    [
      { name: 'a', sink: { zebra: 1 } },
      'There is no option sink.zebra. Known options: sink.attempts, sink.wait.',
    ],
    [{ name: 'a', code: 5 }, 'code must be a code; got 5.'],
    [{ name: 'a', toString: 5 }, 'There is no option toString.'],
  ])('refuses %j', (given, message) => {
    expect(refused(() => table.read(given))).toContain(message);
    expect(refused(() => table.check(given))).toContain(message);
  });
  test('a string that may be a key is not in the error', () => {
    expect(refused(() => table.read({ name: 'a', now: 'LEAK' }))).toBe(
      'now must be a function; got a string.',
    );
    expect(refused(() => table.read({ name: 'a', mode: 'LEAK-LEAK-LEAK-LEAK-LEAK' }))).toContain('a string.');
  });
  test('a prefix says where the options are', () => {
    expect(refused(() => retries.read({ attempts: 0 }, 'rules[2].'))).toContain('rules[2].attempts must be');
  });
  test('one argument is refused as one option is', () => {
    expect(refused(() => checkOption('sid', option.string(), undefined))).toBe(
      'sid must be a string; got nothing.',
    );
    expect(() => checkOption('sid', option.string(), '')).not.toThrow();
  });
});
