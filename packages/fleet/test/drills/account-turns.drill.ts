import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { day, formatNaive, hour } from '@call-attribution/core/time';
import { openDrill } from '@call-attribution/test-tools/drill';
import { expect, test } from 'vitest';
import { openScene, type Scene } from '../account-scene.ts';

const tally = openDrill({
  name: 'account-turns',
  kind: 'kills',
  what: 'A worker that closes or syncs an account is gone before each of its steps in turn; another one brings the account to the same end',
});

class Gone extends Error {}

/** Lets so many calls of the methods through, and none after them. */
function endingAfter<T extends object>(target: T, steps: { left: number }, names: readonly (keyof T)[]): T {
  const steppers = names.map((name) => {
    const method = (target[name] as (...given: unknown[]) => unknown).bind(target);
    const value = (...given: unknown[]): unknown => {
      steps.left -= 1;
      if (steps.left < 0) throw new Gone();
      return method(...given);
    };
    return [name, { value }];
  });
  return Object.create(target, Object.fromEntries(steppers)) as T;
}

/** Runs a turn whose worker is gone after so many steps. Returns whether it was. */
async function isGoneAfter(
  scene: Scene,
  left: number,
  turn: (scene: Scene) => Promise<void>,
): Promise<boolean> {
  const { board, target } = scene.context;
  const steps = { left };
  Object.assign(scene.context, {
    board: endingAfter(board, steps, ['write']),
    target: endingAfter(target, steps, ['planOf', 'verdicts', 'reopen', 'continuePlan', 'count']),
  });
  try {
    await turn(scene);
    return false;
  } catch (error) {
    if (!(error instanceof Gone)) throw error;
    return true;
  } finally {
    Object.assign(scene.context, { board, target });
  }
}

/** What workers do with an account until nothing is left: lanes are read, then it is closed. */
async function bringToEnd(scene: Scene): Promise<number[]> {
  const read: number[] = [];
  for (let turns = 0; turns < 10; turns += 1) {
    const { phase } = scene.account();
    if (phase === 'final' || phase === 'syncing') return read.sort((a, b) => a - b);
    read.push(...(await scene.work()));
    await scene.close();
  }
  throw new Error('the account came to no end');
}

const inPlan = (scene: Scene): number =>
  scene.server.calls.filter(({ date_added }) => date_added < scene.plan().to).length;

test('an account that is closed, with late calls in two of its parcels and a third one lost', {
  timeout: 120_000,
}, async () => {
  let isGone = true;
  for (let left = 0; isGone; left += 1)
    await tally.run(async () => {
      await using scene = await openScene({ calls: fixtureCalls(40), perParcel: 4 });
      await scene.work();
      const { calls } = scene.server;
      for (const at of [5, 22]) calls.push({ ...(calls[at] as Call), sid: `late-${at}` });
      if (left % 2 === 1) scene.verdicts.delete(8);
      isGone = await isGoneAfter(scene, left, ({ close }) => close());
      if (isGone) tally.happened('workers gone');
      await bringToEnd(scene);
      expect(scene.account()).toMatchObject({ phase: 'final', verdict: { records: 42, total: 42 } });
      tally.add({ lost: 42 - [...scene.verdicts.values()].reduce((sum, { records }) => sum + records, 0) });
    });
});

test('files that are synced: what is not settled is read again, and what is new is read once', {
  timeout: 120_000,
}, async () => {
  const sync = { every: day, lookback: 3 * day, settle: 10 * day };
  const start = Date.UTC(2024, 0, 1, 3);
  const callAt = (time: number, sid: string): Call => ({
    ...(fixtureCalls(1)[0] as Call),
    sid,
    date_added: formatNaive(time),
  });
  let isGone = true;
  for (let left = 0; isGone; left += 1)
    await tally.run(async () => {
      const calls = Array.from({ length: 72 }, (_, i) =>
        callAt(start + i * 6 * hour, `C${String(i).padStart(4, '0')}`),
      );
      await using scene = await openScene({ calls, perParcel: 8, job: { sync } });
      await bringToEnd(scene);
      const before = scene.plan();
      const since = formatNaive(Date.UTC(2024, 0, 9, 10));
      const unsettled = before.parcels.filter(({ to }) => to > since).map(({ index }) => index);
      scene.server.calls.push(
        ...Array.from({ length: 20 }, (_, i) => callAt(start + 18.5 * day + i * hour, `new-${i}`)),
      );
      scene.clock.now = scene.account().notBefore;
      isGone = await isGoneAfter(scene, left, (one) => one.sync());
      if (isGone) {
        tally.happened('workers gone');
        // Whoever takes the account next does what its phase says.
        if (scene.account().phase === 'syncing') await scene.sync();
      }
      const read = await bringToEnd(scene);
      const added = scene
        .plan()
        .parcels.slice(before.parcels.length)
        .map(({ index }) => index);
      expect(added.length).toBeGreaterThan(0);
      expect([...new Set(read)]).toEqual([...unsettled, ...added]);
      expect(scene.account().verdict).toMatchObject({ records: inPlan(scene), total: inPlan(scene) });
      tally.add({ doubled: read.length - new Set(read).size });
    });
});
