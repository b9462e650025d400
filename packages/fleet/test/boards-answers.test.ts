import { describe, expect, test } from 'vitest';
import { BoardClock } from '../src/board/board-clock.ts';
import { LiveCopy } from '../src/board/live-copy.ts';
import { type BoardServer, servedBoard, type WriteReply } from '../src/board/served-board.ts';
import { BoardMemory } from '../src/index.ts';

/** What happens to a write on its way. */
type Fate = 'answered' | 'answer lost' | 'write lost' | 'answer lost, then overwritten' | 'not sent';

/** A board on a server to which writes have these fates, one after the other. */
function board(...fates: Fate[]) {
  const memory = new BoardMemory();
  const nonces = new Map<number, string>();
  const stored = (key: string) => [...copyOf(memory).entries('')].find((entry) => entry.key === key) ?? null;
  const server: BoardServer = {
    async put(key, text, revision, nonce): Promise<WriteReply> {
      const fate = fates.shift() ?? 'answered';
      if (fate === 'not sent') return { kind: 'away', cause: null };
      if (fate === 'write lost') return { kind: 'unknown', cause: null };
      const entry = memory.write(key, JSON.parse(text), revision);
      if (entry !== null) nonces.set(entry.revision, nonce);
      if (entry !== null && fate === 'answer lost, then overwritten')
        memory.write(key, 'of another', entry.revision);
      if (fate !== 'answered') return { kind: 'unknown', cause: null };
      return entry === null ? { kind: 'lost' } : { kind: 'won', revision: entry.revision, at: entry.at };
    },
    async read(key) {
      const entry = stored(key);
      return { revision: entry?.revision ?? 0, entry, nonce: nonces.get(entry?.revision ?? 0) ?? null };
    },
    close: async () => undefined,
  };
  const copy = new LiveCopy();
  return { board: servedBoard('nats://n1', server, copy, new BoardClock()), stored, copy };
}

function copyOf(memory: BoardMemory): LiveCopy {
  const copy = new LiveCopy();
  memory.follow(copy);
  return copy;
}

test.each<Fate[]>([['answer lost'], ['write lost'], ['not sent', 'answered'], ['write lost', 'answer lost']])(
  'a write is made once, whatever happens on the way: %s %s',
  async (...fates) => {
    const { board: one, stored } = board(...fates.filter(Boolean));
    const entry = await one.write('job', 'of ours', 0);
    expect(entry).toMatchObject({ value: 'of ours', revision: 1 });
    expect(stored('job')?.revision).toBe(1);
    expect(one.get('job')).toEqual(entry);
    expect(one.contactSince).not.toBeNull();
  },
);

test('a write that others have written over since is lost to them', async () => {
  const { board: one } = board('answer lost, then overwritten');
  expect(await one.write('job', 'of ours', 0)).toBeNull();
  expect(one.get('job')?.value).toBe('of another');
});

test('what the server has lost is corrected by the next write', async () => {
  const { board: one, copy } = board();
  const entry = await one.write('job', 'kept', 0);
  copy.take({ key: 'job', value: 'lost', revision: 9, at: 1 });
  copy.take({ key: 'worker.a', value: 'lost', revision: 10, at: 1 });
  expect(await one.write('job', 'next', 9)).toBeNull();
  expect(one.get('job')).toEqual(entry);
  expect(await one.write('worker.a', 'next', 10)).toBeNull();
  expect(one.get('worker.a')).toBeUndefined();
  expect([...one.entries('worker.')]).toEqual([]);
  expect(await one.write('job', 'next', entry?.revision ?? 0)).not.toBeNull();
});

describe('the clock of a board', () => {
  test('comes closest with the stamp that was fastest, and forgets a wrong one', () => {
    let ticks = 0;
    const clock = new BoardClock(() => ticks);
    clock.sample(1_000_000 - 40);
    expect(clock.now()).toBe(1_000_000 - 40);
    clock.sample(1_000_000);
    clock.sample(1_000_000 - 70);
    expect(clock.now()).toBe(1_000_000);
    clock.sample(5_000_000);
    for (ticks = 10_000; ticks <= 130_000; ticks += 10_000) clock.sample(1_000_000 + ticks);
    ticks = 130_000;
    expect(clock.now()).toBe(1_130_000);
  });

  test('contact is since the first of the writes that went through without a break', () => {
    let ticks = 0;
    const clock = new BoardClock(() => ticks);
    clock.sample(1_000);
    expect(clock.contactSince).toBeNull();
    clock.succeeded();
    ticks = 5_000;
    clock.succeeded();
    expect(clock.contactSince).toBe(1_000);
    clock.failed();
    expect(clock.contactSince).toBeNull();
    clock.succeeded();
    expect(clock.contactSince).toBe(6_000);
    ticks = 30_000;
    expect(clock.contactSince).toBeNull();
    clock.succeeded();
    expect(clock.contactSince).toBe(31_000);
  });
});
