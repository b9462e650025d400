import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { builtFile } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { expect, test } from 'vitest';
import { openLedger } from '../../src/index.ts';
import { callsAt, timeOf, truth } from '../fixtures/world.ts';
import { readSheet } from '../read-sheet.ts';

const kills = rounds(24, 600);
const tally = openDrill({
  name: 'upload-ledger',
  kind: 'kills',
  what: 'An export with a ledger is killed at random moments while calls change; the tool gets each conversion and adjustment once',
});
const patience = 30_000;

/**
 * What the tool knows after the uploads, and how often a conversion was added that it had already.
 */
function createTool() {
  const known = new Map<string, number>();
  let doubled = 0;
  return {
    known,
    doubled: () => doubled,
    upload(text: string, isAdjustment: boolean) {
      for (const cells of readSheet(text, ',').slice(2)) {
        const [click = '', , time = '', fourth = '', kind, value] = cells;
        const key = `${click} ${time.slice(0, 19)}`;
        if (!isAdjustment) {
          if (known.has(key)) doubled += 1;
          known.set(key, Number(fourth));
        } else if (kind === 'RETRACT') known.delete(key);
        else known.set(key, Number(value));
      }
    },
  };
}

test('kill -9 at any moment uploads each conversion and each adjustment once', async () => {
  const program = await builtFile(new URL('../fixtures/upload.ts', import.meta.url).href);
  const folder = mkdtempSync(join(tmpdir(), 'ledger-drill-'));
  const tool = createTool();
  let interrupted = 0;

  const run = async (step: number, killAfter: number | null) => {
    const child = spawn(process.execPath, [program, folder, String(step)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    child.stdout.resume();
    if (killAfter !== null) {
      // Some kills hit the opening, most the writing: the program says when it begins with either.
      for (let line = ''; !line.includes(step % 5 === 0 ? 'open' : 'ready'); ) {
        const next = await Promise.race([once(child.stdout, 'data'), ended.then(() => null)]);
        if (next === null) break;
        line += String(next[0]);
      }
      await delay(killAfter);
      child.kill('SIGKILL');
    }

    const result = await Promise.race([ended, delay(patience).then(() => null)]);
    tally.add({ runs: 1 });
    if (result === null) {
      tally.add({ hung: 1 });
      child.kill('SIGKILL');
      await ended;
    }

    return child.exitCode;
  };

  // Somebody uploads what is there and removes it, whatever became of the run.
  const collect = () => {
    for (const [name, isAdjustment] of [
      ['clicks.csv', false],
      ['clicks.adjustments.csv', true],
    ] as const) {
      const path = join(folder, name);
      if (!existsSync(path)) continue;
      tool.upload(readFileSync(path, 'utf8'), isAdjustment);
      rmSync(path);
    }
  };

  let step = 1;
  for (; step <= kills; step += 1) {
    const code = await run(step, Math.random() * 40);
    if (code === null) {
      interrupted += 1;
      tally.happened('kills');
    }
    const ledgerText = existsSync(join(folder, 'uploads.ledger'))
      ? readFileSync(join(folder, 'uploads.ledger'), 'utf8')
      : '';
    if (/"type":"announced"[^\n]*\n$/.test(ledgerText)) tally.happened('while it wrote');
    if (/"type":"prepared"[^\n]*\n$/.test(ledgerText)) tally.happened('between sheet and ledger');
    collect();
  }

  for (const _ of [1, 2]) {
    expect(await run(step, null)).toBe(0);
    collect();
  }

  let lost = 0;
  for (let i = 0; i < callsAt(step); i += 1) {
    const right = truth(i, step);
    if (right && tool.known.get(`${right.click} ${timeOf(i)}`) !== right.value) lost += 1;
  }

  const expected = Array.from({ length: callsAt(step) }, (_, i) => truth(i, step)).filter(
    Boolean,
  ).length;
  const ledger = await openLedger(join(folder, 'uploads.ledger'));

  // What the ledger says was delivered, the tool knows, and with the same value.
  let lied = tool.known.size - expected;
  for (const { action, click, at, value } of ledger.delivered('ads').values()) {
    const key = `${click?.id} ${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}`;
    if (action !== 'retract' && tool.known.get(key) !== value) lied += 1;
  }

  await ledger.close();
  const leftFiles = readdirSync(folder).filter((name) => name.includes('.prepared'));
  rmSync(folder, { recursive: true, force: true });
  tally.add({ lost, lied, doubled: tool.doubled() });
  expect(leftFiles, 'numbers of callers that a killed run has left').toEqual([]);
  expect({ lost, lied, doubled: tool.doubled(), hung: tally.counts.hung }).toEqual({
    lost: 0,
    lied: 0,
    doubled: 0,
    hung: 0,
  });
  expect(interrupted).toBeGreaterThan(kills / 4);
}, 3_600_000);
