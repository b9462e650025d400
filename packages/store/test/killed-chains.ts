import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { builtFile } from '@call-attribution/test-tools';
import type { Tally } from '@call-attribution/test-tools/drill';
import { expect } from 'vitest';

const writer = await builtFile(new URL('./fixtures/chain-writer.ts', import.meta.url).href);

/** One way to read through a chain into a sink; `newUrl` makes an empty database. */
export interface ChainCase {
  readonly chain: string;
  readonly sink: string;
  newUrl(): Promise<string>;
}

/** What the process has written when it came to its end, after it was killed so often. */
async function outputAfter(
  { chain, sink, newUrl }: ChainCase,
  kills: { landed: number; readonly most: number },
  tally: Tally,
): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'killed-chain-'));
  const url = await newUrl();
  try {
    for (;;) {
      const child = spawn(process.execPath, [writer, chain, sink, folder, url], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(child, 'exit');
      if (kills.landed < kills.most) {
        await Promise.race([once(child.stdout, 'data'), ended]);
        await Promise.race([delay(5 + ((kills.landed * 37) % 330)), ended]);
        child.kill('SIGKILL');
      }
      const [code, signal] = await ended;
      if (signal !== 'SIGKILL') {
        expect(code).toBe(0);
        return readFileSync(join(folder, 'out'));
      }
      kills.landed += 1;
      tally.happened('kills');
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Kills a process that reads through a chain again and again: in the end it has written what one
 * has that nobody killed.
 */
export async function killChains(of: ChainCase, most: number, tally: Tally): Promise<void> {
  const whole = await outputAfter(of, { landed: 0, most: 0 }, tally);
  expect(whole.length).toBeGreaterThan(0);
  const kills = { landed: 0, most };
  while (kills.landed < most)
    await tally.run(async () => {
      // A few kills a read, so that it also comes to its end between them.
      const some = { landed: kills.landed, most: Math.min(most, kills.landed + 4) };
      const found = await outputAfter(of, some, tally);
      kills.landed = Math.max(some.landed, kills.landed + 1);
      if (Buffer.compare(found, whole) === 0) return;
      tally.add({ lost: 1 });
      throw new Error(`${of.chain} into ${of.sink}: the output is not that of a run nobody killed`);
    });
}
