import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nobody, openStage } from '../stage.ts';

const stage = openStage();

describe('calls demo', () => {
  test('it works in an empty folder, without configuration and network', async () => {
    const cwd = stage.folder();
    const { code, stdout, stderr } = await stage.quick(['demo', '--records', '1300'], {
      cwd,
      env: nobody,
    });
    expect(stderr).toMatch(/\(finished in /);
    expect(code).toBe(0);
    expect(stdout).toMatch(/complete: 1,300 calls/);
    expect(stdout).toMatch(/\nChannel +Calls .*2026-\d\d-\d\d\.\.2026-\d\d-\d\d\n/);
    expect(stdout).toMatch(/Tracker +\d,\d{3} /);
    expect(stdout).toMatch(/→ analyze_calls \{.*\}\n/);
    expect(stdout).not.toMatch(/failed/);

    // It ends with commands that work as they stand, however it was started.
    const last = (text: string) => text.trimEnd().split('\n').slice(-3);
    const typed = last(stdout).map((line) => line.slice(47));
    expect(typed).toEqual(['calls serve --open', 'calls mcp --sandbox', 'calls init']);
    const small = ['demo', '--records', '5', '--output', 'five.csv'];
    const built = await stage.calls(small, { cwd, env: nobody });
    expect(last(built.stdout)[0]).toMatch(/ {2}(?:calls|node \S+bin\.js) serve --open$/);
    expect(readFileSync(join(cwd, 'demo-calls.csv'), 'utf8').match(/^\d{13},101,/gm)).toHaveLength(
      1300,
    );
  });

  test('it prints the same for the same seed', async () => {
    const args = ['demo', '--records', '50', '--seed', '7', '--output', 'seven.csv'];
    const one = await stage.quick(args);
    const two = await stage.quick(args);
    expect(one).toMatchObject({ code: 0 });
    expect(one.stdout).toBe(two.stdout);
  });

  test.skipIf(process.platform === 'win32')(
    'it names a folder that cannot be written',
    async () => {
      const { code, stderr } = await stage.quick([
        'demo',
        '--records',
        '5',
        '--output',
        '/nowhere/calls.csv',
      ]);
      expect(code).toBe(7);
      expect(stderr).toMatch(/\/nowhere\/calls\.csv: the folder does not exist/);
      expect(existsSync('/nowhere')).toBe(false);
    },
  );
});
