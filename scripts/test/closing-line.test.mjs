import { afterEach, expect, test, vi } from 'vitest';
import ClosingLine from '../closing-line.mjs';

afterEach(() => vi.restoreAllMocks());

/** @param {string} state @param {readonly string[]} states */
const moduleOf = (state, states) =>
  /** @type {any} */ ({
    state: () => state,
    children: { allTests: () => states.map((of) => ({ result: () => ({ state: of }) })) },
  });

/** @param {any[]} modules @param {unknown[]} errors */
const line = (modules, errors = []) => {
  const log = vi.spyOn(console, 'log').mockReturnValue();
  new ClosingLine().onTestRunEnd(modules, errors);
  return log.mock.calls;
};

test('the run ends with one line that counts all tests', () => {
  const modules = [
    moduleOf('passed', ['passed', 'skipped']),
    moduleOf('failed', ['passed', 'failed', 'pending']),
  ];
  expect(line(modules)).toEqual([['2 passed, 2 failed, 1 skipped']]);
});

test('a file that could not be loaded and an error outside of tests count as failed', () => {
  expect(line([moduleOf('failed', [])], [new Error('no server')])).toEqual([
    ['0 passed, 2 failed, 0 skipped'],
  ]);
});

test('a run in which no file was started does not look like a success', () => {
  expect(line([])).toEqual([['0 passed, 1 failed, 0 skipped']]);
});
