import { fixtureCalls } from '@call-attribution/core/testing';
import { expect, test } from 'vitest';
import { openScene } from './account-scene.ts';

test('an account whose parcels add up to the total of the server is final, or is synced from then on', async () => {
  await using once = await openScene({ calls: fixtureCalls(23) });
  await once.work();
  await once.close();
  expect(once.account()).toMatchObject({ phase: 'final', by: null, verdict: { records: 23, total: 23 } });
  expect(once.server.requests).toHaveLength(1);
  expect(once.events).toEqual([{ kind: 'account', account: '101', outcome: 'proved', code: null }]);

  const sync = { every: 3_600_000, lookback: 86_400_000, settle: 86_400_000 };
  await using store = await openScene({ calls: fixtureCalls(8), kind: 'store', job: { sync } });
  await store.work();
  await store.close();
  expect(store.account()).toMatchObject({ phase: 'syncing', notBefore: 0, by: null });

  // Files wait until a whole piece lies behind the end of the plan.
  await using files = await openScene({ calls: fixtureCalls(8), job: { sync } });
  await files.work();
  await files.close();
  expect(files.account()).toMatchObject({ phase: 'syncing', notBefore: Date.UTC(2024, 0, 20, 1) });
});

test('late and deleted records open their parcels again, and the account is closed once more', async () => {
  await using scene = await openScene({ calls: fixtureCalls(40), perParcel: 4 });
  await scene.work();
  const { calls } = scene.server;
  calls.push({ ...(calls[13] as (typeof calls)[0]), sid: 'late' });
  calls.splice(30, 2);
  await scene.close();
  const changed = [Math.floor(13 / 4), Math.floor(30 / 4)];
  expect(scene.account()).toMatchObject({ phase: 'reading', rounds: 1, by: null, verdict: null });
  expect(scene.events.at(-1)).toMatchObject({ outcome: 'reopened' });
  expect(await scene.work()).toEqual(changed);
  await scene.close();
  expect(scene.account()).toMatchObject({ phase: 'final', rounds: 0, verdict: { records: 39, total: 39 } });
  expect([0, 1].map((k) => scene.lane(k).records).reduce((a, b) => a + b)).toBe(39);
});

test('a parcel that the board calls read and the target does not have is read', async () => {
  await using scene = await openScene({ calls: fixtureCalls(20), perParcel: 4 });
  await scene.work();
  scene.verdicts.delete(2);
  await scene.close();
  expect(await scene.work()).toEqual([2]);
  await scene.close();
  expect(scene.account().phase).toBe('final');
});

test('a total that keeps moving sets the account aside after three rounds, with the numbers', async () => {
  await using scene = await openScene({ calls: fixtureCalls(12), perParcel: 4 });
  for (let round = 0; round < 4; round += 1) {
    expect(scene.account().phase).toBe('reading');
    await scene.work();
    scene.server.calls.push({
      ...(scene.server.calls[5] as (typeof scene.server.calls)[0]),
      sid: `late-${round}`,
    });
    await scene.close();
  }
  expect(scene.account()).toMatchObject({
    phase: 'aside',
    by: null,
    aside: { code: 'total_moves', by: 'w-test' },
  });
  expect(scene.account().aside?.message).toBe(
    'The total of the server moves: after 3 rounds it counts 16, and 15 were read (parcels 1). Once that is put right: calls fleet retry history --account 101',
  );
});

test('rows that vanish from a store are read again, and named when they vanish each time', async () => {
  await using scene = await openScene({ calls: fixtureCalls(12), kind: 'store', perParcel: 4 });
  for (let round = 0; round < 4; round += 1) {
    await scene.work();
    scene.rows.delete(scene.server.calls[5]?.sid as string);
    await scene.close();
  }
  const { aside } = scene.account();
  expect(aside?.code).toBe('target_differs');
  expect(aside?.message).toMatch(
    /^The target has 11 records after 3 rounds, but 12 were committed \(parcels 1\)/,
  );
});

test('a sync that still runs is fenced off before parcels are read again', async () => {
  const sync = { every: 1000, lookback: 1000, settle: 1000 };
  await using scene = await openScene({
    calls: fixtureCalls(12),
    kind: 'store',
    perParcel: 4,
    job: { sync },
  });
  await scene.work();
  const running = scene.target.sync('101', 'w-other');
  await running?.load();
  scene.server.calls.push({ ...(scene.server.calls[5] as (typeof scene.server.calls)[0]), sid: 'late' });
  await scene.close();
  expect(scene.account().phase).toBe('reading');
  await expect(running?.commit({ calls: [], state: {} as never, isLast: true })).rejects.toMatchObject({
    code: 'claim_lost',
  });
});

test('parcels that were set aside set their account aside, with their list', async () => {
  await using scene = await openScene({ calls: fixtureCalls(20), perParcel: 4 });
  await scene.work();
  await scene.setLane(1, {
    aside: [
      [1, 'incomplete'],
      [3, 'incomplete'],
    ],
  });
  scene.verdicts.delete(1);
  await scene.close();
  // Parcel 3 was committed by another worker after all.
  expect(scene.account()).toMatchObject({
    phase: 'aside',
    aside: {
      code: 'parcels_aside',
      message: expect.stringMatching(/^1 of 5 parcels were set aside \(incomplete: 1\)\./),
    },
  });
  expect(scene.server.requests).toHaveLength(0);
});

test('an account whose plan was lost or torn in the target is set aside, and the worker continues with others', async () => {
  await using scene = await openScene({ calls: fixtureCalls(12), perParcel: 4 });
  await scene.work();
  const plan = scene.plan();
  scene.plans.set('101', { ...plan, to: '2024-01-19 11:00:00' });
  await scene.close();
  expect(scene.account().aside).toMatchObject({
    code: 'plan_lost',
    message: expect.stringContaining('a gap'),
  });
  scene.plans.delete('101');
  await scene.close();
  expect(scene.account().aside).toMatchObject({
    code: 'plan_lost',
    message: expect.stringContaining('no plan'),
  });
});

test('a target that loses what is committed is named after three rounds', async () => {
  await using scene = await openScene({ calls: fixtureCalls(12), perParcel: 4 });
  for (let round = 0; round < 4; round += 1) {
    await scene.work();
    scene.verdicts.delete(1);
    await scene.close();
  }
  expect(scene.account().aside).toMatchObject({
    code: 'parcels_missing',
    message: expect.stringMatching(/^A verdict is missing for parcels 1 after 3 rounds/),
  });
});

test('calls that appear before the plan of an account without calls ends are planned and read', async () => {
  await using scene = await openScene({ calls: [] });
  scene.server.calls.push(...fixtureCalls(7));
  await scene.close();
  expect(scene.account()).toMatchObject({ phase: 'reading', total: 7 });
  expect((await scene.work()).length).toBeGreaterThan(0);
  await scene.close();
  expect(scene.account()).toMatchObject({ phase: 'final', verdict: { records: 7, total: 7 } });
});

test('a worker whose account was taken by another one meanwhile writes nothing', async () => {
  await using scene = await openScene({ calls: fixtureCalls(6) });
  await scene.work();
  scene.server.next({ before: () => void scene.set({ by: 'w-other' }) });
  await scene.close();
  expect(scene.account()).toMatchObject({ phase: 'closing', by: 'w-other', verdict: null });
  expect(scene.events).toEqual([]);
});
