import { describe, expect, test } from 'vitest';
import { blankNote } from '../src/engine/ticket.ts';
import { type Engine, memoryEngine, type Ticket, type Turn } from '../src/index.ts';
import { faultyEngine, randomOf } from './law.ts';

const ticketOf = (key: string, dueAt: number | null = 0): Ticket => ({
  ...{ key, dueAt },
  account: key,
  note: blankNote,
});

/** What happens to an engine in one history: tickets are put, taken, kept, ended, changed; answers get lost. */
async function history(seed: number, inner: Engine): Promise<{ steps: number; most: number }> {
  const random = randomOf(seed);
  const engine = faultyEngine(inner, random);
  const keys = ['a', 'b', 'c', 'd'];
  const one = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const open: Turn[] = [];
  const quietly = (work: Promise<unknown>) => work.catch(() => {});
  let most = 0;
  const steps = 40;
  for (let step = 0; step < steps; step += 1) {
    const key = one(keys) ?? 'a';
    const turn = one(open);
    const chance = random();
    if (chance < 0.25) await quietly(engine.put([ticketOf(key), ticketOf(one(keys) ?? 'b')]));
    else if (chance < 0.5)
      await engine.take(1 + Math.floor(random() * 3)).then(
        (turns) => open.push(...turns),
        () => {},
      );
    else if (chance < 0.6) await quietly(engine.keep(open));
    else if (chance < 0.7)
      await quietly(engine.edit(key, (ticket) => (random() < 0.3 ? null : { ...ticket, dueAt: 0 })));
    // A turn that has ended is ended again now and then, as after an answer that got lost.
    else if (turn !== undefined) await quietly(engine.end(turn, random() < 0.2 ? null : ticketOf(turn.key)));
    const { tickets } = await inner.look();
    for (const each of keys) most = Math.max(most, tickets.filter((ticket) => ticket.key === each).length);
    const ours = await inner.keep(open);
    for (const each of keys) {
      const readers = open.filter(({ key: own, id }) => own === each && ours.has(id)).length;
      most = Math.max(most, readers);
    }
  }
  return { steps, most };
}

describe('an engine', () => {
  test('never has two tickets of a credential, and never two turns of it, whatever gets lost: 1,000 random histories', async () => {
    for (let seed = 1; seed <= 1_000; seed += 1) {
      const { most } = await history(seed, memoryEngine({ now: () => 1 }));
      expect(most, `history ${seed}`).toBeLessThanOrEqual(1);
    }
  });

  test('gives out what has waited longest, of what is due', async () => {
    let now = 100;
    const engine = memoryEngine({ now: () => now });
    await engine.put([ticketOf('a'), ticketOf('b', 200), ticketOf('c'), ticketOf('d', null)]);
    const [first] = await engine.take(1);
    expect(first).toMatchObject({ key: 'a', attempt: 0 });
    expect(await engine.end(first as Turn, ticketOf('a'))).toBe(true);
    expect((await engine.take(9)).map(({ key }) => key)).toEqual(['c', 'a']);
    now = 300;
    expect((await engine.take(9)).map(({ key }) => key)).toEqual(['b']);
  });

  test('ends a turn once, and changes only what nobody works on', async () => {
    const engine = memoryEngine({ now: () => 1 });
    await engine.put([ticketOf('a')]);
    const [turn] = await engine.take(1);
    expect(await engine.edit('a', () => null)).toBe(false);
    expect(await engine.end(turn as Turn, ticketOf('a', 5))).toBe(true);
    expect(await engine.end(turn as Turn, ticketOf('a', 7))).toBe(false);
    expect(await engine.edit('a', (ticket) => ({ ...ticket, dueAt: 9 }))).toBe(true);
    expect((await engine.look()).tickets).toMatchObject([{ key: 'a', dueAt: 9, isActive: false }]);
    expect(await engine.edit('a', () => null)).toBe(true);
    expect(await engine.edit('a', () => null)).toBe(false);
  });
});
