import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type FakeApiServer, fakeApi, fixtureCalls } from '@call-attribution/core/testing';
import { openStore } from '@call-attribution/store';
import { openDrill, rounds, type Tally } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage } from '../stage.ts';

const stage = openStage();
const calls = fixtureCalls(1200).map((call) => ({ ...call, acct_id: '101' }));
const expected = calls.map(({ sid }) => sid);
let server: FakeApiServer;
beforeAll(async () => {
  server = await fakeApi({
    calls,
    cap: 60,
    // Slow enough to be interrupted in the middle.
    faults: () => ({
      send: ({ status, headers, body }, response, later) =>
        later(() => response.writeHead(status, headers).end(body), 15),
    }),
  }).listen();
});
afterAll(() => server.close());

interface Running {
  readonly child: ChildProcess;
  readonly code: Promise<number | null>;
}

/**
 * Starts `calls`; with a limit, no file can grow larger than that many blocks, as on a full disk.
 */
function start(args: readonly string[], cwd: string, blocks?: number): Running {
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: cwd,
    CALLS_BASE_URL: server.url,
    CALLS_ACCESS_KEY: 'a',
    CALLS_SECRET_KEY: 'b',
  };
  const limit = `trap '' XFSZ; ulimit -f ${blocks ?? 'unlimited'}; exec "$0" "$@"`;
  const child = spawn('sh', ['-c', limit, process.execPath, stage.bin, ...args], {
    cwd,
    env,
    stdio: 'ignore',
  });
  return { child, code: new Promise((resolve) => child.on('close', resolve)) };
}

const exportTo = (name: string) => [
  'export',
  '--output',
  name,
  '--rows',
  '60',
  '--include-extensions',
];
const commands: Record<
  string,
  { readonly args: readonly string[]; readonly resume: readonly string[] }
> = {
  'calls.ndjson': { args: exportTo('calls.ndjson'), resume: ['--resume'] },
  'calls.csv': { args: exportTo('calls.csv'), resume: ['--resume'] },
  'calls.db': { args: ['sync', '--store', 'sqlite:calls.db', '--account', '101'], resume: [] },
};
const names = Object.keys(commands);

async function sidsIn(path: string): Promise<string[]> {
  if (!path.endsWith('.db')) {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    if (path.endsWith('.ndjson'))
      return [...text.matchAll(/"sid":"([^"]+)"/g)].map(([, sid]) => sid ?? '');
    const column = text.split('\r\n', 1)[0]?.split(',').indexOf('sid') ?? -1;
    return text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',')[column] ?? '');
  }

  const store = await openStore(`sqlite:${path}`);
  const sids: string[] = [];
  for await (const { sid } of store.calls('101')) sids.push(sid);
  await store.close();
  return sids;
}

/** A run that ends with status 0 has written everything; if none did, no file looks finished. */
async function judge(tally: Tally, path: string, codes: readonly (number | null)[]): Promise<void> {
  if (codes.includes(0)) tally.compare(expected, await sidsIn(path));
  else if (!path.endsWith('.db') && existsSync(path)) tally.add({ lied: 1 });
}

const stops = openDrill({
  name: 'stopped-commands',
  kind: 'stops',
  what: '`calls export` and `calls sync` are stopped with SIGSTOP for a while, and the same command is started next to them; whoever reports success has written each record once',
});
test('a command that is stopped for a while and has competition writes each record once', async () => {
  for (let round = 0; round < rounds(3, 45); round += 1) {
    const name = names[round % names.length] as string;
    const { args } = commands[name] as { args: readonly string[] };
    const cwd = stage.folder();
    const path = join(cwd, name);
    const codes = await stops.run(async () => {
      let second: number | null = null;
      const first = start(args, cwd);
      let isOver = false;
      void first.code.finally(() => {
        isOver = true;
      });

      for (let stop = 0; stop < 3 && !isOver; stop += 1) {
        await delay(150 + Math.random() * 500);
        first.child.kill('SIGSTOP');
        stops.happened('stops');
        if (stop === 1) {
          const other = start(args, cwd);
          // One that waits for the first would wait until it continues.
          await Promise.race([other.code, delay(1500)]);
          first.child.kill('SIGCONT');
          second = await other.code;
          stops.happened(
            second === 0 ? 'second commands that succeeded' : 'second commands that were refused',
          );
        } else await delay(50 + Math.random() * 300);
        first.child.kill('SIGCONT');
      }

      return [await first.code, second];
    });
    await judge(stops, path, codes);
    // Whatever the two did to each other, the same command puts it right.
    expect(await stops.run(() => start(args, cwd).code)).toBe(0);
    await judge(stops, path, [0]);
  }
  expect(stops.counts).toMatchObject({ lost: 0, doubled: 0, hung: 0, lied: 0 });
});

const fullDisk = openDrill({
  name: 'full-disk',
  kind: 'full disk',
  what: '`calls export` and `calls sync` run out of space at any point, then run again with space; the first run fails and leaves no file that looks finished, the second one has each record once',
});
test('a command that runs out of space says so, and the next one completes its work', async () => {
  for (let round = 0; round < rounds(6, 45); round += 1) {
    const name = names[round % names.length] as string;
    const { args, resume } = commands[name] as (typeof commands)[string];
    const cwd = stage.folder();
    const path = join(cwd, name);
    const blocks = 1 + Math.floor(Math.random() * 3000);
    const code = await fullDisk.run(() => start(args, cwd, blocks).code);
    if (code !== 0) fullDisk.happened('full disks');
    await judge(fullDisk, path, [code]);
    const again = code === 0 ? args : [...args, ...resume];
    expect(await fullDisk.run(() => start(again, cwd).code)).toBe(0);
    await judge(fullDisk, path, [0]);
  }

  expect(fullDisk.events['full disks']).toBeGreaterThan(0);
  expect(fullDisk.counts).toMatchObject({ lost: 0, doubled: 0, hung: 0, lied: 0 });
});
