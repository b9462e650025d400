import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readResults, readRows, reliabilityPage } from '../reliability.mjs';
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

const result = (/** @type {string} */ name, /** @type {object} */ more = {}) => ({
  ...{ name, kind: 'kills', what: 'It is killed; nothing is lost', runs: 1, lost: 0, doubled: 0, hung: 0 },
  ...{ lied: 0, seconds: 3, events: { kills: 1_200 }, ...more },
});
const run = { isWhole: true, machine: '2 cores', day: '2026-11-23' };

test('reliability: a page has the last result of each drill in both lengths, faults by name', () => {
  const usual = reliabilityPage('', [result('writer')], { ...run, form: 'usual' });
  expect(readRows(usual).get('writer')).toEqual({
    kind: 'kills',
    what: 'It is killed; nothing is lost.',
    usual: '2026-11-23: **held**; 1 run, 1,200 kills',
    long: '–',
  });
  const all = [result('disk', { kind: 'full disk' }), result('writer', { runs: 2_000, lost: 3, hung: 1 })];
  const long = reliabilityPage(usual, all, { ...run, form: 'long', day: '2026-11-24' });
  expect(readRows(long).get('writer')).toMatchObject({
    usual: '2026-11-23: **held**; 1 run, 1,200 kills',
    long: '2026-11-24: **3 lost, 1 hung**; 2,000 runs, 1,200 kills',
  });
  expect(readRows(long).get('disk')).toMatchObject({ kind: 'full disk', usual: '–' });
});

test('reliability: rows of drills that were not run stay; those of drills that are gone leave with the next whole run', () => {
  const before = reliabilityPage('', [result('disk'), result('writer')], { ...run, form: 'long' });
  const names = (/** @type {string} */ page) => [...readRows(page).keys()].sort();
  const some = { ...run, isWhole: false, form: /** @type {const} */ ('long') };
  expect(names(reliabilityPage(before, [result('writer')], some))).toEqual(['disk', 'writer']);
  expect(names(reliabilityPage(before, [result('writer')], { ...run, form: 'usual' }))).toEqual([
    'disk',
    'writer',
  ]);
  expect(names(reliabilityPage(before, [result('writer')], { ...run, form: 'long' }))).toEqual(['writer']);
  expect(readResults(`${JSON.stringify(result('b'))}\n${JSON.stringify(result('a'))}\n`)[0]?.name).toBe('a');
});
