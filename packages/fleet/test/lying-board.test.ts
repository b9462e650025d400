import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BoardMemory, memoryBoard } from '../src/index.ts';
import { type Lies, lyingBoard, numbers } from './lying-board.ts';
import { everyRecordOnce, placeInFolder, placeInMemory, placeInStore, schedules } from './lying-law.ts';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lying-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

// The long version, with hundreds of schedules, is drills/lying-board.long.drill.ts.
describe('whatever the board says and whoever dies, the target has every record once', () => {
  it('in memory', async () => {
    await fc.assert(
      fc.asyncProperty(
        schedules,
        async (schedule) => void (await everyRecordOnce(placeInMemory(), schedule)),
      ),
      { numRuns: 2 },
    );
  });

  it('in a folder', async () => {
    const schedule = { seed: 7, lies: 0.5, deaths: [40, null, 25], stalls: 0.02, isEmptied: false };
    await everyRecordOnce(placeInFolder(await newFolder()), schedule);
  });

  it('in a store', async () => {
    const schedule = { seed: 8, lies: 1, deaths: [null, 30, 12], stalls: 0.02, isEmptied: true };
    await everyRecordOnce(placeInStore(`sqlite:${join(await newFolder(), 'calls.db')}`), schedule);
  });
});

describe('the board of these tests', () => {
  it('lies in every way', async () => {
    const lies: Lies = { rate: 1, random: numbers(1), told: {} };
    const memory = new BoardMemory();
    const boards = [lyingBoard(memory, lies), lyingBoard(memory, lies)];
    for (let i = 0; i < 400; i += 1)
      for (const board of boards) {
        const key = i % 5 === 0 ? 'worker.w' : 'lane.101.0';
        const revision = board.get(key)?.revision ?? memoryBoard(memory).get(key)?.revision ?? 0;
        await board.write(key, { i }, revision).catch(() => {});
        void board.contactSince;
      }
    expect(Object.keys(lies.told).sort()).toEqual([
      'lost',
      'lost although won',
      'no answer',
      'no beat',
      'no contact',
      'not written',
      'old',
      'refused',
      'two win',
    ]);
  });
});
