import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { callWith } from '@call-attribution/test-tools/call-with';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type OwnStage, openOwnStage, serverThat } from '../stage.ts';

let stage: OwnStage;
let sids: string[];
beforeAll(async () => {
  stage = await openOwnStage({ records: 400, days: 30 });
  const listed = await stage.quick('list --all --format csv --fields sid --include-extensions');
  sids = listed.stdout.trimEnd().split('\r\n').slice(1).sort();
});
afterEach(() => stage.sandbox.faults.clear());
afterAll(() => stage.close());

const all = ['--include-extensions'];
const lines = (text: string): string[] => text.trimEnd().split('\n');
const sidsOf = (text: string): string[] =>
  lines(text)
    .map((line) => JSON.parse(line).sid)
    .sort();
const sidsInCsv = (text: string) =>
  [...text.matchAll(/^(\d{13}),101,/gm)].map((match) => match[1] ?? '');
const sidsInJson = (text: string) => JSON.parse(text).map((call: { sid: string }) => call.sid);

describe('a file', () => {
  test('it has every call once, in each format, and the last message says so', async () => {
    const cwd = stage.folder();
    const read: Record<string, (bytes: Buffer, path: string) => Promise<string[]> | string[]> = {
      'a.ndjson': (bytes) => sidsOf(bytes.toString()),
      'b.ndjson.gz': (bytes) => sidsOf(gunzipSync(bytes).toString()),
      'c.json': (bytes) => sidsInJson(bytes.toString()),
      'd.json.gz': (bytes) => sidsInJson(gunzipSync(bytes).toString()),
      'e.csv': (bytes) => sidsInCsv(bytes.toString()),
      'f.csv.gz': (bytes) => sidsInCsv(gunzipSync(bytes).toString()),
      'g.parquet': async (_, path) => {
        const rows = await parquetReadObjects({
          file: await asyncBufferFromFile(path),
          columns: ['sid', 'talk_minutes'],
        });
        expect(typeof rows[0]?.talk_minutes).toBe('number');
        return rows.map((row) => String(row.sid));
      },
    };
    for (const [name, sidsIn] of Object.entries(read)) {
      const { code, stdout, stderr } = await stage.quick(['export', '--output', name, ...all], {
        cwd,
      });
      expect({ code, stdout }, name).toEqual({ code: 0, stdout: '' });
      expect(stderr).toMatch(/complete: 400 calls, as many as the server counts/);
      const path = join(cwd, name);
      expect([...(await sidsIn(readFileSync(path), path))].sort(), name).toEqual(sids);
      for (const rest of ['.partial', '.checkpoint'])
        expect(existsSync(path + rest), name + rest).toBe(false);
    }
  });

  test('it has only the chosen fields, in their order, and a byte order mark for Excel', async () => {
    const cwd = stage.folder();
    const columns = ['--fields', 'talk_minutes,sid', '--period', '2026-10-15'];
    await stage.quick(['export', '--output', 'a.csv', '--format', 'spreadsheet', ...columns], {
      cwd,
    });
    expect(readFileSync(join(cwd, 'a.csv'), 'utf8')).toMatch(
      /^\ufefftalk_minutes,sid\r\n[\d.]+,\d+\r\n/,
    );
    await stage.quick(['export', '--output', 'a.ndjson', ...columns], { cwd });
    expect(
      Object.keys(JSON.parse(lines(readFileSync(join(cwd, 'a.ndjson'), 'utf8'))[0] ?? '')),
    ).toEqual(['talk_minutes', 'sid']);
  });

  test('- writes it to stdout and messages to stderr', async () => {
    const { code, stdout, stderr } = await stage.quick(['export', '--output', '-', ...all]);
    expect(code).toBe(0);
    expect(sidsOf(stdout)).toEqual(sids);
    expect(stderr).toMatch(/^complete: 400 calls/);
    expect((await stage.quick(['export', '--output', '-', '--resume'])).stderr).toMatch(
      /cannot resume: stdout is not a file/,
    );
  });

  test('an earlier file stays until the new one is complete', async () => {
    const cwd = stage.folder();
    writeFileSync(join(cwd, 'a.ndjson'), 'the old one');
    stage.sandbox.faults.set('*', [{ status: 404, after: 3 }]);
    const { code } = await stage.quick(
      ['export', '--output', 'a.ndjson', '--rows', '100', ...all],
      { cwd },
    );
    expect(code).not.toBe(0);
    expect(readFileSync(join(cwd, 'a.ndjson'), 'utf8')).toBe('the old one');
  });
});

