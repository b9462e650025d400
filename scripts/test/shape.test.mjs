import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { countsIn, measure, ownOptions, tooMuch } from '../shape.mjs';

const dirs = /** @type {string[]} */ ([]);
afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

/** A folder with these files. @param {Record<string, string>} files */
function folderOf(files) {
  const dir = mkdtempSync(join(tmpdir(), 'shape-'));
  dirs.push(dir);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(dir, dirname(name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }

  return dir;
}

const most = { tokens: 10, codes: 3, absent: 4, commands: 2, options: 5 };

test('counts: tokens without comments, and what may be absent', () => {
  const plain = 'const a = b;';
  expect(countsIn(plain).counts).toEqual({ tokens: 5, absent: 0 });
  const long = '/** Why. */\nconst\n  aLongName // why\n  =\n  b;';
  expect(countsIn(long).counts).toEqual(countsIn(plain).counts);
  const source = `
    interface A { a?: string; b: string | undefined; c: string; }
    const options = { size: option.number(3), name: name.optional(), some: string.length };
    function f(each: Partial<A>) {}`;
  expect(countsIn(source).counts).toMatchObject({ absent: 5 });
});

test('packages: sources are counted by package, the test servers of core on their own', () => {
  const dir = folderOf({
    'core/src/a.ts': 'const a = b;\n',
    'core/src/testing/a.ts': 'a();\n',
    'core/src/record/generated/a.ts': 'a();\n',
    'core/test/a.test.ts': 'a();\n',
    'core/dist/a.js': 'a();\n',
    'core/README.md': '# Core\n',
    'core/generate.mjs': 'a();\n',
  });
  expect(measure(dir)).toEqual({
    packages: {
      core: { tokens: 5, absent: 0 },
      'core/testing': { tokens: 4, absent: 0 },
    },
    problems: [],
  });
});

test('state: a class with more than eight fields that change is refused', () => {
  const fields = (/** @type {number} */ count) =>
    Array.from({ length: count }, (_, i) => `#f${i} = 0;`).join(' ');
  const dir = folderOf({
    'core/src/a.ts': `class Many { ${fields(9)} readonly a = 1; static b = 2; }`,
    'core/src/b.ts': `class Few { ${fields(8)} readonly a = 1; static b = 2; }`,
  });
  expect(measure(dir).problems).toEqual([
    'core/src/a.ts: Many has 9 fields that change, at most 8',
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

test('own options of a command are those that are in no shared group', () => {
  const commands = [
    { name: 'list', options: { '--json': 'as JSON', '--q <filter>': 'a filter' } },
    { name: 'store purge', options: { '--before <time>': 'a day', '--yes': 'does it' } },
  ];
  const shared = { Output: { '--json': '' }, 'Which calls': { '--q <filter>': '' } };
  expect([...ownOptions(commands, shared)]).toEqual([
    ['list', 0],
    ['store purge', 2],
  ]);
});
