import { describe, expect, test } from 'vitest';
import { boardKinds } from './board-kinds.ts';
import { countUp, race, until } from './board-laws.ts';

describe.each(boardKinds())('a board on $kind', ({ newBoard }) => {
  test('is seen by all, and lists what begins with a prefix', async () => {
    const open = await newBoard();
    const [one, two] = [await open(), await open()];
    const lane = { next: 0, parcels: 7, again: [], aside: [[3, 'incomplete']], by: null };
    const entry = await one.write('lane.10.0', lane, 0);
    await one.write('lane.1.0', lane, 0);
    await one.write('lane.10.1', lane, 0);
    await one.write('account.10', { phase: 'reading' }, 0);
    expect(entry).toMatchObject({ key: 'lane.10.0', value: lane });
    expect(one.get('lane.10.0')).toMatchObject({ revision: entry?.revision, value: lane });
    await until(two, () => two.get('account.10') !== undefined);
    const keys = (prefix: string) => [...two.entries(prefix)].map(({ key }) => key).toSorted();
    expect(keys('lane.10.')).toEqual(['lane.10.0', 'lane.10.1']);
    expect(keys('lane.')).toEqual(['lane.1.0', 'lane.10.0', 'lane.10.1']);
    expect(keys('acc')).toEqual(['account.10']);
    expect(keys('')).toHaveLength(4);
    expect(keys('worker.')).toEqual([]);
    const late = await open();
    expect(late.get('lane.10.0')?.value).toEqual(lane);
    expect(late.get('lane.10.0')?.revision).toBe(entry?.revision);
  });

  test('creates an entry once', async () => {
    const open = await newBoard();
    const boards = await Promise.all([open(), open(), open(), open()]);
    const made = await Promise.all(boards.map((board, who) => board.write('job', { who }, 0)));
    expect(made.filter((entry) => entry !== null)).toHaveLength(1);
  });

  test('writes only over the revision that was seen, and shows the loser what is there', async () => {
    const open = await newBoard();
    const [one, two] = [await open(), await open()];
    const first = await one.write('job', { state: 'running' }, 0);
    const second = await one.write('job', { state: 'paused' }, first?.revision ?? 0);
    expect(await two.write('job', { state: 'cancelled' }, first?.revision ?? 0)).toBeNull();
    expect(two.get('job')).toMatchObject({ value: { state: 'paused' }, revision: second?.revision });
    expect(await two.write('other', {}, 12)).toBeNull();
    expect(two.get('other')).toBeUndefined();
  });

  test('has one winner in each race', async () => {
    const open = await newBoard();
    const boards = await Promise.all([open(), open(), open(), open()]);
    expect(await race(boards, 15)).toEqual({ races: 15, doubles: 0 });
    expect(await countUp(boards, 5)).toEqual({ won: 20, found: 20 });
  });

  test('knows the time, and since when it has been in contact', async () => {
    const board = await (await newBoard())();
    const entry = await board.write('worker.a', { beat: 1 }, 0);
    expect(Math.abs(board.now() - Date.now())).toBeLessThan(60_000);
    expect(board.contactSince).toBeLessThanOrEqual(board.now());
    expect(entry?.at).toBeLessThanOrEqual(board.now() + 1_000);
    await board.close();
    expect(board.contactSince).toBeNull();
    await expect(board.write('worker.a', { beat: 2 }, entry?.revision ?? 0)).rejects.toMatchObject({
      code: 'board_unavailable',
    });
  });

  test('ends the wait for a change with the change, the time or the signal', async () => {
    const open = await newBoard();
    const [one, two] = [await open(), await open()];
    const change = two.changed();
    await one.write('job', {}, 0);
    await change;
    await one.changed({ within: 1 });
    await one.changed({ signal: AbortSignal.abort() });
    const ending = new AbortController();
    const wait = one.changed({ signal: ending.signal });
    ending.abort();
    await wait;
  });
});
