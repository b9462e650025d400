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

test('each package has one line, when the last of its files has ended', () => {
  const log = vi.spyOn(console, 'log').mockReturnValue();
  const reporter = new ClosingLine();

  const file = (
    /** @type {string} */ moduleId,
    /** @type {string} */ state,
    /** @type {string[]} */ states,
  ) => ({
    ...moduleOf(state, states),
    moduleId,
  });

  const modules = [
    file('/work/packages/core/test/a.test.ts', 'passed', ['passed', 'passed']),
    file('/work/packages/cli/test/deep/b.test.ts', 'failed', ['passed', 'failed']),
    file('/work/packages/core/test/c.test-d.ts', 'passed', ['passed']),
    file('/work/scripts/test/d.test.mjs', 'failed', []),
  ];
  reporter.onTestRunStart(modules);
  for (const module of modules) reporter.onTestModuleEnd(module);
  expect(log.mock.calls.flat().map((text) => text.replace(/\d+ s after/, 'N s after'))).toEqual([
    'cli            1 passed, 1 FAILED, N s after the start',
    'core           3 passed, N s after the start',
    'scripts        0 passed, 1 FAILED, N s after the start',
  ]);
});
