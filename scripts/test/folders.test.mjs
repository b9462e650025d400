import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { folderRings, importsBelow } from '../folders.mjs';

const folders = /** @type {string[]} */ ([]);
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Rings in a source folder with these files. @param {Record<string, string>} files */
function ringsIn(files) {
  const folder = mkdtempSync(join(tmpdir(), 'folders-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folderRings('planted', importsBelow(folder));
}

test('folders: imports that point one way pass', () => {
  expect(
    ringsIn({
      'index.ts': "export { a } from './source/a.ts';\n",
      'source/a.ts': "import { b } from '../time/b.ts';\nimport { c } from './c.ts';\n",
      'source/c.ts': "import { a } from './a.ts';\n",
      'time/b.ts': "import { readFile } from 'node:fs';\n",
    }),
  ).toEqual([]);
});

test('folders: a ring of three folders is named with one import for each way', () => {
  expect(
    ringsIn({
      'source/walk.ts': "import type { Mark } from '../operators/mark.ts';\n",
      'operators/mark.ts': "import { place } from '../checkpoint/place.ts';\n",
      'checkpoint/place.ts': "export const load = () => import('../source/walk.ts');\n",
      'sinks/file.ts': "import '../source/walk.ts';\n",
    }),
  ).toEqual([
    [
      'planted: the folders checkpoint, operators, source import each other in a ring',
      '  checkpoint -> source: checkpoint/place.ts imports source/walk.ts',
      '  operators -> checkpoint: operators/mark.ts imports checkpoint/place.ts',
      '  source -> operators: source/walk.ts imports operators/mark.ts',
    ].join('\n'),
  ]);
});

test('folders: a generated folder belongs to the folder around it, a file in src counts by itself', () => {
  expect(
    ringsIn({
      'record/check.ts': "import { table } from './generated/table.ts';\n",
      'record/generated/table.ts': "import { moment } from '../moment.ts';\n",
    }),
  ).toEqual([]);
  expect(
    ringsIn({ 'version.ts': "import './http/get.ts';\n", 'http/get.ts': "import '../version.ts';\n" }),
  ).toHaveLength(1);
});
