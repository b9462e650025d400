import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { PinnedJob } from '../src/index.ts';
import { openTarget } from '../src/target/open-target.ts';
import { cutIntoParcels, type FilledParcel, pinnedJob, planOf, readingOf } from './filled-parcels.ts';
import { all, callsOf, pagesOf } from './real-pages.ts';
import { targetLaws } from './target-laws.ts';
import { folderPlace } from './target-places.ts';

const base = mkdtempSync(join(tmpdir(), 'fleet-folder-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));
let folders = 0;
const newFolder = () => {
  folders += 1;
  return join(base, String(folders));
};

targetLaws('a folder', async () => folderPlace(newFolder()));

describe('a target in a folder', () => {
  const [first, second] = cutIntoParcels(callsOf(60), 30) as [FilledParcel, FilledParcel];
  const read = Promise.all([first, second].map(({ calls }) => pagesOf(calls, 10)));

  async function opened(changes: Partial<PinnedJob> = {}) {
    const folder = newFolder();
    const job = pinnedJob(`folder:${folder}`, changes);
    const target = await openTarget(job.into, job);
    await target.pin(job);
    await target.plan({ id: '101' }, async () => planOf([first, second]));
    const fill = async (filled: FilledParcel) => {
      const claim = await target.claim('101', filled.parcel, 'w1');
      for (const page of (await read)[filled.parcel.index] ?? []) await claim.put(page);
      return claim.commit(readingOf('101', filled));
    };
    return { folder, job, target, fill };
  }
  const filesOf = async (folder: string) =>
    (await readdir(folder, { recursive: true }))
      .filter((name) => statSync(join(folder, name)).isFile())
      .sort();

  test('names files by parcel, in a folder for each month unless the job says none, and leaves nothing else', async () => {
    const { folder, fill } = await opened();
    await fill(first);
    await fill(second);
    const key = second.parcel.from?.replace(' ', 'T').replaceAll(':', '');
    expect(await filesOf(folder)).toEqual([
      '_fleet.json',
      '_plan/101.json',
      `_verdicts/account=101/${key}.json`,
      '_verdicts/account=101/start.json',
      `account=101/month=2024-01/${key}.ndjson`,
      'account=101/month=2024-01/start.ndjson',
    ]);
    expect(await readdir(join(folder, '.fleet', 'claims'))).toEqual([]);
    expect(await readdir(join(folder, '.fleet', 'dead'))).toEqual([]);
    const plain = await opened({ partition: 'none', format: 'ndjson.gz' });
    await plain.fill(second);
    expect(await filesOf(plain.folder)).toContain(`account=101/${key}.ndjson.gz`);
  });

  test('leaves a file as it is when a reading gives the same bytes', async () => {
    const { folder, target, fill } = await opened();
    await fill(first);
    const file = join(folder, 'account=101/month=2024-01/start.ndjson');
    const before = statSync(file, { bigint: true });
    await target.reopen('101', first.parcel);
    const verdict = await fill(first);
    expect(statSync(file, { bigint: true })).toEqual(
      expect.objectContaining({ ino: before.ino, mtimeNs: before.mtimeNs }),
    );
    expect(await all(target.verdicts('101'))).toEqual([verdict]);
    expect(await readdir(join(folder, '.fleet', 'claims'))).toEqual([]);
  });

  test('reads a parcel again whose file is gone or cut off, and says what is wrong with a file', async () => {
    const { folder, target, fill } = await opened();
    const verdict = await fill(first);
    const file = join(folder, 'account=101/month=2024-01/start.ndjson');
    const bytes = readFileSync(file);
    bytes[10] = (bytes[10] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    expect(await target.inspect('101', verdict)).toContain('SHA-256');
    truncateSync(file, 100);
    expect(await target.inspect('101', verdict)).toContain('has 100 bytes');
    expect((await target.claim('101', first.parcel, 'w2')).done).toBeNull();
    expect(await all(target.verdicts('101'))).toEqual([]);
    rmSync(file);
    expect(await target.inspect('101', verdict)).toContain('is missing');
    expect(await all(target.verdicts('101'))).toEqual([]);
    const again = await fill(first);
    expect(await target.inspect('101', again)).toBeNull();
  });

  test('writes in the format of the job that was pinned, whatever job a worker brings', async () => {
    const { folder, target, job } = await opened();
    await using other = await openTarget(job.into, { ...job, format: 'csv.gz', partition: 'none' });
    const claim = await other.claim('101', first.parcel, 'w2');
    for (const page of (await read)[0] ?? []) await claim.put(page);
    const verdict = await claim.commit(readingOf('101', first, 'w2'));
    expect(await filesOf(folder)).toContain('account=101/month=2024-01/start.ndjson');
    expect(await target.inspect('101', verdict)).toBeNull();
  });

  test('refuses what it cannot fill before anything is read', async () => {
    const cases: [string, (folder: string) => void, string][] = [
      ['a file', (folder) => writeFileSync(folder, ''), 'target_unfit'],
      [
        'a folder with something else in it',
        (folder) => {
          mkdirSync(folder);
          writeFileSync(join(folder, 'notes.txt'), '');
        },
        'target_unfit',
      ],
    ];
    for (const [, prepare, code] of cases) {
      const folder = newFolder();
      prepare(folder);
      const into = `folder:${folder}`;
      await expect(openTarget(into, pinnedJob(into))).rejects.toMatchObject({ name: 'FleetError', code });
      const below = `folder:${join(folder, 'below')}`;
      if (statSync(folder).isFile())
        await expect(openTarget(below, pinnedJob(below))).rejects.toMatchObject({ code: 'target_unfit' });
    }
    const { job } = await opened();
    const another = { ...job, name: 'another' };
    await expect(openTarget(job.into, another)).rejects.toMatchObject({ code: 'job_differs' });
    const nowhere = `folder:${newFolder()}`;
    await expect(openTarget(nowhere, null)).rejects.toMatchObject({ code: 'target_unavailable' });
    // An empty disk has this folder.
    const mounted = newFolder();
    mkdirSync(join(mounted, 'lost+found'), { recursive: true });
    await using target = await openTarget(`folder:${mounted}`, pinnedJob(`folder:${mounted}`));
    expect(await target.planOf('101')).toBeNull();
  });

  test('refuses a job and a plan of a later release', async () => {
    const { folder, job, target } = await opened();
    const plan = join(folder, '_plan/101.json');
    writeFileSync(plan, JSON.stringify({ ...JSON.parse(readFileSync(plan, 'utf8')), format: 2 }));
    await expect(target.planOf('101')).rejects.toMatchObject({ code: 'job_newer' });
    writeFileSync(join(folder, '_fleet.json'), JSON.stringify({ format: 2, job }));
    await expect(openTarget(job.into, job)).rejects.toMatchObject({ code: 'job_newer' });
  });

  test('a target whose folder was taken away is unavailable, not lost to another worker', async () => {
    const { folder, target } = await opened();
    rmSync(folder, { recursive: true });
    await expect(target.claim('101', first.parcel, 'w1')).rejects.toMatchObject({
      code: 'target_unavailable',
      isRetryable: true,
    });
  });
});
