import { describe, expect, test } from 'vitest';
import { isBuiltIn } from '../src/database/sqlite-driver.ts';
import { sqliteInUse } from '../src/index.ts';

const versions = (more: object) => ({ ...process.versions, ...more }) as NodeJS.ProcessVersions;

describe('the SQLite of a store', () => {
  test.each([
    ['Node.js 20, which has none', { node: '20.20.2', sqlite: undefined }, false],
    ['Node.js 22, which warns', { node: '22.23.3', sqlite: '3.51.3' }, false],
    ['Node.js 24.14, which warns', { node: '24.14.1', sqlite: '3.51.3' }, false],
    ['Node.js 24.15', { node: '24.15.0', sqlite: '3.51.3' }, true],
    [
      'a Node.js 24 that was linked with an older one',
      { node: '24.21.0', sqlite: '3.46.1' },
      false,
    ],
    ['Node.js 25 with an older one', { node: '25.2.0', sqlite: '3.51.0' }, false],
    ['Node.js 26', { node: '26.10.0', sqlite: '3.53.4' }, true],
    ['a later one', { node: '28.0.0', sqlite: '4.0.0' }, true],
    ['Bun', { node: '24.3.0', sqlite: '3.54.1', bun: '1.4.5' }, true],
    ['Deno', { node: '24.2.0', sqlite: '3.53.1', deno: '2.9.6' }, true],
    ['a Bun with an older one', { node: '24.3.0', sqlite: '3.51.2', bun: '1.3.0' }, false],
  ])('is the built-in one only where that is safe and quiet: %s', (_, given, isIt) => {
    expect(isBuiltIn(versions(given))).toBe(isIt);
  });

  test('is one that keeps what was committed, and can be named', async () => {
    const [, minor, patch] = /^SQLite 3\.(\d+)\.(\d+), /.exec(await sqliteInUse()) ?? [];
    expect(Number(minor) * 100 + Number(patch)).toBeGreaterThanOrEqual(5103);
  });
});
