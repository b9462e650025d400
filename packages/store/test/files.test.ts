import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { sqliteFile } from '@call-attribution/sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../src/index.ts';
import { openAt, smallCall } from './small-calls.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'store-files-'));
  file = join(folder, 'calls.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const some = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) =>
    smallCall(`c${from + at}`, '2026-01-01 00:00:00', '1.0'),
  );

async function filled(count: number) {
  const store = await openAt(`sqlite:${file}`);
  await store.upsert('101', some(count));
  return store;
}

/** Runs SQL in the file, in a process that ends with it. */
function inOtherProcess(sql: string): void {
  const program = `const { DatabaseSync } = require(process.argv[1]);
    const database = new DatabaseSync(process.argv[2]);
    database.exec(process.argv[3]);
    database.close();`;
  execFileSync(process.execPath, ['-e', program, sqliteFile(), file, sql]);
}

/** Descriptors of this process on files in the folder. */
function descriptors(): string[] {
  const all = '/proc/self/fd';

  const linkOf = (name: string): string => {
    try {
      return readlinkSync(join(all, name));
    } catch {
      // It was that of the listing.
      return '';
    }
  };

  return existsSync(all)
    ? readdirSync(all)
        .map(linkOf)
        .filter((link) => link.startsWith(folder))
    : [];
}

describe('open files', () => {
  test('100 opens and closes of one file need few descriptors, and nothing of V8 is switched on', async () => {
    let most = 0;
    for (let i = 0; i < 100; i += 1) {
      const store = await openStore(`sqlite:${file}`);
      if (i === 0) await store.putAccount({ id: '101', name: 'One' });
      expect((await store.accounts()).length).toBe(1);
      most = Math.max(most, descriptors().length);
      await store.close();
    }

    expect(most).toBeLessThan(64);
    expect(descriptors()).toEqual([]);
    expect(runInNewContext('typeof gc')).toBe('undefined');
  });

  test('stores of one file work side by side, by whatever name, and each closes its own', async () => {
    const first = await filled(10);
    const others = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        openStore(i % 2 ? `sqlite:${file}` : `sqlite:${join(folder, '.', 'calls.db')}`),
      ),
    );
    await Promise.all(others.map((store, i) => store.upsert('101', some(5, 100 + 5 * i))));
    expect(await first.count('101')).toBe(110);
    await first.close();
    await expect(first.count('101')).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    for (const store of others) expect(await store.count('101')).toBe(110);
    await Promise.all(others.map((store) => store.close()));
    expect(descriptors()).toEqual([]);
  });

  test('opening and closing at the same moment loses nothing', async () => {
    await (await filled(0)).close();
    await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        for (let turn = 0; turn < 5; turn += 1) {
          const store = await openStore(`sqlite:${file}`);
          await store.upsert('101', some(1, 1_000 * i + turn));
          await store.close();
        }
      }),
    );
    await using store = await openStore(`sqlite:${file}`);
    expect(await store.count('101')).toBe(200);
  });

  test('a closed store is one file, which can be copied', async () => {
    const store = await filled(1_000);
    await store.close();
    expect(readdirSync(folder)).toEqual(['calls.db']);
    copyFileSync(file, join(folder, 'copy.db'));
    const copy = await openStore(`sqlite:${join(folder, 'copy.db')}`);
    expect(await copy.count('101')).toBe(1_000);
    await copy.close();
  });
});

