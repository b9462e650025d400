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
  const place = new FolderParcel(name, root, given);
  const close = async (): Promise<void> => {};
  return {
    name,
    ...planMethods(place),
    claim: async (account, parcel) => folderClaim({ name, root, job: await place.jobOf(), account, parcel }),
    reopen: (account, parcel) =>
      onDisk(name, async () => {
        // Whoever reads a parcel that was never committed keeps it.
        if ((await committed(root, account, parcel, await place.jobOf())) === null) return;
        const own = await takeFolder(root, account, parcelKey(parcel));
        const verdict = place.at(verdictPath(account, parcel));
        await orNull(rm(verdict));
        await syncFolder(verdict);
        await leaveFolder(own);
      }),
    verdicts: (account) => verdictsOf(place, account),
    count: async () => null,
    sync: () => null,
    inspect: (account, verdict) =>
      onDisk(name, async () =>
        inspectFile(place.at(partPath(account, verdict, await place.jobOf())), verdict),
      ),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A folder with the job whose files it has. */
class FolderParcel {
  readonly name: string;
  readonly root: string;
  readonly #given: PinnedJob | null;
  #held: PinnedJob | null = null;

  constructor(name: string, root: string, given: PinnedJob | null) {
    this.name = name;
    this.root = root;
    this.#given = given;
  }

  at(path: string): string {
    return join(this.root, path);
  }

  async pinned(): Promise<PinnedJob | null> {
    if (this.#held !== null) return this.#held;
    const text = await readText(this.at(jobPath));
    this.#held = text === null ? null : readPinned(text, this.name);
    return this.#held;
  }

  /** The job whose format and partition the files have. */
  async jobOf(): Promise<PinnedJob> {
    const job = (await this.pinned()) ?? this.#given;
    if (job !== null) return job;
    throw new FleetError('unknown_job', `No job was planned in ${this.name}. Plan it first.`);
  }

  async planIn(account: string): Promise<AccountPlan | null> {
    const text = await readText(this.at(planPath(account)));
    if (text === null) return null;
    const job = await this.pinned();
    return unpackPlan(JSON.parse(text) as PlanRecord, account, job?.name ?? null, this.name);
  }

  async textOf(account: string, plan: AccountPlan): Promise<string> {
    return `${JSON.stringify(packPlan((await this.jobOf()).name, account, plan))}\n`;
  }

  /** Writes a file that is not there yet. Of several at once the first one stays. */
  async putFirst(path: string, text: string): Promise<void> {
    const provisional = newFile(this.root);
    await writeNew(provisional, text);
    try {
      await makeFolders(dirname(path));
      await link(provisional, path);
      await syncFolder(path);
    } catch (cause) {
      const code = errnoOf(cause) ?? '';
      if (code === 'EEXIST') return;
      if (!linkless.has(code)) throw cause;
      const message = `The file system of ${this.name} has no hard links (${code}), which keep two plans apart. Use a disk or share that has them.`;
      throw new FleetError('target_unfit', message, { cause });
    } finally {
      await rm(provisional, { force: true });
    }
  }
}

function planMethods(place: FolderParcel) {
  const { name } = place;
  return {
    pin: (job) =>
      onDisk(name, async () => {
        await place.putFirst(place.at(jobPath), `${writePinned(job)}\n`);
        return (await place.pinned()) ?? job;
      }),
    async plan(account, make) {
      const kept = await onDisk(name, () => place.planIn(account.id));
      if (kept !== null) return kept;
      const made = await make();
      return onDisk(name, async () => {
        await place.putFirst(place.at(planPath(account.id)), await place.textOf(account.id, made));
        return (await place.planIn(account.id)) ?? made;
      });
    },
    planOf: (account) => onDisk(name, () => place.planIn(account)),
    continuePlan: (account, before, after) => onDisk(name, () => replacePlan(place, account, before, after)),
  } satisfies Partial<Target>;
}

async function replacePlan(
  place: FolderParcel,
  account: string,
  before: AccountPlan,
  after: AccountPlan,
): Promise<AccountPlan> {
  for (;;) {
    const own = await takeFolder(place.root, account, 'plan');
    try {
      const kept = await place.planIn(account);
      if (kept === null) throw noPlan(account, place.name);
      if (!isSamePlan(kept, before)) return kept;
      const next = join(own, 'plan.json');
      const text = await place.textOf(account, after);
      await claimed(() => writeNew(next, text));
      await claimed(() => rename(next, place.at(planPath(account))));
      await syncFolder(place.at(planPath(account)));
      return after;
    } catch (error) {
      if (!(error instanceof FleetError && error.code === 'claim_lost')) throw error;
    } finally {
      await leaveFolder(own);
    }
    // Somebody else continues it at this moment: see whether they have, or try again.
    await delay(Math.random() * 50);
  }
}

async function* verdictsOf(place: FolderParcel, account: string): AsyncGenerator<ParcelVerdict> {
  const { name } = place;
  const folder = place.at(verdictsPath(account));
  const names = (await onDisk(name, () => orNull(readdir(folder)))) ?? [];
  const files = names.filter((file) => file.endsWith('.json'));
  if (files.length === 0) return;
  const job = await onDisk(name, () => place.jobOf());
  // Without its file a verdict says nothing.
  const lies = async (verdict: ParcelVerdict): Promise<boolean> =>
    (await sizeOf(place.at(partPath(account, verdict, job)))) === verdict.bytes;
  for (let from = 0; from < files.length; from += readsAtOnce) {
    const some = files.slice(from, from + readsAtOnce);
    const contents = await onDisk(name, () => Promise.all(some.map((file) => readText(join(folder, file)))));
    const found = contents.map(readVerdict).filter((verdict) => verdict !== null);
    const there = await onDisk(name, () => Promise.all(found.map(lies)));
    yield* found.filter((_, i) => there[i]);
  }
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
