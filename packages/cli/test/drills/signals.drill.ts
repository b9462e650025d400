import { spawn } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { join } from 'node:path';
import { openDrill } from '@call-attribution/test-tools/drill';
import { describe, expect, test } from 'vitest';
import { runNode } from '../program.ts';
import { openStage } from '../stage.ts';

openDrill({
  name: 'signals',
  kind: 'whole programs',
  what: 'Processes get signals and run with warnings as errors; they end at once, and Node.js warns about nothing',
  countTests: true,
});

const stage = openStage();

describe('calls mcp', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    'it ends at the first %s while its host keeps stdin open',
    async (signal) => {
      const child = spawn(process.execPath, [stage.bin, 'mcp'], {
        env: { PATH: process.env.PATH ?? '', ...stage.env },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const closed = new Promise((resolve) => child.on('close', (code) => resolve(code)));
      child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
      await new Promise((resolve) => child.stdout.once('data', resolve));
      child.kill(signal);

      // A process that ignores the signal would wait for the end of its input for ever.
      const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
      expect(await closed).toBe(0);
      clearTimeout(late);
    },
  );
});

describe('Node.js has nothing to warn about', () => {
  const strict = ['--throw-deprecation', '--trace-warnings'];

  test('when a compressed file has many slices', async () => {
    const { code, stderr } = await runNode(
      [
        ...strict,
        stage.bin,
        'export',
        '-o',
        'calls.csv.gz',
        '--rows',
        '10',
        '--include-extensions',
      ],
      { cwd: stage.folder(), env: { ...stage.env } },
    );
    expect(code).toBe(0);
    expect(stderr).toMatch(/complete: 600 calls/);
    expect(stderr).not.toContain('Warning');
  });

  test('when any command runs', async () => {
    const cwd = stage.folder();
    const lines = [
      'demo --records 3000',
      'list --all --format csv',
      'count --json',
      'report --by campaign,day -o report.html',
      'export -o calls.parquet --rows 20',
      'sheet google-ads-clicks -o clicks.csv.gz --conversion-name Lead --value 1USD --ledger a.ledger',
      'sync --store sqlite:calls.db',
      'verify sqlite:calls.db --against-api',
      'report --by campaign --store sqlite:calls.db',
      'export -o calls/ --partition month --store sqlite:calls.db',
      'doctor',
      'sms',
      'mcp --sandbox',
    ];
    for (const line of lines) {
      const { code, stderr } = await runNode([...strict, stage.bin, ...line.split(' ')], {
        cwd,
        env: { ...stage.env },
      });
      expect([line, code, /Warning/.test(stderr)]).toEqual([line, 0, false]);
    }
  });

  test('when a sync is repeated many times', async () => {
    const cwd = stage.folder();
    const warnings: Error[] = [];
    const listen = (warning: Error) => warnings.push(warning);
    process.on('warning', listen);
    const stop = new AbortController();
    const listeners: number[] = [];
    const rounds = 12;
    const args = [
      'sync',
      '--store',
      `sqlite:${join(cwd, 'calls.db')}`,
      '--every',
      '1ms',
      '--period',
      '2026-10-01',
      '--json',
    ];
    const { code, stdout } = await stage.quick(args, {
      cwd,
      signal: stop.signal,
      watch: () => {
        if (listeners.push(getEventListeners(stop.signal, 'abort').length) === rounds) stop.abort();
      },
    });
    process.off('warning', listen);
    expect([code, stdout.trim().split('\n').length, warnings]).toEqual([0, rounds, []]);
    expect(Math.max(...listeners)).toBeLessThanOrEqual(1);
  });

  test('when many servers for assistants ran in one process', async () => {
    const { signal } = new AbortController();
    for (let round = 0; round < 12; round += 1)
      expect((await stage.quick(['mcp'], { signal })).code).toBe(0);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
