import { execFileSync } from 'node:child_process';
import {
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lockFile, makeOwnFolder, writeWholeFile } from '../src/files/index.ts';
import { through } from '../src/operators/index.ts';
import { type EncodedName, fileSink } from '../src/sinks/index.ts';
import { claimOn } from './lock-text.ts';
import { Paged } from './paged.ts';

const isPosix = process.platform !== 'win32';
const isRoot = process.geteuid?.() === 0;
const nobody = 65_534;

let folder: string;
let victim: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'planted-'));
  victim = join(folder, 'victim');
  writeFileSync(victim, 'precious');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (path: EncodedName) => through([1, 2]).into(fileSink(path));

/** Leaves an unfinished file of one line with a checkpoint, as a run does that was killed. */
async function cut(path: EncodedName): Promise<void> {
  const broken = new Paged((at) => {
    if (at > 0) throw new Error('cut');
    return { items: [1] };
  });
  await expect(through(broken).into(fileSink<number>(path, { resume: true }))).rejects.toThrow(
    'cut',
  );
}

describe.runIf(isPosix)('a name that somebody else has taken', () => {
  test.each<[string, (part: string) => void]>([
    ['a link to another file', (part) => symlinkSync(victim, part)],
    ['a link to a file that is not there', (part) => symlinkSync(join(folder, 'nowhere'), part)],
    ['a second name of another file', (part) => linkSync(victim, part)],
    ['a pipe', (part) => execFileSync('mkfifo', [part])],
    [
      'a file that everybody can read and write',
      (part) => writeFileSync(part, 'bait', { mode: 0o666 }),
    ],
  ])('is no place for an unfinished file: %s', async (_, plant) => {
    const path = `${folder}/calls.ndjson` as const;
    plant(`${path}.partial`);
    const kept = lstatSync(`${path}.partial`).isFile() ? openSync(`${path}.partial`, 'r') : null;
    const bait = kept === null ? '' : readFileSync(kept, 'utf8');
    const umask = process.umask(0o077);
    try {
      await write(path);
    } finally {
      process.umask(umask);
    }

    expect(readFileSync(victim, 'utf8')).toBe('precious');
    expect(existsSync(join(folder, 'nowhere'))).toBe(false);
    expect(readFileSync(path, 'utf8')).toBe('1\n2\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    if (kept === null) return;

    // Whoever has opened what was there before reads nothing of what was written.
    expect(readSync(kept, Buffer.alloc(10), 0, 10, bait.length)).toBe(0);
    closeSync(kept);
  });

  test('a file that is written whole follows no link at the name that it had before, and has the mode of the umask', async () => {
    const path = join(folder, 'report.html');
    symlinkSync(victim, `${path}.new`);
    symlinkSync(victim, path);
    await writeWholeFile(path, 'report', { mode: 0o600 });
    expect(readFileSync(victim, 'utf8')).toBe('precious');
    expect(lstatSync(path).isFile()).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).sort()).toEqual(['report.html', 'report.html.new', 'victim']);
  });

  test('a lock that is a pipe is not waited for', async () => {
    const path = join(folder, 'state.lock');
    execFileSync('mkfifo', [claimOn(path)]);
    await expect(lockFile(path)).rejects.toThrow('not a regular file');
  });
});

test('what a killed process has left under a provisional name goes when it is an hour old', async () => {
  const path = join(folder, 'state.json');
  const old = `${path}.0123456789ab.new`;
  const young = `${path}.ba9876543210.new`;
  const other = `${path}.mine.new`;
  for (const left of [old, young, other]) writeFileSync(left, 'part');
  for (const left of [old, other]) utimesSync(left, 1_000_000, 1_000_000);
  await writeWholeFile(path, 'state');
  expect([old, young, other].map((left) => existsSync(left))).toEqual([false, true, true]);
});

describe.runIf(isPosix)(
  'an unfinished file is resumed only when it is a plain file of this user',
  () => {
    const instead = (put: (name: string) => void) => (name: string) => {
      renameSync(name, `${name}-kept`);
      put(name);
    };

    const linked = instead((name) => symlinkSync(`${name}-kept`, name));
    const piped = instead((name) => execFileSync('mkfifo', [name]));
    test.each<[string, string, (name: string) => void]>([
      ['.partial', 'is a link to another place', linked],
      ['.partial', 'has several links', (name) => linkSync(name, `${name}-kept`)],
      ['.partial', 'is not a regular file', piped],
      ['.checkpoint', 'is a link to another place', linked],
      ['.checkpoint', 'is not a regular file', piped],
      ...(isRoot
        ? (['.partial', '.checkpoint'] as const).map(
            (ending): [string, string, (name: string) => void] => [
              ending,
              'belongs to another user',
              (name) => chownSync(name, nobody, nobody),
            ],
          )
        : []),
    ])('%s that %s', async (ending, said, plant) => {
      const path = `${folder}/calls.ndjson` as const;
      await cut(path);
      plant(`${path}${ending}`);
      expect(() => fileSink(path, { resume: true })).toThrow(said);
      expect(() => fileSink(path, { resume: true })).toThrow(
        `Remove both to start over: ${path}.partial and ${path}.checkpoint.`,
      );
      expect(existsSync(path)).toBe(false);
    });
  },
);

test.runIf(isPosix)('a folder of our own is no link, and nobody else may write to it', async () => {
  expect(await makeOwnFolder(join(folder, 'new'))).toBe(null);
  expect(statSync(join(folder, 'new')).mode & 0o777).toBe(0o700);
  symlinkSync('new', join(folder, 'link'));
  expect(await makeOwnFolder(join(folder, 'link'))).toBe('is a link to another place');
  mkdirSync(join(folder, 'open'));
  execFileSync('chmod', ['1777', join(folder, 'open')]);
  expect(await makeOwnFolder(join(folder, 'open'))).toBe('is a folder that others may write to');
  symlinkSync('gone', join(folder, 'lost'));
  for (const above of [join(folder, 'lost'), '/proc/nope'])
    await expect(makeOwnFolder(`${above}/new`)).rejects.toThrow(/^E[A-Z]+: /);
  if (!isRoot) return;
  chownSync(join(folder, 'new'), nobody, nobody);
  expect(await makeOwnFolder(join(folder, 'new'))).toBe('belongs to another user');
});