describe.skipIf(process.platform === 'win32')('an interrupted export', () => {
  // Slow enough to be stopped in the middle, with slices so small that there is a checkpoint by
  // then.
  const slowly = ['--rows', '40', ...all];
  const slow = (): void => stage.sandbox.faults.set('*', [{ latency: 100 }]);

  async function stopped(name: string, by: 'Ctrl-C' | 'SIGKILL', cwd: string) {
    const path = join(cwd, name);
    const args = ['export', '--output', name, ...slowly];

    const onCheckpoint = (stop: () => unknown): void => {
      const poll = setInterval(() => {
        if (!existsSync(`${path}.checkpoint`)) return;
        clearInterval(poll);
        stop();
      }, 5);
    };

    slow();
    const controller = new AbortController();
    if (by === 'Ctrl-C') onCheckpoint(() => controller.abort());
    const result =
      by === 'Ctrl-C'
        ? await stage.quick(args, { cwd, signal: controller.signal })
        : await stage.calls(args, {
            cwd,
            started: (child) => onCheckpoint(() => child.kill(by)),
          });
    stage.sandbox.faults.clear();
    expect(existsSync(path), 'no file before it is whole').toBe(false);
    expect(existsSync(`${path}.partial`)).toBe(true);
    return result;
  }

  test.each(['a.ndjson', 'a.csv.gz'])(
    'Ctrl-C says how to continue, and --resume continues %s',
    async (name) => {
      const cwd = stage.folder();
      const first = await stopped(name, 'Ctrl-C', cwd);
      expect(first).toMatchObject({ code: 130, stdout: '' });
      expect(first.stderr).toMatch(
        /stopped\n {2}→ to continue, run the same command with --resume/,
      );

      const resume = (more: readonly string[], env = {}) =>
        stage.quick(['export', '--output', name, '--resume', ...more], { cwd, env });
      const other = await resume(['--period', '2026-10-15']);
      expect(other.code).toBe(2);
      expect(other.stderr).toMatch(/started with other options/);
      const mixed = await resume(['--format', 'json', ...slowly]);
      expect(mixed, 'two formats in one file').toMatchObject({ code: 2 });
      const account = await resume(slowly, { CALLS_ACCESS_KEY: 'somebody-else' });
      expect(account.code, 'two accounts in one file').toBe(2);
      expect(account.stderr).toMatch(/started with another URL or other keys/);

      const path = join(cwd, name);
      const kept = readFileSync(`${path}.partial`).subarray(
        0,
        JSON.parse(readFileSync(`${path}.checkpoint`, 'utf8')).bytes,
      );

      // Compressed bytes are kept in the checkpoint until they fill a member of the file.
      if (!name.endsWith('.gz')) expect(kept.length).toBeGreaterThan(0);
      const second = await resume(slowly);
      expect(second.code).toBe(0);
      expect(second.stderr).toMatch(/complete: 400 calls/);
      const bytes = readFileSync(path);

      // It continued: the file begins with the bytes that were there before.
      expect(bytes.subarray(0, kept.length).equals(kept)).toBe(true);
      const got = name.endsWith('.gz')
        ? sidsInCsv(gunzipSync(bytes).toString())
        : sidsOf(bytes.toString());
      expect(got.sort()).toEqual(sids);
    },
  );

  test('a server error says how to continue as well', async () => {
    const cwd = stage.folder();
    stage.sandbox.faults.set('*', 'status=400, after=6');
    const { code, stderr } = await stage.quick(['export', '--output', 'a.csv', ...slowly], { cwd });
    stage.sandbox.faults.clear();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /status 400.*\n(.*\n)*.*to continue, run the same command with --resume; .* a\.csv\.partial/,
    );
  });

  test('a Parquet file that was stopped leaves nothing and is not resumed', async () => {
    const cwd = stage.folder();
    stage.sandbox.faults.set('*', 'status=400, after=6');
    const failed = await stage.quick(['export', '--output', 'a.parquet', ...slowly], { cwd });
    stage.sandbox.faults.clear();
    expect([failed.code, readdirSync(cwd)]).toEqual([1, []]);
    const { code, stderr } = await stage.quick(
      ['export', '-o', 'a.parquet', '--resume', ...slowly],
      { cwd },
    );
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/cannot be continued[\s\S]*--partition month/),
    ]);
  });

  test.each(['a.ndjson', 'a.parquet'])(
    'a second export into %s is refused and leaves it alone',
    async (name) => {
      const cwd = stage.folder();
      const first = new AbortController();
      slow();
      const running = stage.quick(['export', '--output', name, ...slowly], {
        cwd,
        signal: first.signal,
      });
      while (!existsSync(join(cwd, `${name}.partial`)))
        await new Promise((resolve) => setTimeout(resolve, 5));
      const second = await stage.quick(['export', '--output', name, ...slowly], { cwd });
      stage.sandbox.faults.clear();
      expect(second.code).toBe(8);
      const holds = new RegExp(
        `^calls: Process ${process.pid} holds the lock .*${name}.*Wait until it ends`,
      );
      expect(second.stderr).toMatch(holds);
      expect(second.stderr).not.toMatch(/--resume|unexpected/);
      expect(await running).toMatchObject({ code: 0 });
      expect(readdirSync(cwd)).toEqual([name]);
    },
  );

  test('a run that starts over says so, and so does --resume when the file is complete', async () => {
    const cwd = stage.folder();
    await stopped('a.ndjson', 'Ctrl-C', cwd);
    const again = await stage.quick(['export', '--output', 'a.ndjson', ...slowly], { cwd });
    expect(again.code).toBe(0);
    expect(again.stderr).toMatch(
      /starting over: .* a\.ndjson\.partial is replaced; --resume continues it/,
    );

    const complete = await stage.quick(['export', '--output', 'a.ndjson', '--resume', ...slowly], {
      cwd,
    });
    expect(complete.code).toBe(0);
    expect(complete.stderr).toMatch(
      /a\.ndjson is complete: there is nothing to resume; reading all calls/,
    );
  });

  test('--resume says what is unfinished, where it is not this file', async () => {
    const cwd = stage.folder();
    const resume = async (name: string) => {
      const { code, stderr } = await stage.quick(['export', '-o', name, '--resume', ...all], {
        cwd,
      });
      expect(code).toBe(0);
      return stderr.split('\n').find((line) => line.includes('nothing to resume'));
    };
    expect(await resume('first.ndjson')).toBe('there is nothing to resume; reading all calls');
    await stopped('a.ndjson', 'Ctrl-C', cwd);
    expect(await resume('b.ndjson')).toBe(
      'a.ndjson.partial is of another file: there is nothing to resume; reading all calls',
    );
    rmSync(join(cwd, 'a.ndjson.checkpoint'));
    expect(await resume('a.ndjson')).toBe(
      'a.ndjson.partial has no a.ndjson.checkpoint: there is nothing to resume; reading all calls',
    );
  });

  test('a part that was replaced is not resumed', async () => {
    const cwd = stage.folder();
    await stopped('a.ndjson', 'SIGKILL', cwd);
    const part = join(cwd, 'a.ndjson.partial');
    writeFileSync(part, readFileSync(part, 'utf8').replaceAll('"sid":"', '"sid":"9'));
    const { code, stderr } = await stage.quick(
      ['export', '--output', 'a.ndjson', '--resume', ...slowly],
      {
        cwd,
      },
    );
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /a\.ndjson\.partial is not what the interrupted run left: its checksum differs/,
    );
    expect(stderr).not.toMatch(/--resume|unexpected/);
    expect(existsSync(join(cwd, 'a.ndjson'))).toBe(false);
  });

  test('after SIGKILL nothing is lost and nothing is doubled', async () => {
    const cwd = stage.folder();
    expect((await stopped('a.ndjson', 'SIGKILL', cwd)).signal).toBe('SIGKILL');
    const resumed = await stage.quick(['export', '--output', 'a.ndjson', '--resume', ...slowly], {
      cwd,
    });
    expect(resumed.code).toBe(0);
    expect(sidsOf(readFileSync(join(cwd, 'a.ndjson'), 'utf8'))).toEqual(sids);
  });

  test('a full disk ends with status 7 and the name of the file, and --resume continues when there is space', async () => {
    const cwd = stage.folder();

    // A file of at most so many blocks, and no signal for it: writes fail as on a full disk.
    const { code, stderr } = await shell(
      `trap '' XFSZ; ulimit -f 1000; exec "$0" "$@"`,
      ['export', '--output', 'a.ndjson', ...slowly],
      cwd,
    );
    expect(code).toBe(7);
    expect(stderr).toMatch(/a\.ndjson: the file is larger than the limit \(EFBIG\)/);
    expect(existsSync(join(cwd, 'a.ndjson'))).toBe(false);
    const resumed = await stage.quick(['export', '--output', 'a.ndjson', '--resume', ...slowly], {
      cwd,
    });
    expect(resumed.code).toBe(0);
    expect(sidsOf(readFileSync(join(cwd, 'a.ndjson'), 'utf8'))).toEqual(sids);
  });

  test('a full device ends with status 7 and stays a device', async () => {
    const full = await stage.quick(['export', '--output', '/dev/full', '--format', 'csv']);
    expect(full.code).toBe(7);
    expect(full.stderr).toMatch(/\/dev\/full: no space left on the disk \(ENOSPC\)/);
    const sheet = ['sheet', 'sa360', '--conversion-name', 'x', '--output', '/dev/full'];
    expect((await stage.quick(sheet)).stderr).toMatch(/\/dev\/full: no space left/);
  });

  async function shell(
    script: string,
    args: string[],
    cwd: string,
  ): Promise<{ code: number | null; stderr: string }> {
    const env = { PATH: process.env.PATH ?? '', HOME: cwd, ...stage.env };
    const child = spawn('sh', ['-c', script, process.execPath, stage.bin, ...args], { cwd, env });
    let stderr = '';
    child.stderr.on('data', (text) => {
      stderr += String(text);
    });
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return { code, stderr };
  }
});

