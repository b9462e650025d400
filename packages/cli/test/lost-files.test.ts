import {
  copyFileSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openStage } from './stage.ts';

const stage = openStage();

const changes: readonly (readonly [string, (path: string) => void])[] = [
  ['removed', (path) => rmSync(path)],
  [
    'replaced',
    (path) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
  ['cut in half', (path) => truncateSync(path, statSync(path).size / 2)],
];
const sync = 'sync --store sqlite:calls.db --account 101 --lookback 9999d';

// An open file cannot be removed on Windows.
describe.skipIf(process.platform === 'win32')('the file of a store', () => {
  test.each(changes)(
    'that is %s under calls sync --every ends it with status 7 at the next run',
    async (what, change) => {
      const cwd = stage.folder();
      const path = join(cwd, 'calls.db');

      // Once it was closed, all of it lies in the file, and nothing in a log beside it.
      expect((await stage.quick(sync, { cwd })).code).toBe(0);
      let isDone = false;
      const { code, stderr } = await stage.quick(`${sync} --every 1s`, {
        cwd,
        watchErrors(said) {
          if (isDone || !said.includes(' 0 new')) return;
          isDone = true;
          change(path);
        },
      });
      expect([code, stderr]).toEqual([
        7,
        expect.stringMatching(/calls: .*(?:removed|replaced|cut|damaged)/),
      ]);
      expect(stderr).not.toMatch(/unexpected|retrying/);
      expect(stderr.match(/account 101/g)?.length).toBe(1);
      expect(existsSync(path)).toBe(what !== 'removed');
    },
  );

  test('that was cut in half between two runs is found by the next one', async () => {
    const cwd = stage.folder();
    expect((await stage.quick(sync, { cwd })).code).toBe(0);
    truncateSync(join(cwd, 'calls.db'), statSync(join(cwd, 'calls.db')).size / 2);
    const { code, stderr } = await stage.quick(sync, { cwd });
    expect([code, stderr]).toEqual([7, expect.stringMatching(/damaged|cut/)]);
  });

  test('is the only one that a sync leaves', async () => {
    const cwd = stage.folder();
    await stage.quick(sync, { cwd });
    expect(readdirSync(cwd)).toEqual(['calls.db']);
  });
});
