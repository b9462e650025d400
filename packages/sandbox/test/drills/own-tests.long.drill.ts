// The guide "Test your own code", with the packed packages and the test runners that it names, in a
// project of its own.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, expect, test } from 'vitest';

openDrill({
  name: 'own-tests',
  kind: 'whole programs',
  what: 'The tests of the guide "Test your own code" pass with vitest, jest (ES modules and CommonJS), MockAgent and msw',
  countTests: true,
});

const root = join(import.meta.dirname, '../../../..');
const guide = readFileSync(join(root, 'docs/guides/test-your-own-code.md'), 'utf8');
const files = new Map(
  [...guide.matchAll(/^```javascript\n(\/\/ (\S+)\n[\s\S]*?)^```/gm)].map(
    ([, code = '', name = '']) => [name, code],
  ),
);
const folder = mkdtempSync(join(tmpdir(), 'own-tests-'));
const runners = [
  'vitest@4.1.12',
  'msw@2.12.4',
  'jest@30.2.0',
  'babel-jest@30.2.0',
  '@babel/preset-env@7.28.5',
  'babel-plugin-transform-import-meta@2.3.3',
];
beforeAll(() => {
  execFileSync('pnpm', ['build'], { cwd: root, stdio: 'ignore' });
  execFileSync(process.execPath, ['scripts/pack.mjs', folder, 'sandbox', ...runners], {
    cwd: root,
    stdio: 'ignore',
  });
  for (const [name, code] of files) writeFileSync(join(folder, name), code);
  const withJest = files.get('minutes.test.js')?.replace("'vitest'", "'@jest/globals'") ?? '';
  writeFileSync(join(folder, 'minutes.jest.js'), withJest);
  writeFileSync(
    join(folder, 'jest.esm.json'),
    JSON.stringify({ transform: {}, testMatch: ['**/*.jest.js'] }),
  );
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const jest = 'node_modules/jest/bin/jest.js';
test.each([
  ['vitest', ['node_modules/vitest/vitest.mjs', 'run'], /3 passed/],
  ['jest with ES modules', ['--experimental-vm-modules', jest, '-c', 'jest.esm.json'], /1 passed/],
  ['jest with CommonJS', [jest, '-c', 'jest.config.cjs'], /1 passed/],
])('the tests of the guide pass with %s', (_, args, passed) => {
  const env = { PATH: process.env.PATH, HOME: folder, NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  expect({ status, said: `${stdout}${stderr}` }).toEqual({
    status: 0,
    said: expect.stringMatching(passed),
  });
});
