import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { seal } from '../src/checkpoint.ts';
import { toNdjson } from '../src/encoders/index.ts';
import { lockFile } from '../src/files/index.ts';
import { mapCalls, through } from '../src/operators/index.ts';
import { fileSink } from '../src/sinks/index.ts';
import { claimOn, lockText } from './lock-text.ts';
import { pagesOf } from './paged.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'locks-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const isEnded = (pid: number): boolean => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

const removeLock = (path: string): void => {
  for (const name of readdirSync(folder))
    if (join(folder, name).startsWith(`${path}.`)) rmSync(join(folder, name));
};
const isLocked = (path: string): boolean =>
  readdirSync(folder).some((name) => join(folder, name).startsWith(`${path}.lock`));

const settled = async <T>(work: readonly Promise<T>[]) => {
  const done = await Promise.allSettled(work);
  return done.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
};

describe('a lock', () => {
  test('it goes to one run at most when many find the lock of a dead one', async () => {
    const path = join(folder, 'lock');
    let taken = 0;
    for (let round = 0; round < 20; round += 1) {
      writeFileSync(claimOn(path), lockText());
      const holders = await settled(Array.from({ length: 6 }, () => lockFile(path)));
      expect(holders.length).toBeLessThanOrEqual(1);
      taken += holders.length;
      for (const unlock of holders) await unlock();
      expect(readdirSync(folder)).toEqual([]);
    }

    expect(taken).toBeGreaterThan(0);
  });

  const elsewhere = (time: Date) => {
    const path = join(folder, 'lock');

    // Process 1 of another container, whose process ids say nothing here; the host name may even be
    // the same.
    writeFileSync(
      claimOn(path),
      JSON.stringify({
        token: 'x',
        host: hostname(),
        pid: 1,
        machine: 'other pid:[1]',
        began: '7',
      }),
    );
    utimesSync(claimOn(path), time, time);
    return path;
  };

  test('it is respected in another container as long as it gives signs of life', async () => {
    const path = elsewhere(new Date());
    await expect(lockFile(path)).rejects.toMatchObject({
      code: 'file_locked',
      owner: 1,
      host: hostname(),
    });
  });

  test('it is taken over from another container that gave no sign of life for a minute', async () => {
    const path = elsewhere(new Date(Date.now() - 61_000));
    const unlock = await lockFile(path);
    await unlock.check();
    await unlock();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('its owner gives signs of life', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const unlock = await lockFile(join(folder, 'lock'));
      const claim = join(folder, readdirSync(folder)[0] ?? '');
      const old = new Date(Date.now() - 3600_000);
      utimesSync(claim, old, old);
      vi.advanceTimersByTime(10_000);
      await vi.waitUntil(() => Date.now() - statSync(claim).mtimeMs < 60_000);
      await unlock();
    } finally {
      vi.useRealTimers();
    }
  });

  test('it is taken over from a process that has ended but that its parent has not noticed', async () => {
    const lock = join(folder, 'lock');
    const path = claimOn(lock);
    const script = `printf '{"token":"x","host":"h","pid":%s,"machine":"%s %s","began":"%s"}' $$ "$(cat /proc/sys/kernel/random/boot_id)" "$(readlink /proc/self/ns/pid)" "$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20)" >${path}`;

    // The shell becomes a program that never waits for its child.
    const parent = spawn('sh', [
      '-c',
      `sh -c '${script.replaceAll("'", `'"'"'`)}' & exec sleep 60`,
    ]);
    try {
      while (
        !existsSync(path) ||
        !isEnded(JSON.parse(readFileSync(path, 'utf8') || '{"pid":1}').pid)
      )
        await new Promise((resolve) => setTimeout(resolve, 10));
      const unlock = await lockFile(lock);
      await unlock();
    } finally {
      parent.kill('SIGKILL');
    }
  });

  test('it is taken over once when it cannot be read and nobody has written it for a minute', async () => {
    const path = join(folder, 'lock');
    writeFileSync(claimOn(path), '');
    await expect(lockFile(path)).rejects.toMatchObject({ owner: null });
    const old = new Date(Date.now() - 61_000);
    utimesSync(claimOn(path), old, old);
    const unlock = await lockFile(path);
    await expect(lockFile(path)).rejects.toMatchObject({ owner: process.pid });
    await unlock();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('it tells an owner that lost it, and leaves the lock of the next one', async () => {
    const path = join(folder, 'lock');
    const unlock = await lockFile(path);
    removeLock(path);
    const next = await lockFile(path);
    await expect(unlock.check()).rejects.toMatchObject({ code: 'file_locked', owner: null });
    await unlock();
    await next.check();
    await next();
  });
});

const list = Array.from({ length: 400 }, (_, i) => ({ sid: `s${i}` }));

/** An export that stops after some pages, as if the process had died, but lets go of its lock. */
async function cutExport(path: string): Promise<void> {
  const cut = mapCalls((item: (typeof list)[number]) => {
    if (item.sid === 's200') throw new Error('power cut');
    return item;
  });
  const sink = fileSink<object>(path, { encode: toNdjson() });
  await expect(through(pagesOf(list, 40), cut).into(sink)).rejects.toThrow('power cut');
}

async function resume(path: string): Promise<void> {
  const same = mapCalls((item: (typeof list)[number]) => item);
  await through(pagesOf(list, 40), same).into(
    fileSink<object>(path, { encode: toNdjson(), resume: true }),
  );
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

  const done = fileSink<string>(path, { encode: [] })(source());
  done.catch(() => {});
  return { hasBegun, done, end: () => end() };
}

describe('an export into a file', () => {
  test('it refuses to begin while another one writes the same file', async () => {
    const path = join(folder, 'calls.ndjson');
    const first = writing(path, 'one\n');
    await first.hasBegun;
    await vi.waitUntil(() => isLocked(path));
    await expect(
      pipeline(Readable.from(['two\n']), fileSink<string>(path, { encode: [] })),
    ).rejects.toThrow(/holds the lock .*calls.ndjson.* Wait until it ends/);
    first.end();
    await first.done;
    expect(readFileSync(path, 'utf8')).toBe('one\n');
    await pipeline(Readable.from(['two\n']), fileSink<string>(path, { encode: [] }));
    expect(readdirSync(folder)).toEqual(['calls.ndjson']);
  });

  test('it begins again at once when a pipeline has failed', async () => {
    const path = join(folder, 'calls.ndjson');

    const failing = async function* () {
      yield 'one\n';
      await vi.waitUntil(() => isLocked(path));
      const old = new Date(Date.now() - 5000);
      for (const name of readdirSync(folder)) utimesSync(join(folder, name), old, old);
      throw new Error('it broke');
    };

    await expect(
      pipeline(Readable.from(failing()), fileSink<string>(path, { encode: [] })),
    ).rejects.toThrow('it broke');
    await pipeline(Readable.from(['two\n']), fileSink<string>(path, { encode: [] }));
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
    const late = fileSink<object>(path, { encode: toNdjson(), resume: true });
    const { seal: _, ...state } = JSON.parse(readFileSync(`${path}.checkpoint`, 'utf8'));
    writeFileSync(`${path}.checkpoint`, JSON.stringify(seal({ ...state, bytes: state.bytes - 1 })));
    await expect(through(pagesOf(list, 40)).into(late)).rejects.toThrow(/Another run has written/);
  });
});

test('a run that lost its lock leaves the unfinished file to the next one', async () => {
  const path = join(folder, 'calls.ndjson');
  const first = writing(path, 'one\n');
  await first.hasBegun;
  await vi.waitUntil(() => existsSync(`${path}.partial`));
  removeLock(`${path}.lock`);
  const second = writing(path, 'two\n');
  await second.hasBegun;
  await vi.waitUntil(() => isLocked(path));
  first.end();
  await expect(first.done).rejects.toMatchObject({ code: 'file_locked' });
  second.end();
  await second.done;
  expect(readFileSync(path, 'utf8')).toBe('two\n');
  expect(readdirSync(folder)).toEqual(['calls.ndjson']);
});
