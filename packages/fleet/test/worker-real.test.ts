import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeys } from '@call-attribution/core';
import { formatNaive } from '@call-attribution/core/time';
import { startSandbox } from '@call-attribution/sandbox';
import { expect, it, onTestFinished } from 'vitest';
import {
  BoardMemory,
  type CredentialSource,
  createWorker,
  type Job,
  memoryBoard,
  openTarget,
  type ParcelVerdict,
  pinJob,
  planJob,
  readStatus,
} from '../src/index.ts';
import { Killed, mortalBoard, mortalFetch, mortalTarget, newLife } from './mortal-parts.ts';

it('two workers bring three accounts into a folder, although one of them is killed in the middle', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'worker-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const to = formatNaive(Date.now() - 86_400_000);
  await using sandbox = await startSandbox({ records: 300, accounts: 3, days: 60, to });
  const keys: CredentialSource = async (_reference, account) => {
    const { accessKey, secretKey } = sandbox.accounts.find(({ id }) => id === account) ?? {};
    return apiKeys(accessKey ?? '', secretKey ?? '');
  };
  const job: Job = {
    name: 'history',
    baseUrl: sandbox.url,
    accounts: sandbox.accounts.map(({ id }) => ({ id })),
    filter: 'inc_gce:1',
    into: `folder:${folder}`,
    format: 'ndjson',
    parcel: 40,
  };
  const memory = new BoardMemory();
  const board = memoryBoard(memory);
  const pinned = pinJob(job);
  await using target = await openTarget(job.into, pinned);
  const plan = await planJob(job, { board, target, credentials: keys });
  expect(plan).toMatchObject({ accounts: 3, records: 300, aside: [] });

  // The first worker is gone silently, once it has committed some parcels and is in the middle of others.
  const leaving = new AbortController();
  const life = newLife({ diesAt: 50, stalls: 0, stallMs: 0, random: Math.random }, () => leaving.abort());
  const open: { drop(): Promise<void> }[] = [];
  await using own = await openTarget(job.into, pinned);
  const first = createWorker({
    board: mortalBoard(life, memoryBoard(memory)),
    target: mortalTarget(life, own, open as never),
    fetch: mortalFetch(life, (url, init) => fetch(url, init)),
    credentials: keys,
    name: 'w-first',
    slots: 2,
    ttl: 300,
  });
  const second = createWorker({ board, credentials: keys, name: 'w-second', slots: 2, ttl: 300 });
  const died = first.run(leaving.signal).catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error;
  });
  const summary = await second.run();
  await died;
  await Promise.all(open.map((claim) => claim.drop()));

  expect(life.isDead).toBe(true);
  expect(summary.end).toBe('over');
  const status = readStatus(board);
  expect(status.records).toMatchObject({ done: 300, total: 300 });
  const verdicts: ParcelVerdict[] = [];
  for (const { id, records } of sandbox.accounts) {
    const sids: string[] = [];
    for (const name of await readdir(folder, { recursive: true }))
      if (name.startsWith(`account=${id}/`) && name.endsWith('.ndjson'))
        for (const line of (await readFile(join(folder, name), 'utf8')).split('\n'))
          if (line !== '') sids.push(JSON.parse(line).sid);
    expect(sids).toHaveLength(records);
    expect(new Set(sids).size).toBe(records);
    for await (const verdict of target.verdicts(id)) verdicts.push(verdict);
  }
  expect(verdicts).toHaveLength(plan.parcels);
  for (const verdict of verdicts) {
    expect(verdict).toMatchObject({ records: verdict.total, skipped: 0 });
    expect(await target.inspect(verdict.account, verdict)).toBeNull();
  }
  expect(new Set(verdicts.map(({ by }) => by))).toEqual(new Set(['w-first', 'w-second']));
});
