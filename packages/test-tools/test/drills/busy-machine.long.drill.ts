import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDrill, rounds } from '../../src/drill.ts';

const tally = openDrill({
  name: 'busy-machine',
  kind: 'whole programs',
  what: "The README's test command runs five times in a row next to eight processes that never rest, and passes each time",
});
const root = fileURLToPath(new URL('../../../../', import.meta.url));

let busy: ChildProcess[] = [];
beforeAll(() => {
  busy = Array.from({ length: 8 }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
});
afterAll(() => {
  for (const child of busy) child.kill('SIGKILL');
});

test('the tests pass on a busy machine', { timeout: 36_000_000 }, async () => {
  // The tests inside are no drills. As many workers as busy processes: they hinder each other as
  // well, and end in ten minutes a run.
  const {
    CALLS_DRILLS: _,
    CALLS_DRILLS_REPORT: __,
    VITEST: ___,
    NODE_ENV: ____,
    ...own
  } = process.env;
  const env = { ...own, VITEST_MAX_WORKERS: '8' };
  for (let run = 0; run < rounds(1, 5); run += 1)
    await tally.run(async () => {
      const child = spawn('pnpm', ['test'], {
        cwd: root,
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let log = '';
      child.stdout.setEncoding('utf8').on('data', (chunk) => {
        log += chunk;
      });
      const [code] = await once(child, 'close');
      const failed = log.split('\n').filter((line) => /FAIL|Error:/.test(line));
      expect({ code, failed }).toEqual({ code: 0, failed: [] });
      expect(log).toMatch(/\n\d+ passed, 0 failed, 0 skipped\s*$/);
    }, 7_200_000);
});
