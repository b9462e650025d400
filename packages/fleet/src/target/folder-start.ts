import { mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FleetError } from '../errors.ts';
import type { PinnedJob } from '../job/job.ts';
import { claimsPath, deadPath, newNonce } from './folder-claim.ts';
import { errnoOf, makeFolders, orNull, readText } from './folder-files.ts';
import { jobPath } from './part-names.ts';
import { readPinned } from './pinned-record.ts';

/** Where files are written that get their name by a link. */
const newPath = '.fleet/new';

/** A name for a file that is not there yet. */
export const newFile = (root: string): string => join(root, newPath, newNonce());

/** What may lie in a folder that counts as empty: what file systems and desktops put there, and a start that was cut off. */
const harmless: ReadonlySet<string> = new Set([
  '.fleet',
  'lost+found',
  '.DS_Store',
  'Thumbs.db',
  'desktop.ini',
]);

/** Makes sure, before anything is read, that a folder can take the files of a job. Without a job it only has to be there. */
export async function prepareFolder(name: string, root: string, job: PinnedJob | null): Promise<void> {
  await checkKind(name, root);
  if (job === null) return void (await readdir(root));
  await makeFolders(root);
  const text = await readText(join(root, jobPath));
  const held = text === null ? null : readPinned(text, name);
  const stranger = held !== null ? undefined : (await readdir(root)).find((entry) => !harmless.has(entry));
  if (stranger !== undefined)
    throw new FleetError(
      'target_unfit',
      `${name} holds something else (${stranger}) and no fleet has written there. Use an empty folder.`,
    );
  if (held !== null && held.name !== job.name)
    throw new FleetError(
      'job_differs',
      `${name} is filled by the job ${held.name}, so the job ${job.name} cannot write there. Use another folder for it.`,
    );
  for (const path of [claimsPath, deadPath, newPath]) await makeFolders(join(root, path));
  // Permissions say less than trying.
  const trial = newFile(root);
  await mkdir(trial);
  await rmdir(trial);
  await sweep(root);
}

async function checkKind(name: string, root: string): Promise<void> {
  try {
    if ((await orNull(stat(root)))?.isDirectory() !== false) return;
  } catch (error) {
    if (errnoOf(error) !== 'ENOTDIR') throw error;
  }
  throw new FleetError('target_unfit', `${name} is a file, or lies below one. Use a folder.`);
}

/** Age from which a file that never got its name belongs to nobody. */
const forgottenMs = 86_400_000;

/** Removes what killed workers left. It is in nobody's way, so nothing that goes wrong here matters. */
async function sweep(root: string): Promise<void> {
  const dead = join(root, deadPath);
  for (const entry of await readdir(dead).catch(() => []))
    await rm(join(dead, entry), { recursive: true, force: true }).catch(() => {});
  const fresh = join(root, newPath);
  for (const entry of await readdir(fresh).catch(() => [])) {
    const path = join(fresh, entry);
    const age = await stat(path).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > forgottenMs) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}
