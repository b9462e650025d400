import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FleetError } from '../errors.ts';
import type { PlannedJob } from '../job.ts';
import { errnoOf, makeFolders, orNull, readText, writeNew } from './folder-files.ts';
import { markOf, markPath, readMark } from './mark.ts';

/** Where workers keep what does not count yet. */
export const claimsPath = '.fleet/claims';
/** Where claims go that were taken away, until they are removed. */
export const deadPath = '.fleet/dead';

/** What may lie in a folder that counts as empty: what file systems and desktops put there, and a start that was cut off. */
const harmless: ReadonlySet<string> = new Set([
  '.fleet',
  'lost+found',
  '.DS_Store',
  'Thumbs.db',
  'desktop.ini',
]);

/** Makes sure, before anything is read, that a folder can take the files of a job. */
export async function prepareFolder(name: string, root: string, { name: job }: PlannedJob): Promise<void> {
  await checkKind(name, root);
  await makeFolders(root);
  const text = await readText(join(root, markPath));
  const stranger = text !== null ? undefined : (await readdir(root)).find((entry) => !harmless.has(entry));
  if (stranger !== undefined && (await readText(join(root, markPath))) === null)
    throw new FleetError(
      'target_unfit',
      `${name} holds something else (${stranger}) and no fleet has written there. Use an empty folder.`,
    );
  for (const path of [claimsPath, deadPath]) await makeFolders(join(root, path));
  if (text === null) await mark(root, job);
  const owner = readMark((await readText(join(root, markPath))) ?? '');
  if (owner !== job) throw otherJob(name, owner, job, 'folder');
  // Permissions say less than trying.
  const trial = join(root, claimsPath, `trial-${randomUUID()}`);
  await mkdir(trial);
  await rmdir(trial);
  await sweep(root);
}

/** The error for a place that another job fills. */
export const otherJob = (name: string, owner: string | null, job: string, kind: string): FleetError =>
  new FleetError(
    'target_unfit',
    `${name} is filled by ${owner === null ? 'something else' : `the job ${owner}`}, so the job ${job} cannot write there. Use another ${kind} for it.`,
  );

/** Of several who begin at once the first one names the job. */
async function mark(root: string, job: string): Promise<void> {
  const own = join(root, `.fleet/mark-${randomUUID()}`);
  try {
    await writeNew(own, markOf(job));
    await link(own, join(root, markPath));
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(own, { force: true });
  }
}

async function checkKind(name: string, root: string): Promise<void> {
  try {
    if ((await orNull(stat(root)))?.isDirectory() !== false) return;
  } catch (error) {
    if (errnoOf(error) !== 'ENOTDIR') throw error;
  }
  throw new FleetError('target_unfit', `${name} is a file, or lies below one. Use a folder.`);
}

/** Removes what killed workers left. It is in nobody's way, so nothing that goes wrong here matters. */
async function sweep(root: string): Promise<void> {
  const dead = join(root, deadPath);
  for (const entry of await readdir(dead).catch(() => []))
    await rm(join(dead, entry), { recursive: true, force: true }).catch(() => {});
}
