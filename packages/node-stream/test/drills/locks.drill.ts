import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { builtFile } from '@call-attribution/test-tools/bundle';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, expect, test } from 'vitest';

const kills = rounds(16, 400);
const tally = openDrill({
  name: 'locks',
  kind: 'kills',
  what: 'Five processes take one lock again and again while they are killed with SIGKILL; it is never held by two, and the lock of a dead process is always taken over',
});
const folder = mkdtempSync(join(tmpdir(), 'lock-drill-'));
const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

test.skipIf(process.platform !== 'linux')(
  'a lock has one holder, whoever is killed when',
  { timeout: 3_600_000 },
  async () => {
    const program = await builtFile(new URL('../laws/lock-holder.ts', import.meta.url).href);
    let held = 0;

    const start = () => {
      const child = spawn(
        process.execPath,
        [program, join(folder, 'lock'), join(folder, 'guard')],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      children.add(child);
      child.once('exit', () => children.delete(child));
      child.stdout.on('data', (data: Buffer) => {
        for (const line of data.toString().trim().split('\n')) {
          held += 1;
          tally.add({ runs: 1, lied: line === 'held' ? 0 : 1 });
        }
      });
    };

    for (let i = 0; i < 5; i += 1) start();
    for (let kill = 0; kill < kills; kill += 1) {
      await delay(60 + Math.random() * 150);
      const victim = [...children][Math.floor(Math.random() * children.size)] as ChildProcess;
      victim.kill('SIGKILL');
      await once(victim, 'exit');
      tally.happened('kills');
      start();
      // Somebody gets it, however the one before ended.
      const before = held;
      const until = performance.now() + 30_000;
      while (held === before && performance.now() < until) await delay(10);
      if (held === before) tally.add({ hung: 1 });
    }

    expect(tally.counts).toMatchObject({ lost: 0, doubled: 0, hung: 0, lied: 0 });
  },
);
