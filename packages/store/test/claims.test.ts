import type { Call } from '@call-attribution/core';
import type { SyncState } from '@call-attribution/node-stream';
import { testStores } from '@call-attribution/test-tools';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mirrorSink, openStore, type Store } from '../src/index.ts';
import { batchOf, runOn, smallCall } from './small-calls.ts';

const stateOf = (by: string, n: number) => ({ by, n, pending: [] }) as unknown as SyncState;
const recordOf = (by: string, n: number) =>
  smallCall('X', '2024-01-01 00:00:00', '1.0', false, { city: `${by}.${n}` });

/** The last note, and the record that was committed with it. */
async function lastOf(store: Store): Promise<{ note: unknown; record: Call | null }> {
  const found = await store.note('1');
  return { note: found?.note, record: await store.get('1', 'X') };
}

describe.each(testStores())('a $kind store', ({ newUrl }) => {
  test('of several syncs only the one that started last can write, in whatever order they take turns', async () => {
    const url = await newUrl();
    const stores = [await openStore(url), await openStore(url), await openStore(url)];
    const [store] = stores as [Store];
    let account = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(2), { minLength: 4, maxLength: 14 }), async (turns) => {
        account += 1;
        const id = String(account);
        await store.putAccount({ id, name: 'fenced' });
        const syncs = stores.map((own, i) => ({
          sink: mirrorSink(own, id, { holder: `sync ${i}` }),
          steps: 0,
        }));
        let holder = -1;
        let last: unknown = null;
        for (const turn of turns) {
          const sync = syncs[turn] as (typeof syncs)[number];
          // Each fourth step of a sync begins a new run.
          if (sync.steps % 4 === 0) {
            expect(await sync.sink.load()).toEqual(last);
            holder = turn;
          } else {
            const call = recordOf(`sync ${turn}`, sync.steps);
            const batch = batchOf([call], stateOf(id, sync.steps));
            const committed = sync.sink.commit(batch);
            if (turn === holder) {
              await committed;
              last = batch.state;
              expect((await store.get(id, 'X'))?.city).toBe(`sync ${turn}.${sync.steps}`);
            } else
              await expect(committed).rejects.toMatchObject({
                code: 'claim_lost',
                isRetryable: false,
              });
          }
          sync.steps += 1;
        }

        expect((await store.note(id))?.note ?? null).toEqual(last);
      }),
      { numRuns: 12 },
    );
    await Promise.all(stores.map((own) => own.close()));
  });

  test('syncs that run at the same time leave the records and the state of one of them', async () => {
    const url = await newUrl();
    const stores = await Promise.all([1, 2, 3, 4].map(() => openStore(url)));
    const [store] = stores as [Store];
    await store.putAccount({ id: '1', name: 'fenced' });
    const claims: { by: string; token: number; lost: boolean }[] = [];
    await Promise.all(
      stores.map(async (own, i) => {
        const by = `sync ${i}`;
        const claim = await own.claim('1', by);
        const mine = { by, token: claim.token, lost: false };
        claims.push(mine);
        for (let n = 1; n <= 6 && !mine.lost; n += 1) {
          await own
            .commitClaimed(claim, { calls: [recordOf(by, n)], note: stateOf(by, n) })
            .catch((error) => {
              expect(error).toMatchObject({ code: 'claim_lost' });
              mine.lost = true;
            });
        }
      }),
    );
    const newest = claims.sort((a, b) => b.token - a.token)[0];
    expect(claims.map(({ lost }) => lost)[0]).toBe(false);
    expect(await lastOf(store)).toMatchObject({
      note: { by: newest?.by, n: 6 },
      record: { city: `${newest?.by}.6` },
    });
    await Promise.all(stores.map((own) => own.close()));
  });

  test('a database that went back to an earlier state takes nothing more of a sync under way', async () => {
    const url = await newUrl();
    await using store = await openStore(url);
    await store.putAccount({ id: '1', name: 'restored' });
    const claim = await store.claim('1', 'this process');
    const commit = (n: number) =>
      store.commitClaimed(claim, { calls: [recordOf('sync', n)], note: stateOf('sync', n) });
    await commit(1);

    // What a replica that was behind has: the claim, without the commits since.
    await runOn(url, "UPDATE claims SET commits = 0, note = NULL WHERE account = '1'");
    await expect(commit(2)).rejects.toMatchObject({
      code: 'claim_lost',
      message: expect.stringMatching(/no longer has .* account 1: .* continues from what is there/),
    });
    const again = await store.claim('1', 'this process');
    await store.commitClaimed(again, { calls: [recordOf('sync', 2)], note: stateOf('sync', 2) });
    await runOn(url, 'DELETE FROM claims');
    await expect(store.commitClaimed(again, { calls: [] })).rejects.toMatchObject({
      code: 'claim_lost',
    });
  });
});
