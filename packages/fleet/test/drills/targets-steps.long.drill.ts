import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtFile, testStores } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, describe, expect, test } from 'vitest';
import { openTarget } from '../../src/target/open-target.ts';
import { pinnedJob } from '../filled-parcels.ts';
import { all } from '../real-pages.ts';
import { folderPlace, storePlace, type TargetPlace } from '../target-places.ts';
import { account, after, filled, liveThrough } from '../target-story.ts';

const worker = await builtFile(new URL('../fixtures/step-worker.ts', import.meta.url).href);
const base = mkdtempSync(join(tmpdir(), 'fleet-steps-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Runs the worker until it is killed or done. Returns what it says of its steps. */
function run(into: string, killAfter: number): Promise<string> {
  const child = spawn(process.execPath, [worker, into, String(killAfter)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (data: Buffer) => {
    said += data;
  });
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code, signal) =>
      signal === 'SIGKILL' || code === 0 ? done(said) : fail(new Error(`The worker ended with ${code}.`)),
    );
  });
}

const sids = filled.flatMap(({ calls }) => calls.map(({ sid }) => sid));
const parcelOf = (sid: string) => filled.findIndex(({ calls }) => calls.some((call) => call.sid === sid));

/** Whatever was done last: the records of a committed parcel are those of its verdict, and no file is there in part. */
async function checkKilled(place: TargetPlace, isWhole: boolean): Promise<void> {
  const records = await place.records(account);
  expect(new Set(records.map(({ sid }) => sid)).size).toBe(records.length);
  const target = await openTarget(place.into, pinnedJob(place.into));
  for await (const verdict of target.verdicts(account)) {
    expect(await target.inspect(account, verdict)).toBeNull();
    const own = records.filter(({ sid }) => parcelOf(sid) === verdict.index);
    expect(own).toHaveLength(verdict.records);
    expect(new Set(own.map(({ city }) => city))).toEqual(new Set([verdict.by]));
  }
  if (isWhole)
    for (const index of filled.keys()) {
      const own = records.filter(({ sid }) => parcelOf(sid) === index);
      expect([0, filled[index]?.calls.length]).toContain(own.length);
      expect(new Set(own.map(({ city }) => city)).size).toBeLessThan(2);
    }
  await target.close();
}

/** Another worker continues there, and everything is there once. */
async function finish(place: TargetPlace): Promise<string[]> {
  const job = pinnedJob(place.into);
  const target = await openTarget(place.into, job);
  await liveThrough(target, job, 'w2');
  expect(await target.planOf(account)).toEqual(after);
  const verdicts = await all(target.verdicts(account));
  expect(verdicts.map(({ index }) => index).sort()).toEqual([0, 1, 2]);
  expect(verdicts.find(({ index }) => index === 0)?.by).toBe('w2 again');
  for (const verdict of verdicts) expect(await target.inspect(account, verdict)).toBeNull();
  await target.close();
  return (await place.records(account)).map(({ sid }) => sid);
}

const places: [kind: string, make: () => Promise<TargetPlace>, isWhole: boolean][] = [
  ['a folder', async () => folderPlace(mkdtempSync(join(base, 'out-'))), true],
  ...testStores().map(({ kind, newUrl }): (typeof places)[number] => [
    kind,
    async () => storePlace(await newUrl()),
    false,
  ]),
];

describe.each(places)('a target in %s', (kind, make, isWhole) => {
  const tally = openDrill({
    name: `fleet-steps-${kind.replaceAll(' ', '-')}`,
    kind: 'kills',
    what: 'A worker is killed after each call of the file system, or after statements, in turn; what it committed is whole, and another one ends with every record once',
  });

  test('is right and whole whenever a worker is killed', async () => {
    const steps = Number(await run((await make()).into, 0));
    expect(steps).toBeGreaterThan(30);
    // Databases have a drill of their own for kills, so some of their statements are enough. Which steps are taken is left to
    // chance, so that after a few runs it was each of them.
    const every = Math.max(1, Math.round(steps / rounds(isWhole ? 24 : 12, steps)));
    const first = 1 + Math.floor(Math.random() * every);
    const kills = Array.from({ length: Math.floor(steps / every) }, (_, i) => first + i * every);
    const lane = async () => {
      for (let at = kills.shift(); at !== undefined; at = kills.shift()) {
        const place = await make();
        const killAfter = at;
        await tally.run(async () => {
          expect(await run(place.into, killAfter)).toBe('');
          tally.happened('kills');
          await checkKilled(place, isWhole);
          tally.compare(sids, await finish(place));
          if (!isWhole) return;
          for (const rest of ['claims', 'dead'])
            expect(await readdir(join(place.into.slice('folder:'.length), '.fleet', rest))).toEqual([]);
        });
      }
    };
    await Promise.all([lane(), lane(), lane()]);
  }, 1_800_000);
});
