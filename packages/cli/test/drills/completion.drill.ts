import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runQuick } from '../in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'calls-completion-'));
const log = join(folder, 'log');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What is typed, with a tab where completion is wanted, and the arguments that the command gets. */
const typed: readonly (readonly [keys: string, args: readonly string[]])[] = [
  ['comple\tzs\t', ['completion', 'zsh']],
  ['list --form\tnd\t', ['list', '--format', 'ndjson']],
  ['export -o my\t', ['export', '-o', 'my calls.csv']],
  ['export --resu\t', ['export', '--resume']],
  ['list --fields sid,talk_m\t', ['list', '--fields', 'sid,talk_minutes']],
  ['report --by campa\t', ['report', '--by', 'campaign']],
  ['report --by week,phone_l\t', ['report', '--by', 'week,phone_label']],
  ['fields talk_m\t', ['fields', 'talk_minutes']],
  ['store acc\trev\t', ['store', 'accounts', 'revoke']],
  ['store --store x impo\tmy\t', ['store', '--store', 'x', 'import', 'my calls.csv']],
  ['push google\t', ['push', 'google-data-manager']],
  ['export --for skai --parti\tmo\t', ['export', '--for', 'skai', '--partition', 'month']],
  ['serve --log js\t', ['serve', '--log', 'json']],
  ['help expo\t', ['help', 'export']],
];

const shells: readonly { name: string; command: string; load: string }[] = [
  { name: 'bash', command: 'bash --norc --noprofile -i', load: 'source completion.bash' },
  { name: 'zsh', command: 'zsh -f -i', load: 'source ./completion.zsh' },
  { name: 'fish', command: 'fish --no-config -i', load: 'source completion.fish' },
];

beforeAll(async () => {
  mkdirSync(join(folder, 'bin'));
  // It takes the place of calls and writes down its arguments, one line for each command.
  const stub = `#!/bin/sh\nfor word in "$@"; do printf '%s\\037' "$word"; done >> '${log}'\necho >> '${log}'\n`;
  writeFileSync(join(folder, 'bin', 'calls'), stub);
  chmodSync(join(folder, 'bin', 'calls'), 0o755);
  writeFileSync(join(folder, 'my calls.csv'), '');
  for (const { name } of shells)
    writeFileSync(join(folder, `completion.${name}`), (await runQuick(['completion', name])).stdout);
});

function find(name: string): string | null {
  const places = (process.env.PATH ?? '').split(':');
  return places.map((place) => join(place, name)).find((file) => existsSync(file)) ?? null;
}

/** Types the lines in a shell on a pseudo-terminal, and returns the arguments of each command. */
async function typeIn(command: string, load: string): Promise<string[][]> {
  writeFileSync(log, '');
  const line = `stty cols 200 rows 50; exec ${command}`;
  const own =
    process.platform === 'darwin' ? ['-q', '/dev/null', 'sh', '-c', line] : ['-qefc', line, '/dev/null'];
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
    if (text.includes('\u001b[c') || text.includes('\u001b[0c')) child.stdin.write('\u001b[?62;22c');
  });
  const lines = (): string[] => readFileSync(log, 'utf8').split('\n').slice(0, -1);
  const type = async (keys: string): Promise<void> => {
    const before = lines().length;
    for (const part of keys.split(/(?<=\t)/)) {
      child.stdin.write(part);
      await new Promise((done) => setTimeout(done, 150));
    }
    child.stdin.write('\r');
    for (let tries = 0; lines().length === before && tries < 200; tries += 1)
      await new Promise((done) => setTimeout(done, 50));
    if (lines().length === before) throw new Error(`nothing ran after ${JSON.stringify(keys)}:\n${shown}`);
  };
  try {
    await new Promise((done) => setTimeout(done, 1_000));
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
