import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { folderOf, importsBelow, rings, wrongDependencies } from '../imports.mjs';

const folders = /** @type {string[]} */ ([]);
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** The imports of a source folder with these files. @param {Record<string, string>} files */
function importsOf(files) {
  const folder = mkdtempSync(join(tmpdir(), 'imports-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }

  return importsBelow(folder);
}
/** @param {Record<string, string>} files */
const folderRings = (files) => rings(importsOf(files), folderOf);

test('packages: a dependency that points up or sideways is named', () => {
  const wrong = (/** @type {string} */ name, /** @type {any} */ manifest) =>
    wrongDependencies({ name, manifest }, []);
  const up = { dependencies: { '@call-attribution/cli': 'workspace:^' } };
  const sideways = { peerDependencies: { '@call-attribution/service': 'workspace:^' } };
  const forTests = { devDependencies: { '@call-attribution/sandbox': 'workspace:^' } };
  expect(wrong('core', up)).toEqual(['must not depend on cli']);
  expect(wrong('mcp-server', sideways)).toEqual(['must not depend on service']);
  expect(wrong('mcp-server', forTests)).toEqual([]);
  expect(wrong('core', forTests)).toEqual(['must not depend on sandbox']);
  expect(wrong('helpers', {})).toHaveLength(1);
});

test('packages: an import that points up is named even if the manifest allows it for tests; examples in comments are not', () => {
  const imports = importsOf({
    'a.ts': "import { x } from '@call-attribution/core/time';\n",
    'b.ts': "export const load = () => import('@call-attribution/sandbox');\n",
    'c.ts':
      "/**\n * import { y } from '@call-attribution/cli';\n */\n// from '@call-attribution/cli'\n",
  });
  expect(wrongDependencies({ name: 'mcp-server', manifest: {} }, imports)).toEqual([
    'must not import sandbox, as in b.ts',
  ]);
});

test('folders: imports that point one way pass', () => {
  expect(
    folderRings({
      'index.ts': "export { a } from './source/a.ts';\n",
      'source/a.ts': "import { b } from '../time/b.ts';\nimport { c } from './c.ts';\n",
      'source/c.ts': "import { a } from './a.ts';\n",
      'time/b.ts': "import { readFile } from 'node:fs';\n",
    }),
  ).toEqual([]);
});

test('folders: a ring of three folders is named with one import for each way', () => {
  expect(
    folderRings({
      'source/walk.ts': "import type { Mark } from '../operators/mark.ts';\n",
      'operators/mark.ts': "import { place } from '../checkpoint/place.ts';\n",
      'checkpoint/place.ts': "export const load = () => import('../source/walk.ts');\n",
      'sinks/file.ts': "import '../source/walk.ts';\n",
    }),
  ).toEqual([
    [
      'checkpoint, operators, source import each other in a ring',
      '  checkpoint -> source: checkpoint/place.ts imports source/walk.ts',
      '  operators -> checkpoint: operators/mark.ts imports checkpoint/place.ts',
      '  source -> operators: source/walk.ts imports operators/mark.ts',
    ].join('\n'),
  ]);
});

test('folders: a generated folder belongs to the folder around it, a file in src counts by itself', () => {
  expect(
    folderRings({
      'record/check.ts': "import { table } from './generated/table.ts';\n",
      'record/generated/table.ts': "import { moment } from '../moment.ts';\n",
    }),
  ).toEqual([]);
  expect(
    folderRings({
      'version.ts': "import './http/get.ts';\n",
      'http/get.ts': "import '../version.ts';\n",
    }),
  ).toHaveLength(1);
});

test('files: two files of one folder that import each other are named, types included', () => {
  const imports = importsOf({
    'a.ts': "import type { B } from './b.ts';\n",
    'b.ts': "import { a } from './a.ts';\n",
    'c.ts': "import { a } from './a.ts';\n",
  });
  expect(rings(imports, (file) => file)).toEqual([
    'a.ts, b.ts import each other in a ring\n  a.ts -> b.ts: a.ts imports b.ts\n  b.ts -> a.ts: b.ts imports a.ts',
  ]);
});
