import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@call-attribution/sqlite';
import { builtFile } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, expect, test } from 'vitest';
import { openStore, querySql } from '../../src/index.ts';
import { openAt, smallCall } from '../small-calls.ts';

const tally = openDrill({
  name: 'many-processes',
  kind: 'whole programs',
  what: 'Several processes open one file, commit, copy its log and close it, while others read and one is stopped now and then; every committed call is there as it was committed last, and the log does not grow without end',
});

const folder = mkdtempSync(join(tmpdir(), 'store-many-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('writers and readers that come and go lose no commit', async () => {
  const program = await builtFile(new URL('../fixtures/busy-writer.ts', import.meta.url).href);
  const file = join(folder, 'calls.db');
  const url = `sqlite:${file}`;
  await (await openAt(url)).close();
  const committed = new Map<string, string>();
  let commits = 0;
  let running = 0;

  const write = (name: string) =>
    tally.run(async () => {
      running += 1;
      const args = [program, url, name, String(rounds(12, 200))];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = new Promise((resolve) => child.once('exit', resolve));
      for await (const line of createInterface({ input: child.stdout })) {
        const [first, count, value] = JSON.parse(line) as [number, number, string];
        expect(line).not.toContain('lost');
        for (let i = 0; i < count; i += 1) committed.set(`${name}-${first + i}`, value);
        commits += 1;

        // Stopped wherever it is, so that others overtake it.
        if (commits % 7 === 0) {
          child.kill('SIGSTOP');
          tally.happened('stops');
          setTimeout(() => child.kill('SIGCONT'), 20 * (commits % 5));
        }
      }
      running -= 1;
      expect(await ended).toBe(0);
    }, 1_200_000);

  const read = async () => {
    while (running > 0) {
      const store = await openStore(url, { readOnly: commits % 2 === 0 });
      const count = await store.count('101');
      let read = 0;
      for await (const { length } of store.columns('101', ['sid'])) read += length;
      expect(read).toBeGreaterThanOrEqual(count);
      await store.close();
      tally.happened('reads');
      await sleep(50);
    }
  };

  await Promise.all([...['a', 'b', 'c', 'd'].map(write), read(), read()]);
  tally.happened('commits', commits);

  const database = new DatabaseSync(file);
  expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  database.close();
  await using store = await openStore(url);
  const found = new Map<string, string>();
  for await (const { sid, talk_minutes } of store.calls('101'))
    found.set(sid, String(talk_minutes));
  tally.compare(committed.keys(), [...found.keys()]);
  expect(found).toEqual(committed);
});

test('the log of a long sync stays as small as 64 MiB, also while somebody reads', async () => {
  const file = join(folder, 'long.db');
  const store = await openAt(`sqlite:${file}`);
  const claim = await store.claim('101', 'a long sync');
  let largest = 0;
  let written = 0;
  for (let page = 0; page < rounds(150, 600); page += 1)
    await tally.run(async () => {
      const calls = Array.from({ length: 500 }, (_, i) =>
        smallCall(
          `${(page * 7_919 + i * 104_729) % 1_000_003}`,
          '2026-01-01 00:00:00',
          '1.0',
          false,
          {
            city: 'x'.repeat(400),
          },
        ),
      );
      await store.commitClaimed(claim, { calls, note: { page } });
      written += calls.length;

      // A short read now and then, and one that stays open for some pages.
      if (page % 10 === 0) await store.count('101');
      if (page % 40 === 0)
        for await (const { length } of store.columns('101', ['sid']))
          expect(length).toBeGreaterThan(0);
      if (page % 50 === 0)
        for await (const row of await querySql(`sqlite:${file}`, 'select count(*) as n from calls'))
          expect(row).toEqual({ n: written });
      largest = Math.max(largest, statSync(`${file}-wal`).size);
    });

  tally.happened('MiB in the file', Math.round(statSync(file).size / 2 ** 20));
  tally.happened('MiB in the largest log', Math.round(largest / 2 ** 20));
  expect(statSync(file).size).toBeGreaterThan(2 ** 26);
  expect(largest).toBeLessThan(2 ** 26);
  await store.close();
  expect(readdirSync(folder).filter((name) => name.startsWith('long.db'))).toEqual(['long.db']);
});
