import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AccountPlan, ParcelVerdict } from '../src/index.ts';
import { answer, differences } from '../src/proof/differences.ts';
import { ledgerOf } from '../src/proof/ledger.ts';
import { proveAccount } from '../src/proof/prove-account.ts';
import { verdictOf } from './account-scene.ts';

const sum = (numbers: readonly number[]) => numbers.reduce((all, number) => all + number, 0);

/** Searches, and counts what it asks for. */
async function search(expected: readonly number[], real: readonly number[]) {
  let asked = 0;
  const found = await answer(differences(expected, sum(real)), async ({ begin, end }) => {
    asked += 1;
    return sum(real.slice(begin, end));
  });
  return { found: found.sort((a, b) => a - b), asked };
}

test('late records are found wherever they are, with few questions', async () => {
  const counts = fc.array(fc.tuple(fc.nat(9), fc.oneof(fc.constant(0), fc.nat(3))), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(counts, async (parcels) => {
      const late = parcels.flatMap(([, more], index) => (more > 0 ? [index] : []));
      const { found, asked } = await search(
        parcels.map(([count]) => count),
        parcels.map(([count, more]) => count + more),
      );
      expect(found).toEqual(late);
      expect(asked).toBeLessThanOrEqual(late.length * Math.ceil(Math.log2(Math.max(2, parcels.length))));
    }),
    { numRuns: 50 },
  );
});

test('where sums differ, at least one parcel is found, and each that is found differs', async () => {
  const counts = fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(counts, async (parcels) => {
      const [expected, real] = [parcels.map(([a]) => a), parcels.map(([, b]) => b)];
      const { found } = await search(expected, real);
      if (sum(expected) !== sum(real)) expect(found.length).toBeGreaterThan(0);
      for (const index of found) expect(expected[index]).not.toBe(real[index]);
    }),
    { numRuns: 50 },
  );
});

const time = (hour: number) => `2024-01-01 ${String(hour).padStart(2, '0')}:00:00`;
const plan: AccountPlan = {
  bounds: 'half-open',
  from: null,
  to: time(4),
  parcels: [1, 2, 3, 4].map((to, index) => ({
    index,
    from: index === 0 ? null : time(index),
    to: time(to),
    total: 10,
  })),
};
const verdicts = plan.parcels.map((parcel) => verdictOf(parcel, 10));

/** Counts by the hour in which a parcel ends. */
const counters = (server: readonly number[], target: readonly number[] | null = null) => {
  const of =
    (counts: readonly number[]) =>
    async ({ from, to }: { from: string | null; to: string | null }) =>
      sum(counts.slice(from === null ? 0 : Number(from.slice(11, 13)), Number(to?.slice(11, 13))));
  return { total: of(server), count: target === null ? async () => null : of(target) };
};

test('an account is proved by one total of the server, and by the count of the target where there is one', async () => {
  const ledger = await ledgerOf(plan, verdicts);
  expect(await proveAccount(ledger, counters([10, 10, 10, 10]))).toEqual({
    ...{ isProved: true, records: 40, skipped: 0, leftOut: 0, total: 40, stored: null, parcels: [] },
  });
  const late = await proveAccount(ledger, counters([10, 10, 12, 10], [10, 10, 10, 10]));
  expect(late).toMatchObject({ isProved: false, total: 42, stored: 40, parcels: [2] });
  const lost = await proveAccount(ledger, counters([10, 10, 10, 10], [10, 9, 10, 10]));
  expect(lost).toMatchObject({ isProved: false, total: 40, stored: 39, parcels: [1] });
});

test('records that cannot be parsed and callers that were erased are accounted for', async () => {
  const odd: ParcelVerdict[] = verdicts.map((one, i) =>
    i === 1 ? { ...one, records: 9, skipped: 1, leftOut: 2 } : one,
  );
  const ledger = await ledgerOf(plan, odd);
  const proof = await proveAccount(ledger, counters([10, 10, 10, 10], [10, 7, 10, 10]));
  expect(proof).toMatchObject({ isProved: true, records: 39, skipped: 1, leftOut: 2, total: 40, stored: 37 });
});

test('a parcel without a verdict is missing, also when a verdict is about another stretch', async () => {
  const moved = verdicts.map((one, i) => (i === 2 ? { ...one, to: time(9) } : one));
  const ledger = await ledgerOf(plan, moved.slice(1));
  expect(ledger.missing).toEqual([0, 2]);
  expect(await proveAccount(ledger, counters([10, 10, 10, 10]))).toMatchObject({
    isProved: false,
    parcels: [0, 2],
  });
});

test('a plan with a gap proves nothing', async () => {
  const torn = {
    ...plan,
    parcels: plan.parcels.map((one, i) => (i === 3 ? { ...one, from: '2024-01-01 03:30:00' } : one)),
  };
  const all = torn.parcels.map((parcel) => verdictOf(parcel, 10));
  expect(await ledgerOf(torn, all)).toMatchObject({ isTorn: true, missing: [] });
  expect(await ledgerOf(plan, verdicts)).toMatchObject({ isTorn: false, missing: [] });
});
