import { describe, expect, test } from 'vitest';
import { blankNote } from '../src/engine/engine.ts';
import { checkJob, type Engine, memoryEngine, type Turn } from '../src/index.ts';
import { faultyEngine, randomOf } from './law.ts';
import { workerCard } from './worker-card.ts';

const ids = ['a', 'b', 'c', 'd'];
const jobOf = (every: string | null = null) =>
  checkJob({
    name: 'job',
    baseUrl: 'https://api.example.com',
    into: 'sqlite:x',
    every: every as null,
    accounts: ids.map((id) => ({ id })),
  });
const worker = (name: string, at = 1) => workerCard(name, at, { since: 0 });
const trouble = {
  kind: 'account',
  code: 'invalid_record',
  message: 'It cannot be read.',
  by: 'w',
} as const;
const takenBy = async (engine: Engine, most: number) =>
  (await engine.take(most)).map(({ account }) => account);

/**
 * What happens to an engine in one history: workers join, tickets are taken, kept, ended, failed,
 * sent again; answers get lost.
 */
async function history(seed: number, inner: Engine): Promise<number> {
  const random = randomOf(seed);
  const engine = faultyEngine(inner, random);
  const job = await jobOf();
  const one = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const open: Turn[] = [];
  const quietly = (work: Promise<unknown>) => work.catch(() => {});
  let most = 0;
  for (let step = 0; step < 40; step += 1) {
    const turn = one(open);
    const chance = random();
    if (chance < 0.1)
      await quietly(engine.join(job, worker(one(['v', 'w']) ?? 'v', step * 10_000)));
    else if (chance < 0.45)
      await engine.take(1 + Math.floor(random() * 3)).then(
        (turns) => open.push(...turns),
        () => {},
      );
    else if (chance < 0.55) await quietly(engine.keep(open, worker('w', step * 10_000)));
    else if (chance < 0.65) await quietly(engine.again([one(ids) ?? 'a']));
    // A turn that has ended is ended again now and then, as after an answer that got lost.
    else if (turn !== undefined && chance < 0.75) await quietly(engine.fail(turn, trouble));
    else if (turn !== undefined)
      await quietly(engine.end(turn, blankNote, random() < 0.2 ? null : 0));
    const { tickets } = await inner.look();
    for (const id of ids)
      most = Math.max(most, tickets.filter(({ account }) => account === id).length);
    const ours = await inner.keep(open, worker('w'));
    for (const each of ids) {
      const readers = open.filter(({ account, id }) => account === each && ours.has(id)).length;
      most = Math.max(most, readers);
    }
  }

  return most;
}

describe('an engine', () => {
  test('never has two tickets of an account, and never two turns of it, whatever gets lost: 1,000 random histories', async () => {
    for (let seed = 1; seed <= 1_000; seed += 1)
      expect(
        await history(seed, memoryEngine({ now: () => 1 })),
        `history ${seed}`,
      ).toBeLessThanOrEqual(1);
  });

  test('gives out what has waited longest, of what is due, and ends a turn once', async () => {
    let now = 100;
    const engine = memoryEngine({ now: () => now });
    await engine.join(await jobOf(), worker('w'));
    const [first, second] = (await engine.take(2)) as [Turn, Turn];
    expect([first, second]).toMatchObject([{ account: 'a' }, { account: 'b' }]);
    expect(await engine.end(first, blankNote, 100)).toBe(true);
    expect(await engine.end(first, blankNote, 100)).toBe(false);
    expect(await engine.end(second, blankNote, 200)).toBe(true);
    expect(await takenBy(engine, 9)).toEqual(['c', 'd', 'a']);
    now = 200;
    expect(await takenBy(engine, 9)).toEqual(['b']);
  });

  test('in one process an account with trouble is tried twice more after all others, then set aside', async () => {
    let now = 100;
    const engine = memoryEngine({ now: () => now });
    await engine.join(await jobOf(), worker('w'));

    const failing = async (outcome: string) => {
      const [turn] = (await engine.take(1)) as [Turn];
      expect(turn.account).toBe('a');
      expect(await engine.fail(turn, trouble)).toBe(outcome);
      now += 10_000;
    };

    await failing('later');
    for (const id of ['b', 'c', 'd']) {
      const [turn] = (await engine.take(1)) as [Turn];
      expect(turn.account).toBe(id);
      await engine.end(turn, blankNote, null);
    }

    await failing('later');
    await failing('aside');
    expect(await engine.take(1)).toEqual([]);
    await engine.again(['a']);
    await failing('later');
  });

  test('in a job with `every` an account with trouble is read with all others again', async () => {
    let now = 100;
    const engine = memoryEngine({ now: () => now });
    await engine.join(await jobOf('1h'), worker('w'));
    const [turn] = (await engine.take(1)) as [Turn];
    expect(await engine.fail(turn, { ...trouble, kind: 'credential' })).toBe('aside');
    now += 3_600_000;
    for (const other of await engine.take(3)) await engine.end(other, blankNote, null);
    expect(await takenBy(engine, 1)).toEqual(['a']);
  });
});
