import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { apiKeys, createClient } from '@call-attribution/core';
import { planSlices } from '@call-attribution/node-stream';
import { startSandbox } from '@call-attribution/sandbox';
import { builtFile, testStores } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { findNats, startNats } from '@call-attribution/test-tools/nats';
import { describe, expect, test } from 'vitest';
import {
  type AccountValue,
  type Job,
  type JobValue,
  type LaneValue,
  openBoard,
  openTarget,
} from '../../src/index.ts';

const tally = openDrill({
  name: 'killed-planner',
  kind: 'kills',
  what: 'One planner of a job, or two at once, are killed and started again; each account has one plan without a gap, which the board agrees with',
});
const stores = testStores();

describe.skipIf(findNats() === null)('a planner that is killed', () => {
  test.each([['folder', null] as const, ...stores.map((store) => [store.kind, store] as const)])(
    'and started again ends with one plan for each account, in a target of kind %s',
    async (kind, store) => {
      const root = await mkdtemp(join(tmpdir(), 'calls-planner-'));
      const program = await builtFile(new URL('../fixtures/planner.ts', import.meta.url).href);
      const nats = await startNats();
      const sandbox = await startSandbox({ records: 1600, accounts: 8, days: 60 });
      const accounts = sandbox.accounts.map(({ id }) => ({ id }));
      for (const { id, accessKey, secretKey } of sandbox.accounts)
        await writeFile(join(root, `${id}.json`), JSON.stringify({ accessKey, secretKey }), { mode: 0o600 });
      const path = join(root, 'job.json');
      const plan = () => {
        const child = spawn(process.execPath, [program, nats.url, path, root], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const said = text(child.stdout);
        return { child, said, ended: once(child, 'exit') as Promise<[number | null, string | null]> };
      };
      try {
        for (let round = 0; round < rounds(2, 120); round += 1)
          await tally.run(async () => {
            const job: Job = {
              ...{
                name: `${kind}-${round}`,
                baseUrl: sandbox.url,
                accounts,
                parcel: 25,
                filter: 'inc_gce:1',
              },
              ...{ into: (await store?.newUrl()) ?? `folder:${join(root, `out-${round}`)}`, lanes: 3 },
              ...(store === null ? { format: 'ndjson.gz' as const } : {}),
            };
            await writeFile(path, JSON.stringify(job));
            for (let kills = 0; kills < 3; kills += 1) {
              const planners = [plan(), ...(round % 2 === 1 ? [plan()] : [])];
              // A few hundred milliseconds to start, then about one second of work.
              await Promise.race([
                delay(150 + (((round * 7 + kills) * 137) % 1100)),
                ...planners.map(({ ended }) => ended),
              ]);
              for (const { child } of planners) if (child.kill('SIGKILL')) tally.happened('kills');
              await Promise.all(planners.map(({ ended }) => ended));
            }
            const last = [plan(), plan()];
            for (const { ended, said } of last) {
              expect(await ended).toEqual([0, null]);
              expect(await said).toContain('planned 8');
            }
            await expectPlanned(job, nats.url);
          });
      } finally {
        await sandbox.close();
        await nats.close();
        await rm(root, { recursive: true, force: true });
      }
    },
    900_000,
  );
});

/** The board says what the plans in the target say, and these have each record once. */
async function expectPlanned(job: Job, url: string): Promise<void> {
  await using board = await openBoard(url, job.name);
  const entry = board.get('job');
  if (entry === undefined) throw new Error('the board has no job');
  const { job: pinned, ...sums } = entry.value as unknown as JobValue;
  await using target = await openTarget(job.into, pinned);
  expect(await target.pin(pinned)).toEqual(pinned);
  let [parcels, records] = [0, 0];
  for (const { id } of job.accounts) {
    const plan = await target.planOf(id);
    if (plan === null) throw new Error(`account ${id} has no plan`);
    expect(plan.to).toBe(pinned.to);
    expect(plan.parcels.map(({ from }) => from)).toEqual([
      null,
      ...plan.parcels.slice(0, -1).map(({ to }) => to),
    ]);
    expect(plan.parcels.at(-1)?.to).toBe(pinned.to);
    const total = plan.parcels.reduce((sum, parcel) => sum + parcel.total, 0);
    const of = plan.parcels.length;
    expect(board.get(`account.${id}`)?.value as unknown as AccountValue).toMatchObject({
      phase: 'reading',
      parcels: of,
      total,
    });
    for (let k = 0; k < 3; k += 1)
      expect(board.get(`lane.${id}.${k}`)?.value as unknown as LaneValue).toMatchObject({
        parcels: of,
        next: k,
        by: null,
      });
    parcels += of;
    records += total;
  }
  expect(sums).toMatchObject({ state: 'running', accounts: 8, parcels, records });
}

test('plans of the generated calls keep to their requests and sizes', async () => {
  const sandbox = await startSandbox({ records: 40_000, days: 365, to: '2026-11-01 00:00:00' });
  const [account] = sandbox.accounts;
  const auth = apiKeys(account?.accessKey, account?.secretKey);
  const client = createClient({ baseUrl: sandbox.url, auth });
  for (const records of [10_000, 2500, 500, 100])
    for (const by of ['none', 'month'] as const)
      await tally.run(async () => {
        const plan = await planSlices(client, {
          to: '2026-11-02 00:00:00',
          filter: 'inc_gce:1',
          records,
          by,
        });
        expect(plan.total).toBe(40_000);
        expect(plan.requests).toBeLessThanOrEqual(1.35 * plan.slices.length + 6);
        const sizes = plan.slices.map(({ total }) => total / records);
        expect(Math.max(...sizes)).toBeLessThanOrEqual(1.3);
        if (by === 'none') expect(Math.min(...sizes)).toBeGreaterThanOrEqual(0.2);
      });
  await client.close();
  await sandbox.close();
}, 300_000);