test('months of the API that a condition chose say so: without it they are refused', async () => {
  const months = ['export', '-o', 'x', '--partition', 'month', '--include-extensions'];
  const run = { cwd: stage.folder() };
  expect(await stage.quick([...months, '--where', 'talk_minutes >= 2'], run)).toMatchObject({
    code: 0,
  });
  expect((await stage.quick(months, run)).stderr).toMatch(
    /account=101 has an export of other calls: .* and talk_minutes >= 2\. Export into another folder/,
  );
});

test('without totals of the server an export ends with status 3', async () => {
  const calls = [1, 2, 3].map((n) => callWith({ sid: `s${n}` }));
  const server = await serverThat((response, url) => {
    const asked = new URL(url, 'http://x').searchParams;
    const start = Number(asked.get('start') ?? 0);
    const rows = Number(asked.get('rows') ?? 100);
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify(calls.slice(start, start + rows)));
  });
  const env = { CALLS_BASE_URL: server.url };
  const result = await stage.quick(['export', '--output', '-'], { env });
  server.close();
  expect(result.code).toBe(3);
  expect(sidsOf(result.stdout)).toEqual(['s1', 's2', 's3']);
  expect(result.stderr).toMatch(/UNPROVEN: 3 calls; the server gives no total/);
});

const receiptOf = (path: string) => JSON.parse(readFileSync(`${path}.receipt.json`, 'utf8'));
const slowly = ['--include-extensions', '--rows', '20'];

