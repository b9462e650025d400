import type { Engine } from '../src/index.ts';

/** A small generator, so that a history can be run again. */
export function randomOf(seed: number): () => number {
  let state = seed * 2654435761;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** An engine whose answers get lost, or come although nothing was done. */
export function faultyEngine(inner: Engine, random: () => number, share = 0.2): Engine {
  const away = () => new Error('no answer');

  const faulty = async <T>(work: () => Promise<T>): Promise<T> => {
    const chance = random();
    if (chance < share / 2) throw away();
    const result = await work();
    if (chance < share) throw away();
    return result;
  };

  return {
    ...inner,
    join: (...given) => faulty(() => inner.join(...given)),
    take: (...given) => faulty(() => inner.take(...given)),
    keep: (...given) => faulty(() => inner.keep(...given)),
    end: (...given) => faulty(() => inner.end(...given)),
    fail: (...given) => faulty(() => inner.fail(...given)),
    again: (...given) => faulty(() => inner.again(...given)),
  };
}
