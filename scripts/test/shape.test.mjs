import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { commandsOf, countsIn, measure, ownOptions, tooMuch } from '../shape.mjs';

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

const most = { tokens: 10, codes: 3, absent: 4, commands: 2, options: 5 };

test('counts: tokens without comments, functions, and what may be absent', () => {
  const plain = 'const a = b;';
  expect(countsIn(plain).counts).toEqual({ tokens: 5, functions: 0, absent: 0 });
  const long = '/** Why. */\nconst\n  aLongName // why\n  =\n  b;';
  expect(countsIn(long).counts).toEqual(countsIn(plain).counts);
  const source = `
    interface A { a?: string; b: string | undefined; c: string; }
    const options = { size: option.number(3), name: name.optional(), some: string.length };
    function f(each: Partial<A>) {}`;
  expect(countsIn(source).counts).toMatchObject({ functions: 1, absent: 5 });
});

test('packages: sources are counted by package, the test servers of core on their own', () => {
  const dir = repositoryOf({
    'packages/core/src/a.ts': 'const a = b;\n',
    'packages/core/src/bundle.ts': `const a = '${'x'.repeat(2001)}';\n`,
    'packages/core/src/testing/a.ts': 'a();\n',
    'packages/core/src/generated/a.ts': 'a();\n',
    'packages/core/test/a.test.ts': 'a();\n',
    'packages/core/README.md': '# Core\n',
    'packages/core/generate.mjs': '',
  });
  expect(measure(dir, ['packages/core/src/generated/a.ts'])).toEqual({
    packages: {
      core: { tokens: 5, functions: 0, absent: 0 },
      'core/testing': { tokens: 4, functions: 0, absent: 0 },
    },
    problems: [],
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
  expect(measure(dir, []).problems.map((line) => line.split(':')[0])).toEqual([
    'packages/core/a.mjs',
    'packages/core/lib/a.ts',
    'packages/core/src/generated/a.ts',
  ]);
});

test('state: a class with more than eight fields that change is refused', () => {
  const fields = (/** @type {number} */ count) =>
    Array.from({ length: count }, (_, i) => `#f${i} = 0;`).join(' ');
  const dir = repositoryOf({
    'packages/core/src/a.ts': `class Many { ${fields(9)} readonly a = 1; static b = 2; }`,
    'packages/core/src/b.ts': `class Few { ${fields(8)} readonly a = 1; static b = 2; }`,
  });
  expect(measure(dir, []).problems).toEqual([
    'packages/core/src/a.ts: Many has 9 fields that change, at most 8',
  ]);
});

test.each([
  [{ tokens: 11 }, '11 tokens of source, at most 10'],
  [{ codes: 4 }, '4 codes of errors, at most 3'],
  [{ absent: 5 }, '5 things that may be absent, at most 4'],
  [{ commands: 3 }, '3 commands, at most 2'],
  [{ options: 6 }, '6 own options of a command, at most 5'],
])('a figure above its ceiling is named: %j', (more, line) => {
  expect(tooMuch(most, most)).toEqual([]);
  expect(tooMuch(most, { ...most, ...more })).toEqual([line]);
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
