import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '@call-attribution/node-stream/files';
import type { PinnedJob } from '../job/job.ts';
import type { Parcel, ParcelVerdict } from '../parcels/parcel.ts';
import { claimed, makeFolders, onDisk, orNull, readText, sizeOf, writeNew } from './folder-files.ts';
import { parcelKey, partPath, verdictPath } from './part-names.ts';
import { openPart, type PartWriter } from './part-writer.ts';
import type { ParcelClaim } from './target.ts';

/** Where workers keep what does not count yet. */
export const claimsPath = '.fleet/claims';
/** Where claims go that were taken away, until they are removed. */
export const deadPath = '.fleet/dead';

/** A name that nobody else has. */
export const newNonce = (): string => randomBytes(9).toString('base64url');

/**
 * Makes a folder for a claim, then moves away those of all others who have the same. In this order, of two at once each sees the
 * other or the later one does, so never both keep theirs. What is renamed out of a folder that was moved away is no longer there.
 */
export async function takeFolder(root: string, account: string, key: string): Promise<string> {
  const prefix = `${account}~${key}#`;
  const mine = `${prefix}${newNonce()}`;
  const claims = join(root, claimsPath);
  const own = join(claims, mine);
  await mkdir(own);
  for (const other of await readdir(claims)) {
    if (!other.startsWith(prefix) || other === mine) continue;
    const dead = join(root, deadPath, `${other}~${newNonce()}`);
    await orNull(rename(join(claims, other), dead));
    // Whoever comes next removes what stays.
    await rm(dead, { recursive: true, force: true }).catch(() => {});
  }
  return own;
}

/** Removes the folder of a claim. What stays is removed with the next claim of the same. */
export const leaveFolder = (own: string): Promise<void> =>
  rm(own, { recursive: true, force: true }).catch(() => {});

/** The verdict of a parcel that was committed and whose file has its size; null when there is none. */
export async function committed(
  root: string,
  account: string,
  parcel: Parcel,
  job: PinnedJob,
): Promise<ParcelVerdict | null> {
  const verdict = readVerdict(await readText(join(root, verdictPath(account, parcel))));
  if (verdict === null) return null;
  return (await sizeOf(join(root, partPath(account, parcel, job)))) === verdict.bytes ? verdict : null;
}

/** A verdict from its file; null when there is none in it. */
export function readVerdict(text: string | null): ParcelVerdict | null {
  try {
    return text === null ? null : (JSON.parse(text) as ParcelVerdict);
  } catch {
    return null;
  }
}

/** SHA-256 of a file in hex. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 })) hash.update(chunk);
  return hash.digest('hex');
}

/** What the claim of a parcel belongs to. */
export interface FolderParcel {
  /** For messages. */
  readonly name: string;
  readonly root: string;
  readonly job: PinnedJob;
  readonly account: string;
  readonly parcel: Parcel;
}

/** Claims a parcel: its part and its verdict are written in the folder of the claim, and count once they were renamed out of it. */
export async function folderClaim(place: FolderParcel): Promise<ParcelClaim> {
  const { root, job, account, parcel } = place;
  return onDisk(place.name, async () => {
    const own = await takeFolder(root, account, parcelKey(parcel));
    try {
      // Only now: nobody who claimed earlier can commit any more.
      const done = await committed(root, account, parcel, job);
      if (done !== null) await leaveFolder(own);
      return new FolderClaim(place, own, done);
    } catch (error) {
      await leaveFolder(own);
      throw error;
    }
  });
}

class FolderClaim implements ParcelClaim {
  readonly done: ParcelVerdict | null;
  readonly #place: FolderParcel;
  readonly #own: string;
  #part: PartWriter | null = null;

  constructor(place: FolderParcel, own: string, done: ParcelVerdict | null) {
    this.#place = place;
    this.#own = own;
    this.done = done;
  }

  put: ParcelClaim['put'] = (page) =>
    this.#run(async () => {
      await this.#hold();
      await (await this.#opened()).put(page);
    });

  commit: ParcelClaim['commit'] = (reading) =>
    this.#run(async () => {
      const { root, job, account, parcel } = this.#place;
      await this.#hold();
      const part = await this.#opened();
      const verdict: ParcelVerdict = { ...reading, leftOut: 0, ...(await part.finish()) };
      const ownVerdict = join(this.#own, 'verdict.json');
      await claimed(() => writeNew(ownVerdict, `${JSON.stringify(verdict)}\n`));
      const [file, verdictFile] = [partPath(account, parcel, job), verdictPath(account, parcel)].map((path) =>
        join(root, path),
      ) as [string, string];
      await makeFolders(dirname(file));
      await makeFolders(dirname(verdictFile));
      // A reading with the same bytes leaves the file as it is, for programs that look for changed files.
      if (!(await isSameFile(file, verdict))) {
        await claimed(() => rename(part.path, file));
        await syncFolder(file);
      }
      await claimed(() => rename(ownVerdict, verdictFile));
      await syncFolder(verdictFile);
      await leaveFolder(this.#own);
      return verdict;
    });

  async drop(): Promise<void> {
    await this.#part?.abandon();
    await leaveFolder(this.#own);
  }

  #run<T>(work: () => Promise<T>): Promise<T> {
    return onDisk(this.#place.name, work);
  }

  /** Throws when the folder was moved away. What is written to an open file would not show it. */
  async #hold(): Promise<void> {
    await claimed(() => stat(this.#own));
  }

  async #opened(): Promise<PartWriter> {
    this.#part ??= await claimed(() => openPart(join(this.#own, 'part'), this.#place.job));
    return this.#part;
  }
}

async function isSameFile(path: string, { bytes, sha256 }: ParcelVerdict): Promise<boolean> {
  return (await sizeOf(path)) === bytes && (await hashFile(path)) === sha256;
}
