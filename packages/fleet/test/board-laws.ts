import { expect } from 'vitest';
import type { Board, BoardEntry } from '../src/index.ts';

/** Waits until something is true of a live copy. */
export async function until(board: Board, isSo: () => boolean): Promise<void> {
  const end = Date.now() + 30_000;
  while (!isSo()) {
    if (Date.now() > end) throw new Error('The live copy did not get there in 30 seconds.');
    await board.changed({ within: 200 });
  }
}

/** All boards race for one key, over and over. Of each race one is the winner, and the value is the winner's. */
export async function race(
  boards: readonly Board[],
  races: number,
): Promise<{ races: number; doubles: number }> {
  let doubles = 0;
  let revision = 0;
  for (let round = 0; round < races; round += 1) {
    const entries = await Promise.all(
      boards.map((board, who) => board.write('lane.101.0', { round, who }, revision)),
    );
    const winners = entries.filter((entry): entry is BoardEntry => entry !== null);
    if (winners.length !== 1) doubles += 1;
    const [winner] = winners;
    if (winner === undefined) throw new Error(`nobody won round ${round}`);
    expect(winner.revision).toBeGreaterThan(revision);
    const [one] = boards;
    if (one === undefined) throw new Error('no boards');
    await until(one, () => (one.get('lane.101.0')?.revision ?? 0) >= winner.revision);
    expect(one.get('lane.101.0')?.value).toEqual(winner.value);
    revision = winner.revision;
  }
  return { races, doubles };
}

/** Clients that count up, each in its own time. The end is the sum of the wins that were reported to them. */
export async function countUp(
  boards: readonly Board[],
  times: number,
): Promise<{ won: number; found: number }> {
  let won = 0;
  await Promise.all(
    boards.map(async (board) => {
      for (let done = 0; done < times; ) {
        const entry = board.get('job');
        const value = (entry?.value as { count: number } | undefined)?.count ?? 0;
        if ((await board.write('job', { count: value + 1 }, entry?.revision ?? 0)) === null) continue;
        won += 1;
        done += 1;
      }
    }),
  );
  const [one] = boards;
  if (one === undefined) throw new Error('no boards');
  await until(one, () =>
    boards.every((board) => (board.get('job')?.revision ?? 0) <= (one.get('job')?.revision ?? 0)),
  );
  const { count = 0 } = (one.get('job')?.value ?? {}) as { count?: number };
  return { won, found: count };
}
