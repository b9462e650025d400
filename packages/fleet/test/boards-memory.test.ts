import { expect, test } from 'vitest';
import { BoardMemory, memoryBoard, openBoard } from '../src/index.ts';

test('a board in memory is shared by its address and the job', async () => {
  const [one, two, other] = await Promise.all([
    openBoard('memory:', 'shared-job'),
    openBoard('memory:', 'shared-job'),
    openBoard('memory:', 'other-job'),
  ]);
  await one.write('job', { state: 'running' }, 0);
  expect(two.get('job')?.value).toEqual({ state: 'running' });
  expect(other.get('job')).toBeUndefined();
});

test('its time is that of the clock it was given', async () => {
  let now = 1000;
  const board = memoryBoard(new BoardMemory({ now: () => now }));
  expect(board.contactSince).toBe(1000);
  now = 2000;
  expect(board.now()).toBe(2000);
  expect((await board.write('job', {}, 0))?.at).toBe(2000);
  await board.close();
  expect(board.contactSince).toBeNull();
});

test('what lies on it cannot be changed by those who read or wrote it', async () => {
  const board = memoryBoard();
  const again = [1, 2];
  await board.write('lane.101.0', { again }, 0);
  again.push(3);
  const entry = board.get('lane.101.0');
  expect(entry?.value).toEqual({ again: [1, 2] });
  expect(Object.isFrozen(entry?.value)).toBe(true);
});
