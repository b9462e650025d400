import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from '@call-attribution/sqlite';
import { builtFile } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { describe, expect, test } from 'vitest';
import { nodeBinaries } from '../../../../scripts/nodes.mjs';

// https://sqlite.org/wal.html#walresetbug: one process closes a store, and is held after it has
// read what the log holds and before it reads how much of that is in the database. Another process
// commits meanwhile, and the log begins anew.

/** gdb stops a process in a function of SQLite; the Node.js of these releases has its name. */
const newer = '24.21.0';
const older = '22.20.0';

const hasGdb = spawnSync('gdb', ['--version']).status === 0;

const source = new URL('../fixtures/told-writer.ts', import.meta.url).href;

/** The same sources, but with the SQLite of a release that has the mistake. */
const anySqlite = {
  name: 'any-sqlite',
  setup({
    onLoad,
  }: {
    onLoad: (filter: object, load: (file: { path: string }) => object) => void;
  }) {
    onLoad({ filter: /database\/sqlite-driver\.ts$/ }, ({ path }) => ({
      loader: 'ts',
      contents: readFileSync(path, 'utf8')
        .replace('[3, 51, 3]', '[3, 0, 0]')
        .replace('[24, 15]', '[22, 0]'),
    }));
  },
};

/** A process that does what it is told. */
async function start(node: string, program: string, url: string) {
  const child: ChildProcess = spawn(node, ['--no-warnings', program, url], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });

  // One whose database is damaged ends.
  child.stdin?.on('error', () => undefined);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[
    Symbol.asyncIterator
  ]();
  const next = async () => String((await lines.next()).value);
  const send = (line: string) => void child.stdin?.write(`${line}\n`);
  const tell = (line: string) => {
    send(line);
    return next();
  };
  await next();
  return { pid: child.pid, tell, send, next, kill: () => child.kill('SIGKILL') };
}

/**
 * Holds a process when it begins to copy the log. Returns when that is prepared; `held` resolves
 * when it is held, `release` lets it go on.
 */
async function holdAtCheckpoint(pid: number | undefined, folder: string) {
  const [isHeld, mayGo] = ['held', 'go'].map((name) => join(folder, name)) as [string, string];
  const wait = `shell touch ${isHeld}; while [ ! -e ${mayGo} ]; do sleep 0.02; done`;
  const steps = ['break walCheckpoint', 'echo prepared\\n', 'continue', wait, 'delete', 'detach'];
  const args = steps.flatMap((step) => ['-ex', step]);
  const gdb = spawn('gdb', ['-p', String(pid), '-batch', '-nx', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => gdb.once('exit', resolve));
  let said = '';
  gdb.stdout.on('data', (data) => (said += data));
  await expect.poll(() => said).toContain('prepared');
  return {
    held: () => expect.poll(() => existsSync(isHeld)).toBe(true),
    async release() {
      writeFileSync(mayGo, '');
      await ended;
    },
  };
}

/** Frames of the log after which SQLite copies it. */
const copiedAfter = 1_000;
const frameBytes = 16_384 + 24;
const framesIn = (file: string): number =>
  Math.floor((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) / frameBytes);

interface Result {
  /** What the file says of itself. */
  readonly state: string;
  readonly talk: ReadonlyMap<string, string>;
}

/** What is in the file, read by a SQLite without the mistake. */
function readFile(file: string): Result {
  const database = new DatabaseSync(file);
  try {
    const [{ integrity_check: state }] = database.prepare('PRAGMA integrity_check(1)').all() as [
      { integrity_check: string },
    ];
    const rows = database.prepare('SELECT sid, talk_minutes FROM records').all() as {
      sid: string;
      talk_minutes: number;
    }[];
    return {
      state,
      talk: new Map(rows.map(({ sid, talk_minutes }) => [sid, (talk_minutes / 10).toFixed(1)])),
    };
  } catch (error) {
    return { state: String((error as Error).message), talk: new Map() };
  } finally {
    database.close();
  }
}

/** The forced order, once. Returns what was committed, and what is there. */
async function forced(node: string, program: string, isNew: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'store-wal-reset-'));
  const started: Awaited<ReturnType<typeof start>>[] = [];
  try {
    const file = join(folder, 'calls.db');
    const committed = new Map<string, string>();
    const put = (first: number, count: number, talk: string) => {
      for (let i = first; i < first + count; i += 1) committed.set(`c${i}`, talk);
      return `${first} ${count} ${talk}`;
    };

    // The log is full, and all of it is in the database: the last commit has copied it.
    const writer = await start(node, program, `sqlite:${file}`);
    started.push(writer);
    let count = 0;
    for (; framesIn(file) < copiedAfter; count += 1_000)
      await writer.tell(`put ${put(count, 1_000, '1.0')}`);
    const closer = await start(node, program, `sqlite:${file}`);
    started.push(closer);
    await closer.tell('count');
    const gdb = await holdAtCheckpoint(closer.pid, folder);
    const at = isNew ? count : 0;
    await writer.tell(`begin ${put(at, isNew ? 500 : 1_500, '2.0')}`);
    closer.send('close');
    await gdb.held();
    await writer.tell('end');
    await gdb.release();
    expect(await closer.next()).toBe('count');
    expect(await closer.next()).toBe('closed');
    for (let i = 1; i <= 6; i += 1) await writer.tell(`put ${put(at + i * 60, 60, `${i}.5`)}`);
    await writer.tell('close');
    return { committed, found: readFile(file) };
  } finally {
    for (const { kill } of started) kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

const lost = ({ committed, found }: Awaited<ReturnType<typeof forced>>) =>
  [...committed].filter(([sid, talk]) => found.talk.get(sid) !== talk).length;

describe.skipIf(!hasGdb || process.platform !== 'linux')('the order that loses commits', () => {
  const tally = openDrill({
    name: 'wal-reset',
    kind: 'stops',
    what: 'A process that closes a store is held while it copies the log, and another one commits; every committed call is there. A SQLite that has the mistake loses calls in the same order',
  });
  const [safe, unsafe] = nodeBinaries([newer, older]).map(({ path }) => path) as [string, string];

  test('loses none of ours', async () => {
    const program = await builtFile(source);
    for (let round = 0; round < rounds(4, 20); round += 1)
      await tally.run(async () => {
        const result = await forced(safe, program, round % 2 === 0);
        tally.happened('processes held');
        tally.add({ lost: lost(result) });
        expect(result.found.state).toBe('ok');
        expect(result.found.talk).toEqual(result.committed);
      });
  });

  test.each(['new', 'changed'])('loses %s calls of an older SQLite', async (which) => {
    const program = await builtFile(source, [anySqlite as never]);
    const result = await forced(unsafe, program, which === 'new');
    expect(lost(result)).toBeGreaterThan(0);
  });
});
