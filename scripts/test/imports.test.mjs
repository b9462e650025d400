import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { loadedAtStart, ringsOfFolders, wrongDependencies } from '../imports.mjs';

const folders = /** @type {string[]} */ ([]);
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** The rings of a source folder with these files. @param {Record<string, string>} files */
function ringsOf(files) {
  const folder = mkdtempSync(join(tmpdir(), 'imports-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }

  return ringsOfFolders(folder);
}

test('packages: a dependency that points up or sideways is named', () => {
  const wrong = (/** @type {string} */ name, /** @type {any} */ manifest) =>
    wrongDependencies({ name, manifest });
  const up = { dependencies: { '@call-attribution/cli': 'workspace:^' } };
  const sideways = { peerDependencies: { '@call-attribution/service': 'workspace:^' } };
  const forTests = { devDependencies: { '@call-attribution/sandbox': 'workspace:^' } };
  expect(wrong('core', up)).toEqual(['must not depend on cli']);
  expect(wrong('mcp-server', sideways)).toEqual(['must not depend on service']);
  expect(wrong('mcp-server', forTests)).toEqual([]);
  expect(wrong('core', forTests)).toEqual(['must not depend on sandbox']);
  expect(wrong('helpers', {})).toHaveLength(1);
});

test('folders: imports that point one way pass, and examples in comments are none', () => {
  expect(
    ringsOf({
      'index.ts': "export { a } from './source/a.ts';\n",
      'source/a.ts': "import { b } from '../time/b.ts';\nimport { c } from './c.ts';\n",
      'source/c.ts': "import { a } from './a.ts';\n",
      'time/b.ts': "/**\n * import { a } from '../source/a.ts';\n */\n// from '../source/c.ts'\n",
    }),
  ).toEqual([]);
});

test('folders: a ring of three folders is named with one import for each way', () => {
  expect(
    ringsOf({
      'source/walk.ts': "import type { Mark } from '../operators/mark.ts';\n",
      'operators/mark.ts': "import { place } from '../checkpoint/place.ts';\n",
      'checkpoint/place.ts': "export const load = () => import('../source/walk.ts');\n",
      'sinks/file.ts': "import '../source/walk.ts';\n",
    }),
  ).toEqual([
    'checkpoint -> source is part of a ring: checkpoint/place.ts imports source/walk.ts',
    'operators -> checkpoint is part of a ring: operators/mark.ts imports checkpoint/place.ts',
    'source -> operators is part of a ring: source/walk.ts imports operators/mark.ts',
  ]);
});

test('folders: a generated folder belongs to the folder around it, a file in src counts by itself', () => {
  expect(
    ringsOf({
      'record/check.ts': "import { table } from './generated/table.ts';\n",
      'record/generated/table.ts': "import { moment } from '../moment.ts';\n",
    }),
  ).toEqual([]);
  expect(
    ringsOf({
      'version.ts': "import './http/get.ts';\n",
      'http/get.ts': "import '../version.ts';\n",
    }),
  ).toHaveLength(2);
});

test('commands: a whole package at the top is named; its entries, types and what run imports are not', () => {
  const code = [
    "import type { Answer } from '@call-attribution/questions';",
    "import { measureForms } from '@call-attribution/questions/measures';",
    "import {\n  openStore,\n} from '@call-attribution/store';",
    "const late = () => import('@call-attribution/service');",
  ].join('\n');
  expect(loadedAtStart(code).map((line) => line.split(' ')[0])).toEqual([
    '@call-attribution/store',
  ]);
});
