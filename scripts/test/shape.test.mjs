import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  commandsOf,
  decisionsIn,
  lowered,
  measure,
  ownOptions,
  raised,
  tooMuch,
} from '../shape.mjs';

const dirs = /** @type {string[]} */ ([]);
afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

/** A repository with these files. @param {Record<string, string>} files */
function repositoryOf(files) {
  const dir = mkdtempSync(join(tmpdir(), 'shape-'));
  dirs.push(dir);
  execFileSync('git', ['init', '-q'], { cwd: dir });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(dir, dirname(name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }

  return dir;
}

const ceiling = { lines: 10, per1000: 100, branches: 1, nested: 0, tests: 5 };
const whole = { codes: 3, absent: 4, commands: 2, options: 5 };
const goals = { ...whole, lines: 5, per1000: 50, nested: 0, tests: 4 };
const shape = { packages: { core: ceiling }, whole, goals };
const counts = { lines: 10, branches: 1, nested: 0, absent: 4, tests: 5 };
const reached = { packages: { core: counts }, whole };

test('decisions: branches, conditions inside of conditions, and what may be absent are counted', () => {
  expect(decisionsIn('if (a) b = c ? 1 : f(d ? 2 : 3);')).toEqual({
    branches: 3,
    nested: 1,
    absent: 0,
  });
  expect(decisionsIn('const f = () => (a ? () => (b ? 1 : 2) : 3);')).toMatchObject({
    branches: 2,
    nested: 0,
  });
  const source = `
    interface A { a?: string; b: string | undefined; c: string; }
    const options = { size: option.number(3), name: name.optional(), some: string.length };
    function f(each: Partial<A>) {}`;
  expect(decisionsIn(source)).toEqual({ branches: 0, nested: 0, absent: 5 });
});

test('packages: sources, styles and tests are counted by package, the test servers of core on their own', () => {
  const dir = repositoryOf({
    'packages/core/src/a.ts': 'const a = b ? 1 : 2;\n\n',
    'packages/core/browser/a.css': 'a {\n}\n',
    'packages/core/src/testing/a.ts': 'a();\n',
    'packages/core/src/generated/a.ts': 'a();\n',
    'packages/core/test/a.test.ts': 'a ? 1 : 2;\n',
    'packages/core/README.md': '# Core\n',
    'packages/core/generate.mjs': '',
  });
  expect(measure(dir, ['packages/core/src/generated/a.ts'])).toEqual({
    packages: {
      core: { lines: 4, branches: 1, nested: 0, absent: 0, tests: 1 },
      'core/testing': { lines: 1, branches: 0, nested: 0, absent: 0, tests: 0 },
    },
    misplaced: [],
  });
});

test('places: code outside of src and browser, and by hand in a path that is called generated, is refused', () => {
  const dir = repositoryOf({
    'packages/core/lib/a.ts': '',
    'packages/core/a.mjs': '',
    'packages/core/src/generated/a.ts': '',
    'packages/core/program/a.mjs': '',
    'packages/core/program/package.json': '{}',
  });
  expect(measure(dir, []).misplaced.map((line) => line.split(':')[0])).toEqual([
    'packages/core/a.mjs',
    'packages/core/lib/a.ts',
    'packages/core/src/generated/a.ts',
  ]);
});

test.each([
  [{ lines: 11 }, {}, 'core: 11 lines, at most 10'],
  [{ nested: 1 }, {}, 'core: 1 conditions inside of conditions, at most 0'],
  [{ tests: 6 }, {}, 'core: 6 lines of tests, at most 5'],
  [{ branches: 2 }, {}, 'core: 200 branches in 1,000 lines, at most 100 (or 1 branches)'],
  [{}, { codes: 4 }, '4 codes of errors, at most 3'],
  [{}, { absent: 5 }, '5 things that may be absent, at most 4'],
  [{}, { commands: 3 }, '3 commands, at most 2'],
  [{}, { options: 6 }, '6 own options of a command, at most 5'],
])('a figure above its ceiling is named: %j %j', (more, moreInAll, line) => {
  expect(tooMuch(shape, reached)).toEqual([]);
  const now = { packages: { core: { ...counts, ...more } }, whole: { ...whole, ...moreInAll } };
  expect(tooMuch(shape, now)).toEqual([line]);
});

test('a package without ceilings is named; one that only lost lines without branches is not', () => {
  expect(tooMuch({ ...shape, packages: {} }, reached)).toHaveLength(1);
  expect(tooMuch(shape, { packages: { core: { ...counts, lines: 5 } }, whole })).toEqual([]);
});

test('lowering writes down what was reached and raises nothing', () => {
  const now = {
    packages: { core: { ...counts, lines: 8, tests: 9 } },
    whole: { ...whole, codes: 2, absent: 9 },
  };
  expect(lowered({ ...shape, packages: { core: ceiling, gone: ceiling } }, now)).toEqual({
    packages: { core: { ...ceiling, lines: 8 } },
    whole: { ...whole, codes: 2 },
    goals,
  });
});

test('a ceiling that was raised needs a reason of its own', () => {
  const higher = { ...ceiling, lines: 11 };

  const withReason = (/** @type {string} */ reason) => ({
    ...shape,
    packages: { core: { ...higher, reason } },
  });

  expect(raised(shape, shape)).toEqual([]);
  expect(raised(shape, { ...shape, packages: { core: higher } })).toEqual([
    'core: the ceiling of lines was raised; add a "reason" beside it',
  ]);
  expect(raised(shape, withReason('A new sink.'))).toEqual([]);
  const again = { ...shape, packages: { core: { ...higher, lines: 12, reason: 'A new sink.' } } };
  expect(raised(withReason('A new sink.'), again)).toHaveLength(1);
  expect(raised(shape, { ...shape, whole: { ...whole, codes: 4 } })).toHaveLength(1);
});

const help = {
  '': 'Usage: calls <command> [options]\n\nCommands:\n  list   show calls\n  store  keep\n\nStart here:\n  calls list  try it\n',
  list: 'Usage: calls list [options]\n\nOptions:\n  --json     as JSON\n  -h, --help  help\n\nWhich calls:\n  --q FILTER  a filter\n',
  store: 'Usage: calls store <command> [options]\n\nCommands:\n  accounts add  add one\n',
  'store accounts add':
    'Usage: calls store accounts add [options]\n\nAccess:\n  -n, --name NAME  name\n  --key KEY  key\n',
};

test('commands and their own options are read from the help', async () => {
  const helpOf = async (/** @type {readonly string[]} */ words) =>
    help[/** @type {keyof typeof help} */ (words.join(' '))] ?? '';
  expect([...(await commandsOf(helpOf))]).toEqual([
    ['list', 1],
    ['store accounts add', 2],
  ]);
  expect(ownOptions(`${help.list}\nOutput:\n  -o, --output FILE  file\n`)).toBe(1);
});
