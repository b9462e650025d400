import type { Call } from '@call-attribution/core';
import type { StreamPage } from '@call-attribution/node-stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccountPlan, Parcel, PinnedJob, Target } from '../src/index.ts';
import { cutIntoParcels, type FilledParcel, pinnedJob, planOf, readingOf } from './filled-parcels.ts';
import { all, callsOf, pagesOf } from './real-pages.ts';
import type { TargetPlace } from './target-places.ts';

export { cutIntoParcels, type FilledParcel, pinnedJob, planOf, readingOf } from './filled-parcels.ts';
export type { TargetPlace } from './target-places.ts';

const parcels = cutIntoParcels(callsOf(90), 30);
const [first, second, third] = parcels as [FilledParcel, FilledParcel, FilledParcel];
const others = ['w2', 'w3', 'w4'];
const pages = new Map<string, Promise<readonly StreamPage[]>>();
/** The pages of a parcel as a worker reads them, with the worker's name in the records. */
const readBy = (by: string, { parcel, calls }: FilledParcel): Promise<readonly StreamPage[]> => {
  const key = `${by} ${parcel.index}`;
  const found =
    pages.get(key) ??
    pagesOf(
      calls.map((call) => ({ ...call, city: by })),
      10,
    );
  pages.set(key, found);
  return found;
};
const inOrder = (records: readonly Pick<Call, 'sid' | 'city'>[]) =>
  records.map(({ sid, city }) => `${sid} ${city}`).sort();
const writtenBy = (by: string, ...filled: readonly FilledParcel[]) =>
  inOrder(filled.flatMap(({ calls }) => calls.map(({ sid }) => ({ sid, city: by }))));

/** Reads a parcel into a target and commits it. */
async function fill(target: Target, account: string, filled: FilledParcel, by = 'w1') {
  const claim = await target.claim(account, filled.parcel, by);
  expect(claim.done).toBeNull();
  for (const page of await readBy(by, filled)) await claim.put(page);
  return claim.commit(readingOf(account, filled, by));
}

const listed = async (target: Target, account: string) =>
  (await all(target.verdicts(account))).sort((a, b) => a.index - b.index);

