import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runNode } from './program.ts';
import { openStage } from './stage.ts';

const stage = openStage();
afterAll(() => stage.close());

const connect = createRequire(new URL('../../store/package.json', import.meta.url))('libsql') as new (
  file: string,
) => { exec(sql: string): void; close(): void };

// Windows has no limit on the size of the files of a process.
describe.skipIf(process.platform === 'win32')('a full disk', () => {
  test.each([40, 1000])(
    'calls sync ends with status 7 when %d blocks are free, and continues when there is space',
    async (blocks) => {
      const cwd = stage.folder();
      const sync = ['sync', '--store', 'sqlite:calls.db', '--account', '101', '--lookback', '9999d'];
      // Writes fail as on a full disk: a file has at most so many blocks, and there is no signal for it.
      const limited = `trap '' XFSZ; ulimit -f ${blocks}; exec "$0" "$@"`;
      const { code, stderr } = await runNode([], {
        shell: ['sh', '-c', limited, process.execPath, stage.bin, ...sync],
        cwd,
        env: { ...stage.env },
      });
      expect([code, stderr]).toEqual([
        7,
        expect.stringMatching(/^calls: The disk with the database \S+ is full[^\n]*\n(?: {2}→ [^\n]*\n)*$/),
      ]);
      expect((await stage.quick(sync, { cwd })).code).toBe(0);
      const sizes = await stage.quick(['store', 'sizes', '--store', 'sqlite:calls.db'], { cwd });
      expect(JSON.parse(sizes.stdout).accounts[0]).toMatchObject({ account: '101', calls: 600 });
      const check = await stage.quick(['store', 'check', '--store', 'sqlite:calls.db'], { cwd });
      expect(check.stdout).toBe('{"exact":true,"faults":[]}\n');
    },
  );
});

describe('while another process writes to the store', () => {
  test('accounts are added, disabled, enabled and given keys as soon as it is done', async () => {
    const cwd = stage.folder();
    const store = (...args: string[]) =>
      stage.quick(['store', ...args, '--store', 'sqlite:calls.db', '--account', '101'], { cwd });
    await store('accounts', 'add');
    const other = new connect(join(cwd, 'calls.db'));
    for (const action of ['add', 'disable', 'enable', 'key']) {
      other.exec('BEGIN IMMEDIATE');
      const running = store('accounts', action);
      await new Promise((resolve) => setTimeout(resolve, 100));
      other.exec('COMMIT');
      expect([action, await running]).toMatchObject([action, { code: 0, stderr: '' }]);
    }
    other.close();
  });
});
