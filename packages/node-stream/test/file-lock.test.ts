import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Call } from '@call-attribution/core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { toNdjson } from '../src/encoders/index.ts';
import { lockFile } from '../src/files/index.ts';
import { createCallStream } from '../src/index.ts';
import { mapCalls } from '../src/operators/index.ts';
import { seal } from '../src/reader/seal.ts';
import { fileSink } from '../src/sinks/index.ts';
import { FakeServer, fakeRecords } from './fake-server.ts';
import { lockText } from './lock-text.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'locks-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const isEnded = (pid: number): boolean => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

const settled = async <T>(work: readonly Promise<T>[]) => {
  const done = await Promise.allSettled(work);
  return done.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
};

describe('a lock', () => {
  test('it goes to one run at most when many find the lock of a dead one', async () => {
    const path = join(folder, 'lock');
    let taken = 0;
    for (let round = 0; round < 20; round += 1) {
      writeFileSync(path, lockText());
      const holders = await settled(Array.from({ length: 6 }, () => lockFile(path)));
      expect(holders.length).toBeLessThanOrEqual(1);
      taken += holders.length;
      for (const unlock of holders) await unlock();
      rmSync(path, { force: true });
      expect(readdirSync(folder)).toEqual([]);
    }
    expect(taken).toBeGreaterThan(0);
  });

  const elsewhere = (time: Date) => {
    const path = join(folder, 'lock');
    // Process 1 of another container, whose process ids say nothing here; the host name may even be the same.
    writeFileSync(
      path,
      JSON.stringify({ token: 'x', host: hostname(), pid: 1, machine: 'other pid:[1]', began: '7' }),
    );
    utimesSync(path, time, time);
    return path;
  };

  test('it is respected in another container as long as it gives signs of life', async () => {
    const path = elsewhere(new Date());
    await expect(lockFile(path)).rejects.toMatchObject({ code: 'file_locked', owner: 1, host: hostname() });
  });

  test('it is taken over from another container that gave no sign of life for a minute', async () => {
    const path = elsewhere(new Date(Date.now() - 61_000));
    const unlock = await lockFile(path);
    await unlock.check();
    await unlock();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('it is not taken over while its owner gives signs of life', async () => {
    const path = join(folder, 'lock');
    const unlock = await lockFile(path, { heartbeat: 5 });
    const old = new Date(Date.now() - 3600_000);
    utimesSync(path, old, old);
    while (Date.now() - (await import('node:fs')).statSync(path).mtimeMs > 60_000)
      await new Promise((resolve) => setTimeout(resolve, 5));
    await unlock();
  });

  test('it is taken over from a process that has ended but that its parent has not noticed', async () => {
    const path = join(folder, 'lock');
    const script = `printf '{"token":"x","host":"h","pid":%s,"machine":"%s %s","began":"%s"}' $$ "$(cat /proc/sys/kernel/random/boot_id)" "$(readlink /proc/self/ns/pid)" "$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20)" >${path}`;
    // The shell becomes a program that never waits for its child.
    const parent = spawn('sh', ['-c', `sh -c '${script.replaceAll("'", `'"'"'`)}' & exec sleep 60`]);
    try {
      while (!existsSync(path) || !isEnded(JSON.parse(readFileSync(path, 'utf8') || '{"pid":1}').pid))
        await new Promise((resolve) => setTimeout(resolve, 10));
      const unlock = await lockFile(path);
      await unlock();
    } finally {
      parent.kill('SIGKILL');
    }
  });

  test('it is taken over once when it cannot be read and nobody has written it for a minute', async () => {
    const path = join(folder, 'lock');
    writeFileSync(path, '');
    await expect(lockFile(path)).rejects.toMatchObject({ owner: null });
    const old = new Date(Date.now() - 61_000);
    utimesSync(path, old, old);
    const unlock = await lockFile(path);
    await expect(lockFile(path)).rejects.toMatchObject({ owner: process.pid });
    await unlock();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('it tells an owner that lost it, and leaves the lock of the next one', async () => {
    const path = join(folder, 'lock');
    const unlock = await lockFile(path);
    rmSync(path);
    const next = await lockFile(path);
    await expect(unlock.check()).rejects.toMatchObject({ code: 'file_locked', owner: null });
    await unlock();
    await next.check();
    await next();
  });
});

const server = () => new FakeServer(fakeRecords(400));
const options = { clock: { now: () => Date.UTC(2026, 5, 1) }, rows: 40 } as const;

/** An export that stops after some slices, as if the process had died, but lets go of its lock. */
async function cutExport(path: string): Promise<void> {
  let count = 0;
  const cut = mapCalls((call: Call) => {
    if (++count > 200) throw new Error('power cut');
    return call;
  });
  const sink = fileSink<Call>(path, { encode: toNdjson(), durable: false });
  await expect(createCallStream(server(), options).through(cut).into(sink)).rejects.toThrow('power cut');
}

async function resume(path: string): Promise<void> {
  const sink = fileSink<Call>(path, { encode: toNdjson(), durable: false, resume: true });
  await createCallStream(server(), options)
    .through(mapCalls((call: Call) => call))
    .into(sink);
}

/** Begins to write, and ends when it is told to. */
function writing(path: string, line: string) {
  let end = () => {};
  let begun = () => {};
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const source = async function* () {
    yield line;
    begun();
    await new Promise<void>((resolve) => {
      end = resolve;
    });
  };
  const done = fileSink(path, { durable: false })(source());
  done.catch(() => {});
  return { hasBegun, done, end: () => end() };
}

const sidsOf = (path: string) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).sid);

describe('an export into a file', () => {
  test('it refuses to begin while another one writes the same file', async () => {
    const path = join(folder, 'calls.ndjson');
    const first = writing(path, 'one\n');
    await first.hasBegun;
    await vi.waitUntil(() => existsSync(`${path}.lock`));
    await expect(pipeline(Readable.from(['two\n']), fileSink(path, { durable: false }))).rejects.toThrow(
      /is writing .*calls.ndjson. Wait until it ends, or write to another name/,
    );
    first.end();
    await first.done;
    expect(readFileSync(path, 'utf8')).toBe('one\n');
    await pipeline(Readable.from(['two\n']), fileSink(path, { durable: false }));
    expect(readdirSync(folder)).toEqual(['calls.ndjson']);
  });

  test('it resumes the part that was left', async () => {
    const path = join(folder, 'calls.ndjson');
    await cutExport(path);
    await resume(path);
    expect(sidsOf(path)).toEqual(fakeRecords(400).map(({ sid }) => sid));
    expect(readdirSync(folder)).toEqual(['calls.ndjson']);
  });

  test.each([
    [
      'was replaced by another',
      (part: string) => writeFileSync(part, readFileSync(part, 'utf8').replaceAll('s', 't')),
      'its checksum differs',
    ],
    [
      'was shortened',
      (part: string) => truncateSync(part, 500),
      'is shorter than the interrupted run left it',
    ],
    [
      'is a copy',
      (part: string) => {
        copyFileSync(part, `${part}2`);
        renameSync(`${part}2`, part);
      },
      'is a copy',
    ],
  ])('it refuses to resume a part that %s', async (_, harm, message) => {
    const path = join(folder, 'calls.ndjson');
    await cutExport(path);
    harm(`${path}.partial`);
    await expect((async () => resume(path))()).rejects.toThrow(message);
    expect(readdirSync(folder)).not.toContain('calls.ndjson');
  });

  test('it refuses to resume from a position that another run has moved since', async () => {
    const path = join(folder, 'calls.ndjson');
    await cutExport(path);
    const late = fileSink(path, { encode: toNdjson(), durable: false, resume: true, metadata: null });
    const { seal: _, ...state } = JSON.parse(readFileSync(`${path}.checkpoint`, 'utf8'));
    writeFileSync(`${path}.checkpoint`, JSON.stringify(seal({ ...state, bytes: state.bytes - 1 })));
    await expect(createCallStream(server(), options).into(late)).rejects.toThrow(/Another run has written/);
  });
});

test('a run that lost its lock leaves the unfinished file to the next one', async () => {
  const path = join(folder, 'calls.ndjson');
  const first = writing(path, 'one\n');
  await first.hasBegun;
  await vi.waitUntil(() => existsSync(`${path}.partial`));
  rmSync(`${path}.lock`);
  const second = writing(path, 'two\n');
  await second.hasBegun;
  await vi.waitUntil(() => existsSync(`${path}.lock`));
  first.end();
  await expect(first.done).rejects.toMatchObject({ code: 'file_locked' });
  second.end();
  await second.done;
  expect(readFileSync(path, 'utf8')).toBe('two\n');
  expect(readdirSync(folder)).toEqual(['calls.ndjson']);
});
