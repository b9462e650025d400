import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, describe, expect, test } from 'vitest';
import { type Blow, BucketWriters } from '../bucket-writers.ts';

const writers = await BucketWriters.open();
afterAll(() => writers.close());
const moments: readonly Blow['when'][] = ['before', 'after', 'held'];

describe('a worker that writes into a bucket', () => {
  const killed = openDrill({
    name: 'bucket-killed-worker',
    kind: 'kills',
    what: 'A worker is killed at each of its requests, done or not; another one commits the parcel, and one part lies there with its verdict',
  });
  const stopped = openDrill({
    name: 'bucket-stopped-worker',
    kind: 'stops',
    what: 'A worker is stopped at a request and goes on after another one has committed; nothing of it counts, and it says so',
  });

  test('is killed at each of its requests', async () => {
    for (const again of [false, true])
      for (let at = 1, isStruck = true; isStruck; at += 1)
        for (const when of moments)
          isStruck = await killed.run(() => writers.run({ at, when, again }, 'SIGKILL', killed));
    expect(killed.events.kills).toBeGreaterThan(60);
  }, 600_000);

  const times = rounds(10, 600);
  test(`is stopped ${times} times, and goes on when another one has committed`, async () => {
    for (let round = 0; round < times; round += 1) {
      const [when, again] = [moments[round % 3] as Blow['when'], Math.random() < 0.5];
      const at = 1 + Math.floor(Math.random() * 15);
      await stopped.run(() => writers.run({ at, when, again }, 'SIGSTOP', stopped));
    }
  }, 600_000);
});
