import { fixtureCalls } from '@call-attribution/core/testing';
import { expect, test } from 'vitest';
import { type AccountVerdict, type VerifyOptions, verifyJob } from '../src/index.ts';
import { openScene, type Scene } from './account-scene.ts';

async function verify(scene: Scene, more: Partial<VerifyOptions> = {}): Promise<AccountVerdict[]> {
  const { target, job, credentials } = scene;
  const verdicts: AccountVerdict[] = [];
  for await (const verdict of verifyJob({ target, job, credentials, accounts: [{ id: '101' }], ...more }))
    verdicts.push(verdict);
  return verdicts;
}

test('an account is proved from the target alone, with one request', async () => {
  await using scene = await openScene({ calls: fixtureCalls(20), perParcel: 4 });
  await scene.work();
  expect(await verify(scene)).toEqual([
    {
      ...{
        account: '101',
        name: null,
        parcels: { committed: 5, of: 5 },
        records: 20,
        total: 20,
        stored: null,
      },
      ...{ verdict: 'proved', why: null, code: null, differing: [] },
    },
  ]);
  expect(scene.server.requests).toHaveLength(1);
  const { board } = scene;
  const [fromBoard] = await verify(scene, { accounts: undefined, board });
  expect(fromBoard).toMatchObject({ name: 'Main', verdict: 'proved' });
  await expect(verify(scene, { accounts: undefined })).rejects.toMatchObject({ code: 'job_invalid' });
});

test('an account that is not read to its end is not whole, and one that was never planned neither', async () => {
  await using scene = await openScene({ calls: fixtureCalls(20), perParcel: 4 });
  await scene.work();
  scene.verdicts.delete(3);
  const [half, unplanned] = await verify(scene, { accounts: [{ id: '101' }, { id: '102' }] });
  expect(half).toMatchObject({
    ...{ verdict: 'not whole', parcels: { committed: 4, of: 5 }, records: 16, total: 20, differing: [3] },
    why: '1 of 5 parcels are not committed (3).',
  });
  expect(unplanned).toMatchObject({ verdict: 'not whole', parcels: { committed: 0, of: 0 } });
});

test('a plan with a gap proves nothing about its account', async () => {
  await using scene = await openScene({ calls: fixtureCalls(20), perParcel: 4 });
  const plan = scene.plan();
  const parcels = plan.parcels.map((parcel) => (parcel.index === 2 ? { ...parcel, from: plan.to } : parcel));
  scene.plans.set('101', { ...plan, parcels });
  await scene.work();
  expect(await verify(scene)).toMatchObject([{ verdict: 'not whole', why: expect.stringContaining('gap') }]);
});

test('late, deleted and exchanged records are named with their parcels, and what a sync brought counts', async () => {
  await using scene = await openScene({ calls: fixtureCalls(20), kind: 'store', perParcel: 4 });
  await scene.work();
  const { calls } = scene.server;
  const late = { ...(calls[9] as (typeof calls)[0]), sid: 'late' };
  calls.push(late);
  expect(await verify(scene)).toMatchObject([
    {
      verdict: 'differs',
      total: 21,
      stored: 20,
      differing: [2],
      why: expect.stringContaining('1 more than the target'),
    },
  ]);
  scene.rows.set(late.sid, late);
  expect(await verify(scene)).toMatchObject([{ verdict: 'proved', records: 20, total: 21, stored: 21 }]);
  // One less here and one more there: only a look at each parcel shows it.
  calls.splice(1, 1);
  calls.push({ ...late, sid: 'later' });
  expect(await verify(scene)).toMatchObject([{ verdict: 'proved' }]);
  expect(await verify(scene, { deep: true })).toMatchObject([{ verdict: 'differs', differing: [0, 2] }]);
});

test('deep looks at each file', async () => {
  await using scene = await openScene({ calls: fixtureCalls(20), perParcel: 4 });
  await scene.work();
  const { target } = scene;
  const inspect: typeof target.inspect = async (_, { index }) =>
    index === 4 ? 'its size is 3, not 40' : null;
  expect(await verify(scene, { deep: true, target: { ...target, inspect } })).toMatchObject([
    {
      verdict: 'differs',
      differing: [4],
      why: 'parcel 4: its size is 3, not 40; remove what is damaged to have it read again',
    },
  ]);
});

test('an account whose server cannot be asked is unknown, and the others are verified', async () => {
  await using scene = await openScene({ calls: fixtureCalls(4) });
  await scene.work();
  scene.opens.is = false;
  expect(await verify(scene)).toMatchObject([
    { verdict: 'unknown', code: 'unauthorized', records: 4, total: null, why: expect.any(String) },
  ]);
});
