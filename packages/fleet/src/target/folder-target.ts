import { link, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { syncFolder } from '@call-attribution/node-stream/files';
import { FleetError } from '../errors.ts';
import type { PinnedJob } from '../job/job.ts';
import type { AccountPlan, ParcelVerdict } from '../parcels/parcel.ts';
import { committed, folderClaim, hashFile, leaveFolder, readVerdict, takeFolder } from './folder-claim.ts';
import { claimed, errnoOf, makeFolders, onDisk, orNull, readText, sizeOf, writeNew } from './folder-files.ts';
import { newFile, prepareFolder } from './folder-start.ts';
import { jobPath, parcelKey, partPath, planPath, verdictPath, verdictsPath } from './part-names.ts';
import { readPinned, writePinned } from './pinned-record.ts';
import { isSamePlan, noPlan, type PlanRecord, packPlan, unpackPlan } from './plan-record.ts';
import type { Target } from './target.ts';

/** Verdicts that are read at the same time. */
const readsAtOnce = 32;

/**
 * A folder as a target, on a disk or on a share of several machines: a file for each parcel, which gets its name by `rename` when
 * it is complete. A claim is a folder that the next claim moves away, and with it the part that was to be renamed.
 */
export async function openFolderTarget(into: string, job: PinnedJob | null): Promise<Target> {
  const root = resolve(into.slice('folder:'.length));
  await onDisk(into, () => prepareFolder(into, root, job));
  return folderTarget(into, root, job);
}

function folderTarget(name: string, root: string, given: PinnedJob | null): Target {
  let held: PinnedJob | null = null;
  const at = (path: string): string => join(root, path);
  const pinned = async (): Promise<PinnedJob | null> => {
    if (held !== null) return held;
    const text = await readText(at(jobPath));
    held = text === null ? null : readPinned(text, name);
    return held;
  };
  /** The job whose format and partition the files have. */
  const jobOf = async (): Promise<PinnedJob> => {
    const job = (await pinned()) ?? given;
    if (job !== null) return job;
    throw new FleetError('unknown_job', `No job was planned in ${name}. Plan it first.`);
  };
  /** Writes a file that is not there yet. Of several at once the first one stays. */
  const putFirst = async (path: string, text: string): Promise<void> => {
    const provisional = newFile(root);
    await writeNew(provisional, text);
    try {
      await makeFolders(dirname(path));
      await link(provisional, path);
      await syncFolder(path);
    } catch (cause) {
      const code = errnoOf(cause) ?? '';
      if (code === 'EEXIST') return;
      if (!linkless.has(code)) throw cause;
      const message = `The file system of ${name} has no hard links (${code}), which keep two plans apart. Use a disk or share that has them.`;
      throw new FleetError('target_unfit', message, { cause });
    } finally {
      await rm(provisional, { force: true });
    }
  };
  const planIn = async (account: string): Promise<AccountPlan | null> => {
    const text = await readText(at(planPath(account)));
    if (text === null) return null;
    const job = await pinned();
    return unpackPlan(JSON.parse(text) as PlanRecord, account, job?.name ?? null, name);
  };
  const textOf = async (account: string, plan: AccountPlan): Promise<string> =>
    `${JSON.stringify(packPlan((await jobOf()).name, account, plan))}\n`;
  const close = async (): Promise<void> => {};

  return {
    name,
    pin: (job) =>
      onDisk(name, async () => {
        await putFirst(at(jobPath), `${writePinned(job)}\n`);
        return (await pinned()) ?? job;
      }),
    async plan(account, make) {
      const kept = await onDisk(name, () => planIn(account.id));
      if (kept !== null) return kept;
      const made = await make();
      return onDisk(name, async () => {
        await putFirst(at(planPath(account.id)), await textOf(account.id, made));
        return (await planIn(account.id)) ?? made;
      });
    },
    planOf: (account) => onDisk(name, () => planIn(account)),
    continuePlan: (account, before, after) =>
      onDisk(name, async () => {
        for (;;) {
          const own = await takeFolder(root, account, 'plan');
          try {
            const kept = await planIn(account);
            if (kept === null) throw noPlan(account, name);
            if (!isSamePlan(kept, before)) return kept;
            const next = join(own, 'plan.json');
            const text = await textOf(account, after);
            await claimed(() => writeNew(next, text));
            await claimed(() => rename(next, at(planPath(account))));
            await syncFolder(at(planPath(account)));
            return after;
          } catch (error) {
            if (!(error instanceof FleetError && error.code === 'claim_lost')) throw error;
          } finally {
            await leaveFolder(own);
          }
          // Somebody else continues it at this moment: see whether they have, or try again.
          await delay(Math.random() * 50);
        }
      }),
    claim: async (account, parcel) => folderClaim({ name, root, job: await jobOf(), account, parcel }),
    reopen: (account, parcel) =>
      onDisk(name, async () => {
        // Whoever reads a parcel that was never committed keeps it.
        if ((await committed(root, account, parcel, await jobOf())) === null) return;
        const own = await takeFolder(root, account, parcelKey(parcel));
        const verdict = at(verdictPath(account, parcel));
        await orNull(rm(verdict));
        await syncFolder(verdict);
        await leaveFolder(own);
      }),
    async *verdicts(account) {
      const folder = at(verdictsPath(account));
      const names = (await onDisk(name, () => orNull(readdir(folder)))) ?? [];
      const files = names.filter((file) => file.endsWith('.json'));
      if (files.length === 0) return;
      const job = await onDisk(name, jobOf);
      // Without its file a verdict says nothing.
      const lies = async (verdict: ParcelVerdict): Promise<boolean> =>
        (await sizeOf(at(partPath(account, verdict, job)))) === verdict.bytes;
      for (let from = 0; from < files.length; from += readsAtOnce) {
        const some = files.slice(from, from + readsAtOnce);
        const contents = await onDisk(name, () =>
          Promise.all(some.map((file) => readText(join(folder, file)))),
        );
        const found = contents.map(readVerdict).filter((verdict) => verdict !== null);
        const there = await onDisk(name, () => Promise.all(found.map(lies)));
        yield* found.filter((_, i) => there[i]);
      }
    },
    count: async () => null,
    sync: () => null,
    inspect: (account, verdict) =>
      onDisk(name, async () => inspectFile(at(partPath(account, verdict, await jobOf())), verdict)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What is wrong with a file, or null. */
async function inspectFile(path: string, { bytes, sha256 }: ParcelVerdict): Promise<string | null> {
  const size = await sizeOf(path);
  if (size === null) return `${path} is missing.`;
  if (size !== bytes) return `${path} has ${size} bytes; ${bytes} were committed.`;
  return (await hashFile(path)) === sha256 ? null : `${path} has other bytes than were committed (SHA-256).`;
}

/** What file systems without hard links answer. */
const linkless: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);
