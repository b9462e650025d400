import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runQuick } from '../in-process.ts';
import { openStage } from '../stage.ts';

openDrill({
  name: 'completion',
  kind: 'whole programs',
  what: 'Bash, zsh and fish complete commands, options and values in a real terminal',
  countTests: true,
});

const folder = mkdtempSync(join(tmpdir(), 'calls-completion-'));
const log = join(folder, 'log');
const asked = join(folder, 'asked');
const stage = openStage();
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

/**
 * What is typed, with a tab where completion is wanted, and the arguments that the command gets.
 */
const typed: readonly (readonly [keys: string, args: readonly string[]])[] = [
  ['comple\tzs\t', ['completion', 'zsh']],
  ['list --form\tnd\t', ['list', '--format', 'ndjson']],
  ['export -o my\t', ['export', '-o', 'my calls.csv']],
  ['export --resu\t', ['export', '--resume']],
  ['list --fields sid,talk_m\t', ['list', '--fields', 'sid,talk_minutes']],
  ['report --by campa\t', ['report', '--by', 'campaign']],
  ['report --by week,phone_l\t', ['report', '--by', 'week,phone_label']],
  ['fields talk_m\t', ['fields', 'talk_minutes']],
  ['report --by=week,phone_l\t', ['report', '--by', 'week,phone_label']],
  ['store acc\trev\t', ['store', 'accounts', 'revoke']],
  ['fleet ret\tmy\t--acc\t', ['fleet', 'retry', 'my calls.csv', '--account']],
  ['push google\t--dry\t', ['push', 'google', '--dry-run']],
  ['sheet sk\t--left\tmy\t', ['sheet', 'skai', '--left-out', 'my calls.csv']],
  [
    '--debug serve --tls-cert=my\t--fee\tmy\t',
    ['--debug', 'serve', '--tls-cert', 'my calls.csv', '--feeds', 'my calls.csv'],
  ],
  ['fleet work --keys bi\tx', ['fleet', 'work', '--keys', 'bin/x']],
  ['help expo\t', ['help', 'export']],
  ['help store acc\t', ['help', 'store', 'accounts']],
];

const shells: readonly { name: string; command: string; load: string }[] = [
  { name: 'bash', command: 'bash --norc --noprofile -i', load: 'source completion.bash' },
  { name: 'zsh', command: 'zsh -f -i', load: 'source ./completion.zsh' },
  { name: 'fish', command: 'fish --no-config -i', load: 'source completion.fish' },
];

beforeAll(async () => {
  mkdirSync(join(folder, 'bin'));

  // It takes the place of calls: it answers the shell as calls does, and writes down the arguments
  // of other commands.
  const stub = [
    '#!/bin/sh',
    `if [ "$1" = complete ]; then "${process.execPath}" "${stage.bin}" "$@"; echo >> '${asked}'; exit; fi`,
    `for word in "$@"; do printf '%s\\037' "$word"; done >> '${log}'`,
    `echo >> '${log}'`,
    '',
  ].join('\n');
  writeFileSync(join(folder, 'bin', 'calls'), stub);
  chmodSync(join(folder, 'bin', 'calls'), 0o755);
  writeFileSync(join(folder, 'my calls.csv'), '');
  for (const { name } of shells)
    writeFileSync(
      join(folder, `completion.${name}`),
      (await runQuick(['completion', name])).stdout,
    );
});

function find(name: string): string | null {
  const places = (process.env.PATH ?? '').split(':');
  return places.map((place) => join(place, name)).find((file) => existsSync(file)) ?? null;
}

/** Types the lines in a shell on a pseudo-terminal, and returns the arguments of each command. */
async function typeIn(command: string, load: string): Promise<string[][]> {
  writeFileSync(log, '');
  writeFileSync(asked, '');
  const line = `stty cols 200 rows 50; exec ${command}`;
  const own =
    process.platform === 'darwin'
      ? ['-q', '/dev/null', 'sh', '-c', line]
      : ['-qefc', line, '/dev/null'];
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    HOME: folder,
    TERM: 'xterm',
    LC_ALL: 'C.UTF-8',
    SHELL: '/bin/sh',
  };
  const child = spawn('script', own, { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    // fish asks what kind of terminal this is, and waits for the answer.
    if (text.includes('\u001b[c') || text.includes('\u001b[0c'))
      child.stdin.write('\u001b[?62;22c');
  });
  const lines = (file = log): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);

  const until = async (what: string, isSo: () => boolean): Promise<void> => {
    const end = Date.now() + 20_000;
    while (!isSo()) {
      if (Date.now() > end) throw new Error(`${what} did not happen:\n${shown}`);
      await new Promise((done) => setTimeout(done, 10));
    }
  };

  const type = async (keys: string): Promise<void> => {
    const before = lines().length;
    for (const part of keys.split(/(?<=\t)/)) {
      const answered = lines(asked).length;
      child.stdin.write(part);
      // What is typed after the answer waits until the shell has completed the word.
      if (part.endsWith('\t'))
        await until(`an answer to ${JSON.stringify(part)}`, () => lines(asked).length > answered);
    }

    child.stdin.write('\r');
    await until(`the run of ${JSON.stringify(keys)}`, () => lines().length > before);
  };

  try {
    await until('the start of the shell', () => shown.length > 0);
    await type(`${load}; calls ready`);
    for (const [keys] of typed) await type(`calls ${keys}`);
  } finally {
    child.stdin.write('exit\r');
    child.stdin.end();
    child.kill();
  }

  return (
    lines()
      .slice(1)
      .map((line) => line.split('\u001f').slice(0, -1))
      // zsh completes --option=value.
      .map((words) => words.flatMap((word) => (word.startsWith('--') ? word.split('=') : [word])))
  );
}

describe.skipIf(process.platform === 'win32')('completion in a real shell', () => {
  for (const { name, command, load } of shells) {
    const isThere = find(name) !== null;
    // CI installs the shells of Debian where it may.
    const couldBeHad = process.env.CI && process.platform === 'linux' && process.getuid?.() === 0;
    if (!isThere && !couldBeHad)
      process.stderr.write(`completion in ${name} is left out: ${name} is not installed\n`);
    test.skipIf(!isThere && !couldBeHad)(
      `${name} completes commands, options, fields, values and files`,
      async () => {
        expect(isThere, `${name} is not installed`).toBe(true);
        expect(await typeIn(command, load)).toEqual(typed.map(([, args]) => args));
      },
      120_000,
    );
  }
});