describe('calls export --receipt', () => {
  test.each(['a.ndjson', 'a.ndjson.gz', 'a.json', 'a.csv', 'a.csv.gz', 'a.parquet'])(
    'it writes the receipt of %s: the source, both counts, the rows and the bytes',
    async (name) => {
      const cwd = stage.folder();
      const period = ['--from', '2026-10-25', '--to', '2026-11-10'];
      const args = ['export', '-o', name, '--receipt', '--include-extensions', ...period];
      const { code, stderr } = await stage.quick(args, { cwd });
      expect(code, stderr).toBe(0);
      const bytes = readFileSync(join(cwd, name));
      const receipt = receiptOf(join(cwd, name));
      const calls = Number(/complete: (\d+) calls/.exec(stderr)?.[1]);
      expect(calls).toBeGreaterThan(50);
      expect(receipt).toMatchObject({
        receipt: 1,
        file: name,
        source: stage.url,
        accounts: ['101'],
        version: 'v3',
        filter: expect.stringMatching(/inc_gce:1,date_added:/),
        from: '2026-10-25 00:00:00',
        to: '2026-11-11 00:00:00',
        verdict: { proof: 'whole', proved: calls, gaps: [] },
        rows: { count: calls, digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
        bytes: { length: bytes.length, sha256: hash('sha256', bytes, 'hex') },
      });
      expect(JSON.stringify(receipt)).not.toMatch(
        new RegExp(Object.values(stage.env).slice(2, 4).join('|')),
      );
      expect(readdirSync(cwd).sort()).toEqual([name, `${name}.receipt.json`]);
    },
  );

  test('the fields that were chosen are in it, and a file without it has none', async () => {
    const cwd = stage.folder();
    const fields = ['--fields', 'sid,talk_minutes'];
    for (const name of ['a.ndjson', 'a.csv', 'a.parquet']) {
      await stage.quick(['export', '-o', name, '--receipt', ...fields], { cwd });
      expect(receiptOf(join(cwd, name)).rows.fields, name).toEqual(['sid', 'talk_minutes']);
    }

    await stage.quick(['export', '-o', 'a.ndjson'], { cwd });
    expect(readdirSync(cwd)).not.toContain('a.ndjson.receipt.json');
  });

  test.each(['a.ndjson', 'a.csv.gz'])(
    'the receipt of %s, which was stopped and resumed, is that of one run',
    async (name) => {
      const cwd = stage.folder();
      const whole = ['export', '-o', `whole-${name}`, '--receipt', ...slowly];
      expect((await stage.quick(whole, { cwd })).code).toBe(0);
      stage.sandbox.faults.set('*', 'status=400, after=9');
      const args = ['export', '-o', name, '--receipt', ...slowly];
      expect((await stage.quick(args, { cwd })).code).toBe(1);
      stage.sandbox.faults.clear();
      expect(readdirSync(cwd)).not.toContain(`${name}.receipt.json`);
      expect(
        (await stage.quick([...args.filter((each) => each !== '--receipt'), '--resume'], { cwd }))
          .code,
      ).toBe(2);
      expect((await stage.quick([...args, '--resume'], { cwd })).code).toBe(0);
      const one = receiptOf(join(cwd, `whole-${name}`));
      const two = receiptOf(join(cwd, name));
      expect(two.rows).toEqual(one.rows);
      expect(two.verdict).toMatchObject({ proof: 'whole', proved: 400 });
      expect(two.bytes.sha256).toBe(hash('sha256', readFileSync(join(cwd, name)), 'hex'));
    },
  );

  test('it says that a read was not whole', async () => {
    const cwd = stage.folder();
    stage.sandbox.faults.set('*', 'range=none');
    const { code } = await stage.quick(['export', '-o', 'a.csv', '--receipt'], { cwd });
    expect(code).toBe(3);
    expect(receiptOf(join(cwd, 'a.csv')).verdict).toMatchObject({
      proof: 'unproven',
      proved: 0,
      gaps: [{ why: 'no_total' }],
    });
  });

  test('it is for files', async () => {
    const stdout = await stage.quick(['export', '-o', '-', '--receipt']);
    expect(stdout).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--receipt: stdout is not a file/),
    });
  });
});
