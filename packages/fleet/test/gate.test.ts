import { describe, expect, test } from 'vitest';
import { Gate, type GateOwner, Rate } from '../src/turn/gate.ts';

const at = Date.UTC(2026, 10, 22, 12);

describe('the rate of a credential', () => {
  test('lets so many requests start in any minute', () => {
    const rate = new Rate(3);
    for (const ms of [0, 100, 200]) {
      expect(rate.wait(at + ms)).toBe(0);
      rate.started(at + ms);
    }
    // The second that they started in counts to its end.
    expect(rate.wait(at + 300)).toBe(60_700);
    expect(rate.wait(at + 61_000)).toBe(0);
  });

  test('goes on where the worker before was, by what the ticket keeps', () => {
    const first = new Rate(3);
    for (const ms of [0, 5_000, 5_000]) first.started(at + ms);
    const sent = first.sent(at + 6_000);
    expect(sent).toEqual({ at: at / 1000, counts: [1, 0, 0, 0, 0, 2] });
    const second = new Rate(3, sent);
    expect(second.wait(at + 6_000)).toBe(first.wait(at + 6_000));
    expect(second.sent(at + 62_000)).toEqual({ at: at / 1000 + 5, counts: [2] });
    expect(second.sent(at + 600_000)).toBeNull();
  });

  test('begins full after a worker has given no more signs of life', () => {
    const rate = new Rate(100);
    rate.fill(at);
    expect(rate.wait(at + 10_000)).toBe(51_000);
    expect(new Rate(null).wait(at)).toBe(0);
  });

  test('is not stopped by a ticket from a clock that was wrong', () => {
    const rate = new Rate(1, { at: at / 1000 + 86_400, counts: [1] });
    expect(rate.wait(at)).toBe(0);
  });
});

describe('the gate of a turn', () => {
  const gateWith = (owner: Partial<GateOwner>, rate = new Rate(1)) => {
    const rested: number[] = [];
    const gate = new Gate(rate, {
      now: () => at,
      onWait: () => 'end',
      rest: async (ms) => {
        rested.push(ms);
      },
      isOver: () => false,
      ...owner,
    });
    return { gate, rested };
  };

  test('asks for nothing more while the page is written with which the turn ends', async () => {
    const { gate } = gateWith({ isOver: () => true }, new Rate(null));
    const cut = new AbortController();
    const quiet = new Promise<void>((resolve) => {
      gate.onQuiet = resolve;
    });
    await gate.acquire();
    // The page has come: the next one is asked for before it is written.
    gate.release();
    const next = gate.acquire(cut.signal);
    await gate.during(async () => {
      await new Promise((done) => setImmediate(() => setImmediate(done)));
      gate.close();
    });
    await quiet;
    expect(gate.started).toBe(1);
    cut.abort(new Error('over'));
    await expect(next).rejects.toThrow('over');
    gate.end();
  });

  test('a turn that is over and has nothing to write asks for more', async () => {
    const { gate } = gateWith({ isOver: () => true }, new Rate(null));
    await gate.acquire();
    gate.release();
    await gate.acquire();
    expect(gate.started).toBe(2);
    gate.end();
  });

  test('is closed by a wait that ends the turn, and says so once all has come', async () => {
    const { gate } = gateWith({});
    const quiet = new Promise<void>((resolve) => {
      gate.onQuiet = resolve;
    });
    await gate.acquire();
    const cut = new AbortController();
    const held = gate.acquire(cut.signal);
    let isCommitted = false;
    const commit = gate.during(async () => {
      gate.release();
      await Promise.resolve();
      isCommitted = true;
    });
    await Promise.all([commit, quiet]);
    expect(isCommitted).toBe(true);
    cut.abort(new Error('over'));
    await expect(held).rejects.toThrow('over');
    gate.end();
  });

  test('waits without a slot where the turn goes on', async () => {
    let now = at;
    const { gate, rested } = gateWith({
      now: () => now,
      onWait: () => 'stay',
      rest: async (ms) => {
        rested.push(ms);
        now += ms;
      },
    });
    await gate.acquire();
    await gate.acquire();
    expect(rested).toEqual([61_000]);
    expect(gate.started).toBe(2);
  });

  test('is closed by a server that asks for a longer wait, and not by a short one', async () => {
    const waits: number[] = [];
    const { gate } = gateWith({
      onWait: (ms) => {
        waits.push(ms);
        return 'end';
      },
    });
    gate.waits(900);
    gate.waits(5_000);
    gate.waits(9_000);
    expect(waits).toEqual([5_000]);
    gate.end();
  });
});