// An open file cannot be removed on Windows.
describe.skipIf(process.platform === 'win32')('a file that does not stay as it was', () => {
  const otherFile = async (): Promise<string> => {
    const other = join(folder, 'other.db');
    const store = await openStore(`sqlite:${other}`);
    await store.putAccount({ id: '101', name: 'Other' });
    await store.close();
    return other;
  };

  test.each([
    ['removed', async () => rmSync(file)],
    ['moved', async () => renameSync(file, join(folder, 'moved.db'))],
    ['replaced', async () => renameSync(await otherFile(), file)],
  ])('reads and writes find out that it was %s', async (_, change) => {
    const store = await filled(500);

    // What is in the file, and not only in the log.
    await store.close();
    const again = await openStore(`sqlite:${file}`);
    expect(await again.count('101')).toBe(500);
    await change();
    const failure = { code: 'store_damaged', message: expect.stringContaining(file) };
    await expect(again.upsert('101', some(5, 900))).rejects.toMatchObject(failure);
    await expect(again.count('101')).rejects.toMatchObject(failure);
    await again.close();
    expect(existsSync(join(folder, 'other.db'))).toBe(false);
  });

  test('a new file under the name is opened once nobody has the old one', async () => {
    const old = await filled(10);
    renameSync(await otherFile(), file);
    await expect(old.accounts()).rejects.toMatchObject({ code: 'store_damaged' });
    await old.close();
    const store = await openStore(`sqlite:${file}`);
    expect(await store.accounts()).toMatchObject([{ name: 'Other' }]);
    await store.upsert('101', some(3));
    await store.close();
    const last = await openStore(`sqlite:${file}`);
    expect(await last.count('101')).toBe(3);
    await last.close();
  });

  test('a file that was cut while it was closed is found when it is opened', async () => {
    await (await filled(500)).close();
    truncateSync(file, statSync(file).size / 2);
    await expect(openStore(`sqlite:${file}`)).rejects.toMatchObject({ code: 'store_damaged' });
  });

  test('a file that another process made smaller keeps its log while it is open, and others find it there', async () => {
    await (await filled(500)).close();
    const store = await openStore(`sqlite:${file}`);
    expect(await store.count('101')).toBe(500);

    // As after an erasure.
    inOtherProcess('DELETE FROM records; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
    expect(await store.accounts()).toMatchObject([{ name: 'One' }]);
    inOtherProcess("UPDATE accounts SET name = 'Other'");
    expect(existsSync(`${file}-wal`)).toBe(true);
    expect(await store.accounts()).toMatchObject([{ name: 'Other' }]);
    await store.putAccount({ id: '101', name: 'Own' });
    await store.close();
    expect(readdirSync(folder)).toEqual(['calls.db']);
  });

  test('after an erasure and a sync of others, whoever had the file open goes on', async () => {
    const caller = '3125550199';
    const many = some(3_000).map((call, i) => (i % 2 === 0 ? { ...call, ani: caller } : call));
    const first = await filled(0);
    await first.upsert('101', many);
    await first.close();
    const open = await Promise.all(Array.from({ length: 3 }, () => openStore(`sqlite:${file}`)));
    for (const store of open) expect(await store.count('101')).toBe(3_000);
    const [eraser, reader, writer] = open;
    const before = statSync(file).size;
    const erased = await eraser?.erase('101', [caller]);
    expect(erased).toMatchObject({ deleted: [1_500], remains: [] });
    const after = statSync(file).size;
    expect(after).toBeLessThan(before);

    // What is added lies in the log alone, and the database is larger than its file.
    await eraser?.upsert('101', some(1_000, 10_000));
    expect(statSync(file).size).toBe(after);
    expect(await reader?.count('101')).toBe(2_500);
    expect(await writer?.upsert('101', some(500, 20_000))).toMatchObject({ added: 500 });
    inOtherProcess("UPDATE accounts SET name = 'Other'");
    expect(await reader?.accounts()).toMatchObject([{ name: 'Other' }]);
    await Promise.all(open.map((store) => store.close()));
    expect(readdirSync(folder)).toEqual(['calls.db']);
  });

  test('a file that others make larger is the same', async () => {
    await using store = await filled(10);
    appendFileSync(file, Buffer.alloc(8192));
    expect(await store.upsert('101', some(5, 900))).toMatchObject({ added: 5 });
  });
});

describe.runIf(process.platform !== 'win32')(
  'what somebody has put next to a database file',
  () => {
    const user = process.geteuid?.() === 0 ? ['a file of another user'] : [];
    test.each(
      ['-wal', '-shm', '-journal'].flatMap((ending) =>
        ['a link', ...user].map((what) => [ending, what]),
      ),
    )('%s is %s: nothing is opened', async (ending, what) => {
      await (await filled(1)).close();
      const victim = join(folder, 'victim');
      writeFileSync(victim, 'precious');
      if (what === 'a link') symlinkSync(victim, `${file}${ending}`);
      else {
        writeFileSync(`${file}${ending}`, '');
        chownSync(`${file}${ending}`, 65_534, 65_534);
      }

      const said = what === 'a link' ? 'is a link to another place' : 'belongs to another user';
      await expect(openStore(`sqlite:${file}`)).rejects.toMatchObject({
        code: 'store_url',
        message: `${file}${ending} ${said}, and SQLite would use it. Remove it, or put the database into a folder of your own.`,
      });
      expect(readFileSync(victim, 'utf8')).toBe('precious');
      rmSync(`${file}${ending}`);
      await (await openStore(`sqlite:${file}`)).close();
    });
  },
);
