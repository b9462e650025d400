import { fixtureCalls } from '@call-attribution/core/testing';
import { expect, test } from 'vitest';
import {
  BoardMemory,
  cancelJob,
  type JobValue,
  memoryBoard,
  pauseJob,
  resumeJob,
  retryAside,
} from '../src/index.ts';
import { openScene } from './account-scene.ts';

test('a job is paused, goes on and is cancelled for good, and each order says what it did', async () => {
  await using scene = await openScene({ calls: [] });
  const { board } = scene;
  const job = () => board.get('job')?.value as unknown as JobValue;
  expect(await pauseJob(board)).toEqual({ before: 'running', state: 'paused' });
  expect(job().now).toBe(false);
  expect(await pauseJob(board, { now: true })).toEqual({ before: 'paused', state: 'paused' });
  expect(job().now).toBe(true);
  expect(await resumeJob(board)).toEqual({ before: 'paused', state: 'running' });
  expect(await resumeJob(board)).toEqual({ before: 'running', state: 'running' });
  expect(await cancelJob(board)).toEqual({ before: 'running', state: 'cancelled' });
  expect(await resumeJob(board)).toEqual({ before: 'cancelled', state: 'cancelled' });
  expect(job()).toMatchObject({ state: 'cancelled', now: false, job: { name: 'history' } });
  expect(() => pauseJob(board, { noww: true } as never)).toThrow(/now/);
});

test('orders to a board without the job are refused', async () => {
  const board = memoryBoard(new BoardMemory());
  await expect(async () => pauseJob(board)).rejects.toMatchObject({ code: 'unknown_job' });
});

test('an order that loses against another write is given again', async () => {
  await using scene = await openScene({ calls: [] });
  const { board } = scene;
  let losses = 2;
  const busy = {
    ...board,
    get: board.get,
    write: async (key: string, value: never, revision: number) => {
      if (losses-- > 0) await board.write(key, { ...(board.get(key)?.value as object) } as never, revision);
      return board.write(key, value, revision);
    },
  };
  expect(await pauseJob(busy as never)).toEqual({ before: 'running', state: 'paused' });
});

test('accounts and parcels that were set aside go back to work once the keys open the account', async () => {
  await using scene = await openScene({ calls: fixtureCalls(40), perParcel: 4 });
  const { board, target, credentials } = scene;
  const aside = { code: 'unauthorized', message: 'The server refused the keys.', at: 1, by: 'w' };
  await scene.setLane(0, { next: 4, aside: [[2, 'incomplete']] });
  await scene.set({ phase: 'aside', aside });

  scene.opens.is = false;
  const refused = { account: '101', name: 'Main', outcome: 'refused', parcels: 8, code: 'unauthorized' };
  expect(await retryAside(board, { target, credentials })).toMatchObject([refused]);
  expect(scene.account()).toMatchObject({ phase: 'aside', aside });

  scene.opens.is = true;
  const asked = scene.server.requests.length;
  const again = { account: '101', name: 'Main', outcome: 'again', parcels: 9, code: null, message: null };
  expect(await retryAside(board, { target, credentials, account: '101' })).toEqual([again]);
  expect(scene.server.requests).toHaveLength(asked + 1);
  expect(scene.account()).toMatchObject({ phase: 'reading', aside: null, tries: 0, rounds: 0 });
  expect(scene.lane(0)).toMatchObject({ again: [2], aside: [] });
  expect(await retryAside(board, { target, credentials })).toEqual([]);
});

test('a retry fences a sync off before parcels are read, and compares an account that was proved once more', async () => {
  const sync = { every: 1000, lookback: 1000, settle: 1000 };
  await using scene = await openScene({ calls: fixtureCalls(8), kind: 'store', job: { sync } });
  const { board, target, credentials, claims } = scene;
  await scene.work();
  await scene.close();
  const running = target.sync('101', 'w-other');
  await running?.load();
  const [result] = await retryAside(board, { target, credentials, account: '101' });
  expect(result).toMatchObject({ outcome: 'compared', parcels: 0 });
  expect(claims.sync).toBeGreaterThan(1);
  await expect(running?.commit({ calls: [], state: {} as never, isLast: true })).rejects.toMatchObject({
    code: 'claim_lost',
  });
  expect(scene.account().phase).toBe('reading');
  await scene.close();
  expect(scene.account().phase).toBe('syncing');
  await expect(retryAside(board, { target, credentials, account: '9' })).rejects.toMatchObject({
    code: 'unknown_account',
  });
});
