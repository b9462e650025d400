import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { day, formatNaive, hour } from '@call-attribution/core/time';
import { syncStateFrom } from '@call-attribution/node-stream';
import { expect, test } from 'vitest';
import { openScene, type Scene } from './account-scene.ts';

const sync = { every: day, lookback: 3 * day, settle: 10 * day };

/** A call at a time. */
const callAt = (time: number, sid: string, more: Partial<Call> = {}): Call => ({
  ...(fixtureCalls(1)[0] as Call),
  sid,
  date_added: formatNaive(time),
  ppc_status: 'Processed',
  ...more,
});

/** Four calls a day. */
const start = Date.UTC(2024, 0, 1, 3);
const history = (days: number) =>
  Array.from({ length: 4 * days }, (_, i) => callAt(start + i * 6 * hour, `C${String(i).padStart(4, '0')}`));

const mirror = (scene: Scene) =>
  [...scene.rows.values()].map(({ sid, ppc_campaign }) => `${sid} ${ppc_campaign}`).sort();
const source = (scene: Scene) =>
  scene.server.calls.map(({ sid, ppc_campaign }) => `${sid} ${ppc_campaign}`).sort();

test('the first sync of a store finds what came late or changed while the backfill ran, and later ones what is new', async () => {
  await using scene = await openScene({ calls: history(18), kind: 'store', perParcel: 20, job: { sync } });
  await scene.work();
  await scene.close();
  const { calls } = scene.server;
  const change = (index: number, ppc_campaign: string) => {
    calls[index] = { ...(calls[index] as Call), ppc_campaign };
  };
  change(40, 'changed while the backfill ran');
  calls.push(callAt(start + 12 * day + hour, 'late'), callAt(start + 18 * day + hour, 'new'));
  await scene.sync();
  expect(mirror(scene)).toEqual(source(scene));
  expect(scene.account()).toMatchObject({
    phase: 'syncing',
    by: null,
    notBefore: scene.clock.now + day,
    sync: { runs: 1, at: scene.clock.now },
  });

  scene.clock.now += day;
  change(
    calls.findIndex(({ sid }) => sid === 'new'),
    'changed later',
  );
  calls.push(callAt(start + 19 * day, 'newer'));
  const asked = scene.server.requests.length;
  await scene.sync();
  expect(mirror(scene)).toEqual(source(scene));
  expect(scene.account().sync).toMatchObject({ runs: 2 });
  // It looks back three days, not ten.
  expect(decodeURIComponent(scene.server.requests[asked]?.url ?? '').replaceAll('+', ' ')).toContain(
    '2024-01-16',
  );
});

test('the first sync looks back as far when a sync of the same account ran before the job', async () => {
  for (const filter of ['', 'inc_gce:1']) {
    await using scene = await openScene({ calls: history(18), kind: 'store', perParcel: 20, job: { sync } });
    await scene.work();
    await scene.close();
    const since = formatNaive(start + 17 * day);
    scene.synced.state = syncStateFrom({ filter, version: 'v3', since, lookback: sync.lookback });
    const { calls } = scene.server;
    calls[40] = { ...(calls[40] as Call), ppc_campaign: 'changed while the backfill ran' };
    await scene.sync();
    expect(mirror(scene)).toEqual(source(scene));
  }
});

test('a first sync that was interrupted continues', async () => {
  const more = { perParcel: 20, maxRows: 8, job: { sync } };
  await using scene = await openScene({ calls: history(18), kind: 'store', ...more });
  await scene.work();
  await scene.close();
  scene.server.next({}, {}, {}, {}, { status: 401 });
  await expect(scene.sync()).rejects.toMatchObject({ code: 'unauthorized' });
  const [part] = scene.synced.state?.parts ?? [];
  expect(part?.stretches.map(({ is }) => is)).toContain('read');
  scene.server.calls.push(callAt(start + 18 * day + hour, 'new'));
  await scene.sync();
  expect(mirror(scene)).toEqual(source(scene));
});

test('a sync that is fenced off gives the account back and is not a failure', async () => {
  await using scene = await openScene({ calls: history(18), kind: 'store', perParcel: 20, job: { sync } });
  await scene.work();
  await scene.close();
  scene.server.next({ before: () => void scene.target.sync('101', 'retry')?.load() });
  await scene.sync();
  expect(scene.account()).toMatchObject({ phase: 'syncing', by: null, tries: 0, aside: null, sync: null });
  expect(scene.events.at(-1)).toMatchObject({ outcome: 'later', code: 'claim_lost' });
});

test('a sync of a job that begins at a time brings nothing from before it', async () => {
  const from = formatNaive(start + 14 * day);
  await using scene = await openScene({ calls: history(18), kind: 'store', job: { sync, from } });
  await scene.sync();
  expect([...scene.rows.values()].every(({ date_added }) => date_added >= from)).toBe(true);
  expect(scene.rows.size).toBeGreaterThan(10);
});

test('files are continued by new parcels, and those that are not settled are read again', async () => {
  await using scene = await openScene({ calls: history(18), perParcel: 8, job: { sync } });
  await scene.work();
  await scene.close();
  const before = scene.plan();
  const unsettled = before.parcels
    .filter(({ to }) => to > formatNaive(Date.UTC(2024, 0, 9, 10)))
    .map(({ index }) => index);
  scene.server.calls.push(
    ...Array.from({ length: 20 }, (_, i) => callAt(start + 18.5 * day + i * hour, `new-${i}`)),
  );
  scene.clock.now = scene.account().notBefore;
  await scene.sync();
  const after = scene.plan();
  expect(after.parcels.slice(0, before.parcels.length)).toEqual(before.parcels);
  expect(after.to).toBe(formatNaive(scene.clock.now - 14 * hour));
  const added = after.parcels.slice(before.parcels.length).map(({ index }) => index);
  expect(added.length).toBeGreaterThan(0);
  expect(scene.account()).toMatchObject({
    phase: 'reading',
    parcels: after.parcels.length,
    sync: { runs: 1 },
  });
  expect(await scene.work()).toEqual([...unsettled, ...added]);
  await scene.close();
  const inPlan = scene.server.calls.filter(({ date_added }) => date_added < after.to).length;
  expect(scene.account()).toMatchObject({
    phase: 'syncing',
    notBefore: scene.clock.now + day,
    verdict: { records: inPlan, total: inPlan },
  });
});

test('a round of files in which nothing can have changed writes nothing but its time', async () => {
  const calls = history(2);
  await using scene = await openScene({ calls, job: { sync } });
  await scene.work();
  await scene.close();
  scene.clock.now += 40 * day;
  await scene.set({ sync: { runs: 1, new: 0, changed: 0, pending: 0, at: scene.clock.now - day } });
  await scene.sync();
  expect(scene.account()).toMatchObject({
    phase: 'syncing',
    notBefore: scene.clock.now + day,
    sync: { runs: 2 },
  });
  expect(await scene.work()).toEqual([]);
});