/** What every target keeps to: claim, put, commit, reopen, plans and the job. */
export function targetLaws(kind: string, make: () => Promise<TargetPlace>): void {
  describe(`a target in ${kind}`, () => {
    let place: TargetPlace;
    let job: PinnedJob;
    let target: Target;
    let other: Target;
    let accounts = 0;
    const lost = { name: 'FleetError', code: 'claim_lost' };

    beforeAll(async () => {
      place = await make();
      job = pinnedJob(place.into);
      target = await place.open(job);
      await target.pin(job);
      other = await place.open(job);
    });
    afterAll(async () => {
      await target?.close();
      await other?.close();
    });
    /** An account of its own for each test, planned. */
    const newAccount = async (): Promise<string> => {
      accounts += 1;
      const id = `10${accounts}.a_b-${accounts}`;
      expect(await target.plan({ id }, async () => planOf(parcels))).toEqual(planOf(parcels));
      return id;
    };

    test('what was put and committed lies there with its verdict, and is done for every worker', async () => {
      const account = await newAccount();
      const verdict = await fill(target, account, first);
      expect(verdict).toMatchObject({ ...readingOf(account, first), leftOut: 0 });
      const empty = await target.claim(account, third.parcel, 'w1');
      const nothing = await empty.commit({ ...readingOf(account, third), records: 0 });
      expect(inOrder(await place.records(account))).toEqual(writtenBy('w1', first));
      for (const one of [target, other]) {
        expect(await listed(one, account)).toEqual([verdict, nothing]);
        expect((await one.claim(account, first.parcel, 'w9')).done).toEqual(verdict);
        expect((await one.claim(account, third.parcel, 'w9')).done).toEqual(nothing);
        expect(await one.inspect(account, verdict)).toBeNull();
        expect([30, null]).toContain(await one.count(account, null, first.parcel.to));
        expect([0, null]).toContain(await one.count(account, second.parcel.from, second.parcel.to));
      }
    });

    test('a later claim refuses the earlier one in its puts and in its commit', async () => {
      const account = await newAccount();
      const read = await readBy('w1', first);
      for (const puts of [0, 1, 2]) {
        const earlier = await target.claim(account, first.parcel, 'w1');
        for (const page of read.slice(0, puts)) await earlier.put(page);
        const later = await other.claim(account, first.parcel, 'w2');
        // A store sees it with the second page: the first one is held back.
        const putting = async () => {
          for (const page of read.slice(1)) await earlier.put(page);
        };
        if (puts > 0) await expect(putting()).rejects.toMatchObject(lost);
        await expect(earlier.commit(readingOf(account, first))).rejects.toMatchObject(lost);
        await earlier.drop();
        await later.drop();
      }
      expect(await listed(target, account)).toEqual([]);
      await fill(other, account, first, 'w2');
      expect(inOrder(await place.records(account))).toEqual(writtenBy('w2', first));
    });

    test('an earlier worker that goes on after the later one has committed changes nothing', async () => {
      const account = await newAccount();
      const earlier = await target.claim(account, first.parcel, 'w1');
      const read = await readBy('w1', first);
      for (const page of read) await earlier.put(page);
      const verdict = await fill(other, account, first, 'w2');
      await expect(earlier.commit(readingOf(account, first))).rejects.toMatchObject(lost);
      await earlier.drop();
      expect(await listed(target, account)).toEqual([verdict]);
      expect(await target.inspect(account, verdict)).toBeNull();
      expect(inOrder(await place.records(account))).toEqual(writtenBy('w2', first));
    });

    test('a claim that was dropped leaves the parcel to be read', async () => {
      const account = await newAccount();
      const claim = await target.claim(account, first.parcel, 'w1');
      for (const page of await readBy('w1', first)) await claim.put(page);
      await claim.drop();
      await claim.drop();
      expect(await listed(target, account)).toEqual([]);
      await fill(other, account, first, 'w2');
      expect(inOrder(await place.records(account))).toEqual(writtenBy('w2', first));
    });

    test('of workers that claim the same at any moments, the records are those of the one that committed', async () => {
      const account = await newAccount();
      const outcomes = await Promise.all(
        others.map(async (by, i) => {
          try {
            const claim = await (i % 2 ? other : target).claim(account, second.parcel, by);
            if (claim.done !== null) return claim.done.by;
            for (const page of await readBy(by, second)) await claim.put(page);
            return (await claim.commit(readingOf(account, second, by))).by;
          } catch (error) {
            expect(error).toMatchObject(lost);
            return null;
          }
        }),
      );
      const [verdict] = await listed(target, account);
      const committed = verdict ?? (await fill(target, account, second, 'w5'));
      if (verdict) expect(outcomes).toContain(verdict.by);
      expect(inOrder(await place.records(account))).toEqual(writtenBy(committed.by, second));
    });

    test('a parcel that was reopened is read again, and its records are there until they are replaced', async () => {
      const account = await newAccount();
      await fill(target, account, first);
      const kept = await fill(target, account, second);
      await other.reopen(account, first.parcel);
      expect(await listed(target, account)).toEqual([kept]);
      expect(inOrder(await place.records(account))).toEqual(writtenBy('w1', first, second));
      const verdict = await fill(target, account, first, 'w2');
      expect(await listed(other, account)).toEqual([verdict, kept]);
      expect(await target.inspect(account, verdict)).toBeNull();
      expect(inOrder(await place.records(account))).toEqual(
        [...writtenBy('w2', first), ...writtenBy('w1', second)].sort(),
      );
    });

    test('reopening a parcel that was never committed takes it from nobody', async () => {
      const account = await newAccount();
      const claim = await target.claim(account, first.parcel, 'w1');
      await other.reopen(account, first.parcel);
      for (const page of await readBy('w1', first)) await claim.put(page);
      await claim.commit(readingOf(account, first));
    });

    test('of eight plans at the same time one holds', async () => {
      const plans = Array.from({ length: 8 }, (_, i) => planOf(cutIntoParcels(callsOf(90), 20 + i)));
      const found = await Promise.all(
        plans.map((plan, i) => (i % 2 ? other : target).plan({ id: 'eight' }, async () => plan)),
      );
      expect(new Set(found.map((plan) => JSON.stringify(plan))).size).toBe(1);
      expect(plans).toContainEqual(found[0]);
      const again = await other.plan({ id: 'eight' }, () => Promise.reject(new Error('made twice')));
      expect(again).toEqual(found[0]);
      expect(await target.planOf('eight')).toEqual(found[0]);
      expect(await target.planOf('nobody')).toBeNull();
      const none: AccountPlan = {
        bounds: 'closed',
        from: '2024-01-01 00:00:00',
        to: '2024-02-01 00:00:00',
        parcels: [],
      };
      expect(await target.plan({ id: 'empty', name: 'Empty' }, async () => none)).toEqual(none);
      expect(await other.planOf('empty')).toEqual(none);
    });

    test('a plan is continued once, by whoever is first', async () => {
      const account = await newAccount();
      const before = planOf(parcels);
      const afters = Array.from({ length: 6 }, (_, i): AccountPlan => {
        const to = `2024-01-2${i} 00:00:00`;
        const next: Parcel = { index: 3, from: before.to, to, total: i };
        return { ...before, to, parcels: [...before.parcels, next] };
      });
      const found = await Promise.all(
        afters.map((after, i) => (i % 2 ? other : target).continuePlan(account, before, after)),
      );
      expect(new Set(found.map((plan) => JSON.stringify(plan))).size).toBe(1);
      expect(afters).toContainEqual(found[0]);
      expect(await other.planOf(account)).toEqual(found[0]);
      await expect(target.continuePlan('nobody', before, before)).rejects.toMatchObject({
        code: 'unknown_job',
      });
    });

    test('of several jobs at the same time the first one stays, and a job of another name is refused', async () => {
      const own = await make();
      const jobs = Array.from({ length: 6 }, (_, i) => pinnedJob(own.into, { parcel: 100 + i }));
      const targets = await Promise.all(jobs.map((one) => own.open(one)));
      const held = await Promise.all(targets.map((one, i) => one.pin(jobs[i] as PinnedJob)));
      expect(new Set(held.map((one) => JSON.stringify(one))).size).toBe(1);
      expect(jobs).toContainEqual(held[0]);
      await targets[0]?.plan({ id: '101' }, async () => planOf(parcels));
      const stranger = pinnedJob(own.into, { name: 'another' });
      const open = async () => {
        await using opened = await own.open(stranger);
        await opened.pin(stranger);
        await opened.plan({ id: '101' }, async () => planOf(parcels));
      };
      await expect(open()).rejects.toMatchObject({ code: 'job_differs' });
      await Promise.all(targets.map((one) => one.close()));
    });

    test('who only looks opens it without a job', async () => {
      const account = await newAccount();
      const verdict = await fill(target, account, first);
      await using looking = await place.open(null);
      expect(await listed(looking, account)).toEqual([verdict]);
      expect(await looking.planOf(account)).toEqual(planOf(parcels));
      expect(await looking.inspect(account, verdict)).toBeNull();
      expect(looking.name).not.toContain('password');
    });
  });
}
