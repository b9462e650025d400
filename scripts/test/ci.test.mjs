import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../workspace.mjs';

/** Runs .ci/run with a pnpm of which some commands fail. @param {string} failing */
function ciWith(failing) {
  const bin = mkdtempSync(join(tmpdir(), 'ci-'));
  const npx = `#!/bin/sh
[ "$3" = test ] && echo "5 passed, 0 failed, 0 skipped"
case " ${failing} " in *" $3 "*) exit 1;; esac
`;
  for (const [name, text] of Object.entries({ npx, 'apt-get': '#!/bin/sh\n' })) {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }

  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
  const { status, stdout } = spawnSync('bash', [join(root, '.ci/run')], { encoding: 'utf8', env });
  rmSync(bin, { recursive: true });
  return { status, last: stdout.trim().split('\n').at(-1), stdout };
}

test('ci: the closing line of the tests is the last one, and a step that fails is named and fails the run', () => {
  const closing = '5 passed, 0 failed, 0 skipped';
  expect(ciWith('')).toMatchObject({ status: 0, last: closing });
  for (const step of ['check', 'drills']) {
    const { status, last, stdout } = ciWith(step);
    expect({ status, last }).toEqual({ status: 1, last: closing });
    expect(stdout).toContain(`${step} FAILED`);
  }

  expect(ciWith('test')).toMatchObject({ status: 1, last: closing });
});
