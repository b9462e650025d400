import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { StreamPage } from '@call-attribution/node-stream';
import { builtFile, testStores } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, describe, expect, test } from 'vitest';
import type { Target } from '../../src/index.ts';
import { pinnedJob, planOf, readingOf } from '../filled-parcels.ts';
import { all, pagesOf } from '../real-pages.ts';
import { folderPlace, storePlace, type TargetPlace } from '../target-places.ts';
import { largeParcel, readAs } from '../target-story.ts';

const stops = rounds(10, 120);
const writer = await builtFile(new URL('../fixtures/stopped-writer.ts', import.meta.url).href);
const base = mkdtempSync(join(tmpdir(), 'fleet-stopped-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const sids = largeParcel.calls.map(({ sid }) => sid);
let pages: readonly StreamPage[] = [];

/** A writer that has claimed its parcel, and what it says at its end. */
async function startWriter(into: string, account: string, where: string) {
  const child = spawn(process.execPath, [writer, into, account, where], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => String((await lines.next()).value);
  expect(await next()).toBe('claimed');
  const said = next();
  return { child, said, ended: Promise.all([said, once(child, 'exit')]).then(() => said) };
}

/** Whether a process is stopped, as Linux says. */
const isStopped = ({ pid }: ChildProcess): boolean =>
  / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/, ''));

const places: [kind: string, make: () => Promise<TargetPlace>][] = [
  ['a folder', async () => folderPlace(mkdtempSync(join(base, 'out-')))],
  ...testStores()
    .filter(({ kind }) => kind === 'postgres')
    .map(({ kind, newUrl }): (typeof places)[number] => [kind, async () => storePlace(await newUrl())]),
];

describe.each(places)('a target in %s', (kind, make) => {
  const tally = openDrill({
    name: `fleet-stopped-${kind.replaceAll(' ', '-')}`,
    kind: 'stops',
    what: 'A worker is stopped with SIGSTOP while it writes a parcel, once inside a transaction on purpose; another one claims and commits it, the first goes on: its claim is lost and no record of it counts',
  });

  test('takes nothing of a worker that was stopped once another one has claimed', async () => {
    pages = await pagesOf(readAs('next', largeParcel), 10);
    const place = await make();
    const job = pinnedJob(place.into);
    await using target = await place.open(job);
    await target.pin(job);

    /** Another worker takes the parcel over. True when it had to. */
    const takeOver = async (account: string): Promise<boolean> => {
      const claim = await target.claim(account, largeParcel.parcel, 'next');
      if (claim.done !== null) return false;
      for (const page of pages) await claim.put(page);
      await claim.commit(readingOf(account, largeParcel, 'next'));
      return true;
    };
    const judge = async (account: string, wasTaken: boolean, said: string) => {
      expect(said).toBe(wasTaken ? 'lost' : 'committed');
      const [verdict] = await all((target as Target).verdicts(account));
      expect(verdict?.by).toBe(wasTaken ? 'next' : 'stopped');
      const records = await place.records(account);
      tally.compare(
        sids,
        records.map(({ sid }) => sid),
      );
      expect(new Set(records.map(({ city }) => city))).toEqual(new Set([verdict?.by]));
      if (verdict) expect(await target.inspect(account, verdict)).toBeNull();
    };

    // How long a writer takes that nobody stops.
    await target.plan({ id: 'first' }, async () => planOf([largeParcel]));
    const free = await startWriter(place.into, 'first', '');
    const began = performance.now();
    expect(await free.said).toBe('committed');
    const usualMs = performance.now() - began;
    await free.ended;

    const stop = async (round: number) => {
      const account = `round-${round}`;
      await target.plan({ id: account }, async () => planOf([largeParcel]));
      const isInside = kind === 'postgres' && round === 0;
      const { child, ended } = await startWriter(place.into, account, isInside ? 'inside' : '');
      if (!isInside) {
        await delay(Math.random() * usualMs);
        child.kill('SIGSTOP');
      } else while (!isStopped(child)) await delay(10);
      const began = performance.now();
      const wasTaken = await takeOver(account);
      if (performance.now() - began > 1_000) tally.happened('stopped in a transaction');
      if (wasTaken) tally.happened('taken over');
      tally.happened('stops');
      child.kill('SIGCONT');
      await judge(account, wasTaken, await ended);
    };
    // Several at once: they mostly wait until the server ends a transaction of a stopped worker.
    let next = 0;
    const lane = async () => {
      for (let round = next++; round < stops; round = next++) await tally.run(() => stop(round));
    };
    await Promise.all([lane(), lane(), lane()]);
    expect(tally.events['taken over']).toBeGreaterThan(stops / 4);
    if (kind === 'postgres') expect(tally.events['stopped in a transaction']).toBeGreaterThan(0);
  }, 1_800_000);
});
