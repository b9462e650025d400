import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openStore } from '@call-attribution/store';
import fc from 'fast-check';
import { expect } from 'vitest';
import {
  BoardMemory,
  createWorker,
  memoryBoard,
  openTarget,
  type ParcelClaim,
  type PinnedJob,
  type Target,
} from '../src/index.ts';
import { retried } from '../src/lanes/account-entry.ts';
import { accountKey } from '../src/lanes/keys.ts';
import type { AccountValue } from '../src/lanes/values.ts';
import { changeEntry } from '../src/worker/change-entry.ts';
import { emptied, type Lies, lyingBoard, numbers } from './lying-board.ts';
import { Killed, mortalBoard, mortalFetch, mortalTarget, newLife } from './mortal-parts.ts';
import {
  accountOn,
  callsOf,
  fakeApi,
  keysOf,
  newShelf,
  planOf,
  plantJob,
  shelfTarget,
  sidsOn,
  testJob,
} from './worker-scene.ts';

/** A place for records, which each worker opens for itself, and a look at it without a worker. */
export interface Place {
  readonly job: PinnedJob;
  open(): Promise<Target>;
  /** The sids of all records that a reader finds; one that lies there twice comes twice. */
  sids(): Promise<string[]>;
}

const counts: Readonly<Record<string, number>> = { 101: 13, 102: 7, 103: 0 };
const calls = new Map(Object.entries(counts).map(([id, count]) => [id, callsOf(id, count)]));
const plans = new Map([...calls].map(([id, list]) => [id, planOf(list, 3)]));
const all = [...calls.values()]
  .flat()
  .map(({ sid }) => sid)
  .sort();

export const placeInMemory = (): Place => {
  const job = testJob();
  const shelf = newShelf(plans);
  return { job, open: async () => shelfTarget(shelf, job), sids: async () => sidsOn(shelf) };
};

export const placeInFolder = (folder: string): Place => {
  const job = testJob({ into: `folder:${folder}`, format: 'ndjson', partition: 'month' });
  return {
    job,
    open: () => openTarget(job.into, job),
    async sids() {
      const names = await readdir(folder, { recursive: true });
      const parts = names.filter((name) => name.startsWith('account=') && name.endsWith('.ndjson'));
      const texts = await Promise.all(parts.map((name) => readFile(join(folder, name), 'utf8')));
      return texts
        .flatMap((text) =>
          text
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line).sid as string),
        )
        .sort();
    },
  };
};

export const placeInStore = (url: string): Place => {
  const job = testJob({ into: url });
  return {
    job,
    open: () => openTarget(url, job),
    async sids() {
      await using store = await openStore(url);
      expect(await store.check()).toEqual([]);
      const sids: string[] = [];
      for (const id of calls.keys()) for await (const { sid } of store.calls(id)) sids.push(sid);
      return sids.sort();
    },
  };
};

/** What is done to three workers and to their board. */
export interface Schedule {
  readonly seed: number;
  /** How often the board lies. */
  readonly lies: number;
  /** The awaits at which workers die. */
  readonly deaths: readonly (number | null)[];
  readonly stalls: number;
  /** All data of the board are lost in between. */
  readonly isEmptied: boolean;
}

export const schedules: fc.Arbitrary<Schedule> = fc.record({
  seed: fc.nat(),
  lies: fc.constantFrom(0, 0.1, 0.5, 1),
  deaths: fc.array(fc.option(fc.integer({ min: 1, max: 90 }), { freq: 2 }), { minLength: 3, maxLength: 3 }),
  stalls: fc.constantFrom(0, 0.01, 0.05),
  isEmptied: fc.boolean(),
});

const ttl = 60;

/**
 * Three workers on a board that lies, who die and stand still wherever they wait. Then the board becomes honest, the job is planned
 * again as far as the board has lost it, and one more worker comes: the target has every record once, and every account is proved.
 */
export async function everyRecordOnce(
  place: Place,
  schedule: Schedule,
  compare: (must: readonly string[], found: readonly string[]) => void = () => {},
): Promise<{ told: Lies['told']; deaths: number; stalls: number }> {
  const { seed, deaths, stalls } = schedule;
  const random = numbers(seed);
  const lies: Lies = { rate: schedule.lies, random, told: {} };
  const api = fakeApi(calls);
  const left: ParcelClaim[] = [];
  let memory = new BoardMemory();
  await using first = await place.open();
  await first.pin(place.job);
  for (const [id, plan] of plans) await first.plan({ id }, async () => plan);
  await plantJob(memoryBoard(memory), place.job, plans);

  const hire = async (name: string, diesAt: number | null) => {
    const leaving = new AbortController();
    const life = newLife({ diesAt, stalls, stallMs: 2 * ttl, random }, () => leaving.abort());
    const real = await place.open();
    const board = lyingBoard(memory, lies);
    const worker = createWorker({
      board: mortalBoard(life, board),
      target: mortalTarget(life, real, left),
      credentials: keysOf,
      fetch: mortalFetch(life, api.fetch),
      name,
      slots: 2,
      ttl,
      random,
    });
    const work = async (): Promise<void> => {
      try {
        await worker.run(leaving.signal);
      } catch (error) {
        if (!life.isDead || !(error instanceof Killed)) throw error;
      } finally {
        await board.close();
        await real.close();
      }
    };
    const end = work();
    return { end, leave: () => worker.leave(0), life };
  };

  const crew = await Promise.all(deaths.map((diesAt, i) => hire(`w-${i}`, diesAt)));
  // As long as there is something to lie about, or the last one has died.
  const ends = Promise.all(crew.map(({ end }) => end));
  await Promise.race([ends, new Promise((resolve) => setTimeout(resolve, 4 * ttl))]);
  lies.rate = 0;
  if (schedule.isEmptied) {
    await Promise.all(crew.map(({ leave }) => leave()));
    memory = await emptied(memory);
  }
  const honest = memoryBoard(memory);
  for (let round = 0; round < 5; round += 1) {
    await plantJob(honest, place.job, plans);
    for (const id of calls.keys())
      if (accountOn(honest, id)?.phase === 'aside')
        await changeEntry<AccountValue>(honest, accountKey(id), retried);
    const last = await hire(`w-last-${round}`, null);
    await last.end;
    if ([...calls.keys()].every((id) => accountOn(honest, id)?.phase === 'final')) break;
  }
  await ends;
  await honest.close();

  const sids = await place.sids();
  await Promise.all(left.map((claim) => claim.drop()));
  compare(all, sids);
  expect(sids).toEqual(all);
  for (const [id, plan] of plans) {
    const verdicts = [];
    for await (const verdict of first.verdicts(id)) verdicts.push(verdict);
    verdicts.sort((a, b) => a.index - b.index);
    expect(verdicts.map(({ index, records, total }) => ({ index, records, total }))).toEqual(
      plan.parcels.map(({ index, total }) => ({ index, records: total, total })),
    );
    expect(accountOn(honest, id)).toMatchObject({
      phase: 'final',
      verdict: { records: calls.get(id)?.length },
    });
  }
  return {
    told: lies.told,
    deaths: crew.filter(({ life }) => life.isDead).length,
    stalls: crew.reduce((sum, { life }) => sum + life.stalls, 0),
  };
}
