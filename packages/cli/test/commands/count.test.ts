import { expect, test } from 'vitest';
import { openStage } from '../stage.ts';

const stage = openStage();

test('calls count prints one number, and its source with --json', async () => {
  const plain = await stage.quick(['count']);
  const note =
    'calls through call extensions are not included; add --include-extensions to include them\n';
  expect(plain).toMatchObject({ code: 0, stderr: note });
  const { total, source } = JSON.parse((await stage.quick(['count', '--json'])).stdout);
  expect(plain.stdout).toBe(`${total}\n`);
  expect(source).toEqual(expect.any(String));
});
