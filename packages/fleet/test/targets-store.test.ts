import type { Call } from '@call-attribution/core';
import type { SyncState } from '@call-attribution/node-stream';
import { openStore } from '@call-attribution/store';
import { testStores } from '@call-attribution/test-tools';
import { describe, expect, test } from 'vitest';
import { openTarget } from '../src/target/open-target.ts';
import { cutIntoParcels, type FilledParcel, pinnedJob, planOf, readingOf } from './filled-parcels.ts';
import { all, callsOf, pagesOf } from './real-pages.ts';
import { targetLaws } from './target-laws.ts';
import { storePlace } from './target-places.ts';

const stores = testStores();

for (const { kind, newUrl } of stores) targetLaws(kind, async () => storePlace(await newUrl()));

for (const { kind, newUrl } of stores)
  describe(`a target in ${kind}`, () => {
    test('says how many records it left out because their callers were erased', async () => {
      const into = await newUrl();
      const job = pinnedJob(into);
      await using target = await openTarget(into, job);
      await target.pin(job);
      const calls = callsOf(40).map((call, i) => ({
        ...call,
        ani: i % 13 === 0 ? '5555550199' : '5555550100',
      }));
      const [filled] = cutIntoParcels(calls, 40) as [FilledParcel];
      await target.plan({ id: '101' }, async () => planOf([filled]));
      await using store = await openStore(into);
      await store.erase('101', ['5555550199']);
      const claim = await target.claim('101', filled.parcel, 'w1');
      // Both in pages before the last one and in the last one, which carries the verdict.
      for (const page of await pagesOf(calls, 10)) await claim.put(page);
      const verdict = await claim.commit(readingOf('101', filled));
      expect(verdict).toMatchObject({ records: 40, leftOut: 4 });
      expect(await all(target.verdicts('101'))).toEqual([verdict]);
      expect(await target.count('101', null, filled.parcel.to)).toBe(36);
    });

    test('loses the records of a reopened parcel that the server no longer has, and no others', async () => {
      const into = await newUrl();
      await using target = await openTarget(into, pinnedJob(into));
      const [first, second] = cutIntoParcels(callsOf(60), 40) as [FilledParcel, FilledParcel];
      await target.plan({ id: '101' }, async () => planOf([first, second]));
      const fill = async (filled: FilledParcel) => {
        const claim = await target.claim('101', filled.parcel, 'w1');
        for (const page of await pagesOf(filled.calls, 15)) await claim.put(page);
        await claim.commit(readingOf('101', filled));
      };
      await fill(first);
      await fill(second);
      // Rows that were never on the server, in this parcel and in the other one.
      await using store = await openStore(into);
      const [gone, kept] = [first, second].map(({ calls }, i) => ({ ...calls[3], sid: `odd-${i}` }) as Call);
      await store.upsert('101', [gone, kept] as Call[]);
      await target.reopen('101', first.parcel);
      await fill({ ...first, calls: first.calls.slice(0, -7) });
      expect(await target.count('101', null, second.parcel.to)).toBe(54);
      expect(await store.get('101', 'odd-0')).toBeNull();
      expect(await store.get('101', 'odd-1')).not.toBeNull();
      expect(await store.check()).toEqual([]);
    });

    test('counts what the job is about, also for who only looks', async () => {
      const into = await newUrl();
      const job = pinnedJob(into, { filter: '' });
      await using target = await openTarget(into, job);
      await target.pin(job);
      await target.plan({ id: '101' }, async () => planOf([]));
      await using store = await openStore(into);
      const calls = callsOf(30);
      await store.upsert('101', calls);
      const about = calls.filter(({ channel }) => channel !== 'Call Extension').length;
      await using looked = await openTarget(into, null);
      for (const one of [target, looked])
        expect(await one.count('101', null, '2030-01-01 00:00:00')).toBe(about);
      expect(about).toBeLessThan(30);
    });

    test('a sync is fenced like a parcel, and shares its claim with calls sync', async () => {
      const into = await newUrl();
      const job = pinnedJob(into);
      await using target = await openTarget(into, job);
      await target.plan({ id: '101' }, async () => planOf([]));
      const [earlier, later] = [target.sync('101', 'w1'), target.sync('101', 'w2')];
      const state = { pending: [] } as unknown as SyncState;
      await earlier?.load();
      await earlier?.commit({ calls: callsOf(3), state, isLast: true });
      expect(await later?.load()).toEqual(state);
      await expect(earlier?.commit({ calls: [], state, isLast: true })).rejects.toMatchObject({
        name: 'FleetError',
        code: 'claim_lost',
      });
      expect(await target.count('101', null, '2030-01-01 00:00:00')).toBe(3);
    });

    test('the name of an account stays when the job has none', async () => {
      const into = await newUrl();
      await using store = await openStore(into);
      await store.putAccount({ id: '101', name: 'Roofs' });
      await using target = await openTarget(into, pinnedJob(into));
      for (const account of [{ id: '101' }, { id: '102' }, { id: '103', name: 'Doors' }])
        await target.plan(account, async () => planOf([]));
      expect((await store.accounts()).map(({ name }) => name)).toEqual(['Roofs', '102', 'Doors']);
    });
  });

test('a target that cannot be meant is refused without repeating it', async () => {
  for (const into of ['mysql://user:s3cret@host/db', 's3cret', ''])
    await expect(openTarget(into, null)).rejects.toMatchObject({
      name: 'FleetError',
      code: 'job_invalid',
      message: expect.not.stringContaining('s3cret'),
    });
});
