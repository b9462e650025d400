import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { textWidth } from '../../src/terminal/width.ts';
import { type OwnStage, openOwnStage } from '../stage.ts';

openDrill({
  name: 'terminal-session',
  kind: 'whole programs',
  what: 'A person at a terminal sees progress, prompts, waits and tables that fit',
  countTests: true,
});

let stage: OwnStage;
beforeAll(async () => {
  stage = await openOwnStage({ records: 800, days: 30 });
});
afterEach(() => stage.sandbox.faults.clear());
afterAll(() => stage.close());

/** What a pseudo-terminal showed, and the exit status. */
interface Session {
  readonly shown: string;
  readonly code: number | null;
}

/**
 * Runs `calls` on a pseudo-terminal of so many columns. `type` are keys to press when the pattern
 * has been shown, each once.
 */
function inTerminal(
  args: readonly string[],
  options: {
    columns?: number;
    env?: Record<string, string>;
    type?: readonly (readonly [RegExp, string])[];
  } = {},
): Promise<Session> {
  const words = [process.execPath, stage.bin, ...args].map(
    (word) => `'${word.replaceAll("'", `'\\''`)}'`,
  );
  const line = `stty cols ${options.columns ?? 80} rows 24; exec ${words.join(' ')}`;
  const own =
    process.platform === 'darwin'
      ? ['-q', '/dev/null', 'sh', '-c', line]
      : ['-qefc', line, '/dev/null'];
  const cwd = stage.folder();
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: cwd,
    TERM: 'xterm',
    SHELL: '/bin/sh',
    ...stage.env,
    ...options.env,
  };
  const child = spawn('script', own, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
  let shown = '';
  const waiting = [...(options.type ?? [])];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    const [next] = waiting;
    if (next?.[0].test(shown.replaceAll('\r\n', '\n'))) {
      waiting.shift();
      child.stdin.write(next[1]);
    }
  });
  return new Promise((resolve, reject) => {
    // Whoever asks for something else than what is waited for would wait forever.
    const limit = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`It did not end, and waits for ${waiting[0]?.[0]}. It showed: ${shown}`));
    }, 60_000);
    child.on('error', reject);
    child.on('close', () => clearTimeout(limit));
    child.on('close', (code) => resolve({ shown: shown.replaceAll('\r\n', '\n'), code }));
  });
}

describe.skipIf(process.platform === 'win32')('on a terminal', () => {
  test('an export repaints one line with bar, total, rate and time left, within the width', async () => {
    stage.sandbox.faults.set('*', [{ latency: 30 }]);
    const args = ['export', '--output', 'calls.ndjson', '--rows', '40', '--include-extensions'];
    const { shown, code } = await inTerminal(args, { columns: 60 });
    expect(code).toBe(0);
    const paints = shown
      .split('\r\u001b[2K')
      .slice(1)
      .map((paint) => paint.split('\n')[0] ?? '');
    expect(paints.length).toBeGreaterThan(3);
    for (const paint of paints) expect(textWidth(paint)).toBeLessThan(60);
    expect(
      paints.some((paint) => /^calls \[#+-+\] \d+ \/ 800 {2}\d+% {2}\d+\/s {2}ETA /.test(paint)),
    ).toBe(true);
    expect(paints.at(-1)).toMatch(/^calls \[#+\] 800 \/ 800 {2}100%/);
    expect(shown).toMatch(/\ncomplete: 800 calls/);
  });

  test('Ctrl-C ends the progress line and says how to continue', async () => {
    stage.sandbox.faults.set('*', [{ latency: 40 }]);
    const args = ['export', '--output', 'calls.ndjson', '--rows', '40', '--include-extensions'];
    const { shown, code } = await inTerminal(args, { type: [[/[1-9]\d* \/ 800/, '\u0003']] });
    expect(code).toBe(130);
    expect(shown).toMatch(/\n[^\n]*stopped\n[^\n]*to continue, run the same command with --resume/);
  });

  test.each([
    [['count'], /\n\d{3}\nCalls through call extensions are left out.*\n$/],
    [['sync', '--store', 'sqlite:calls.db'], /\nsqlite:calls.db, account \d+: 800 new, .*\n/],
  ])('calls %s asks once for keys, and what is typed is not shown', async (args, said) => {
    const { shown, code } = await inTerminal(args, {
      env: { CALLS_ACCESS_KEY: '', CALLS_SECRET_KEY: '' },
      type: [
        [/Access key \(not shown\): $/, `${stage.env.CALLS_ACCESS_KEY}x\u007f\r`],
        [/Secret key \(not shown\): $/, `${stage.env.CALLS_SECRET_KEY}\r`],
      ],
    });
    expect(code).toBe(0);
    expect(shown).toMatch(said);
    expect(shown).not.toContain(stage.env.CALLS_ACCESS_KEY);
    expect(shown).not.toContain(stage.env.CALLS_SECRET_KEY);
  });

  test('calls init asks until the server accepts the keys, and keeps a command that prints one', async () => {
    const {
      CALLS_ACCESS_KEY: key = '',
      CALLS_SECRET_KEY: secret = '',
      CALLS_BASE_URL: url = '',
    } = stage.env;

    const keys = (typed: string): [RegExp, string][] => [
      [/Access key \(not shown\), or Enter[^\n]*: $/, '\r'],
      [/prints the access key, or Enter to type it: $/, 'false\r'],
      // A command that fails is asked for again.
      [/ended with status 1\n[^\n]*\nAccess key \(not shown\), or Enter[^\n]*: $/, '\r'],
      [/prints the access key, or Enter to type it: $/, `echo ${key}\r`],
      [/Secret key \(not shown\), or Enter[^\n]*: $/, `${typed}\r`],
    ];

    const env = {
      CALLS_BASE_URL: '',
      CALLS_ACCESS_KEY: '',
      CALLS_SECRET_KEY: '',
      CALLS_TIME_ZONE: '',
    };
    const { shown, code } = await inTerminal(['init'], {
      env,
      type: [
        [/URL of the API, up to \/v2 and \/v3: $/, `nowhere\r`],
        [/must be a URL[^\n]*\nURL of the API, up to \/v2 and \/v3: $/, `${url}\r`],
        [/Version of the API \[v3\]: $/, '\r'],
        ...keys('wrong'),
        [/nothing is kept yet[^\n]*\nURL of the API[^\n]*: $/, '\r'],
        [/Version of the API \[v3\]: $/, '\r'],
        ...keys(secret),
        [/Time zone of the account's times \[.+\]: $/, 'America/New_York\r'],
      ],
    });
    expect(shown).toMatch(
      /the server accepts them: \d+ calls\nTime zone[^\n]*\nkept in .*calls\.config\.json/,
    );
    expect(code).toBe(0);
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain('run calls doctor');
  });

  test('calls init offers the address of the account that is there to the next one', async () => {
    const { CALLS_ACCESS_KEY: key = '', CALLS_SECRET_KEY: secret = '' } = stage.env;
    const config = join(stage.folder(), 'calls.config.json');
    writeFileSync(
      config,
      JSON.stringify({ default: 'main', accounts: { main: { baseUrl: stage.url } } }),
    );
    const env = { CALLS_BASE_URL: '', CALLS_TIME_ZONE: '' };
    const { shown, code } = await inTerminal(['init', '--account', 'boston', '--config', config], {
      env: { ...env, CALLS_ACCESS_KEY: key, CALLS_SECRET_KEY: secret },
      type: [
        [/URL of the API, up to \/v2 and \/v3 \[http:[^\n]*\]: $/, '\r'],
        [/Version of the API \[v3\]: $/, '\r'],
        [/Time zone of the account's times \[.+\]: $/, 'UTC\r'],
      ],
    });
    expect(shown).toContain('the server accepts them');
    expect(code).toBe(0);
    const kept = JSON.parse(readFileSync(config, 'utf8'));
    expect(kept.accounts.boston.baseUrl).toBe(stage.url);
  });

  test('Ctrl-C at the prompt restores the terminal', async () => {
    const env = { CALLS_ACCESS_KEY: '', CALLS_SECRET_KEY: '' };
    const asked = await inTerminal(['count'], { env, type: [[/not shown\): $/, '\u0003']] });
    expect(asked.code).toBe(130);
  });

  test('waiting is never silent: a line counts down, and goes away when the response is there', async () => {
    stage.sandbox.faults.set('*', 'status=429, retry-after=3, times=1');
    const limited = await inTerminal(['count']);
    expect(limited.code).toBe(0);
    const lines = limited.shown.split('\r\u001b[2K');
    expect(lines).toContain('rate limited (status 429), next try in 3 s');
    expect(lines).toContain('rate limited (status 429), next try in 1 s');
    expect(lines.at(-1)).toMatch(/^\d{3}\n/);
    stage.sandbox.faults.set('*', 'latency=2600ms, times=1');
    const slow = await inTerminal(['count'], { columns: 30 });
    expect(slow.shown).toMatch(/waiting for http:\/\/127.0.0/);
    for (const line of slow.shown.split('\r\u001b[2K').slice(1, -1))
      expect(textWidth(line)).toBeLessThan(30);

    // A terminal that knows no escapes and a file get one plain line.
    stage.sandbox.faults.set('*', 'latency=7000ms, times=1');
    const { stderr } = await stage.calls(['count']);
    const [waiting, ...others] = stderr.split('\n');
    expect(waiting).toBe(`waiting for ${stage.url}`);
    expect(others.filter((line) => line !== '')).toEqual([
      expect.stringContaining('Calls through call extensions are left out'),
    ]);
  });

  let made = '';
  beforeAll(async () => {
    made = stage.folder();
    await stage.quick('store accounts add --account 101 --store sqlite:calls.db', {
      cwd: made,
    });
  });
  test.each([
    ['count', /waiting for/],
    ['list', /waiting for/],
    ['report', /waiting for/],
    ['export --output calls.csv', /waiting for/],
    ['sheet marin --value 1USD --conversion-name Lead --output sheet.csv', /waiting for/],
    ['sync --store sqlite:calls.db --account 101', /waiting for/],
    ['sync --store sqlite:calls.db --account 101 --every 1s', /waiting for/],
    ['doctor', /waiting for/],
    ['sms', /waiting for/],
    ['sql - --store sqlite:none.db', /working/],
    ['serve --port 0', /Ctrl-C stops it/],
    ['serve --port 0 --records 200000', /generated calls/],
    ['demo --records 200000', /generated calls/],
    ['mcp --sandbox', /not real ones/],
  ])('the first Ctrl-C ends calls %s', async (line, when) => {
    stage.sandbox.faults.set('*', 'silent');
    const args = line.replace('{made}', made).split(' ');
    const { shown, code } = await inTerminal(args, { type: [[when, '\u0003']] });

    // What runs until it is stopped has done what it should.
    const isDone = ['serve', 'mcp'].includes(args[0] ?? '') && !line.includes('200000');
    expect([code, shown]).toEqual([
      isDone || line.includes('--every') ? 0 : 130,
      expect.any(String),
    ]);
    expect(shown).not.toMatch(/Warning|unexpected|\n +at /);
  });

  test('a table fits the width and has a bold heading, unless NO_COLOR is set', async () => {
    const { shown } = await inTerminal(['list', '-n', '4'], { columns: 70 });
    expect(shown).toContain('\u001b[1m');
    for (const line of stripVTControlCharacters(shown).split('\n').slice(0, 5))
      expect(textWidth(line)).toBeLessThanOrEqual(70);
    const plain = await inTerminal(['list', '-n', '4'], { columns: 70, env: { NO_COLOR: '1' } });
    expect(plain.shown).not.toContain('\u001b[');
  });
});
