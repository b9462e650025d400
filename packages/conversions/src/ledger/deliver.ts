import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { toGzip } from '@call-attribution/node-stream/encoders';
import { lockFile, syncFolder, writeWholeFile } from '@call-attribution/node-stream/files';
import { type Change, seenRows } from '../changes.ts';
import type { ConversionRules } from '../conversion.ts';
import { toAdjustments, toSheet } from '../sheet.ts';
import type { SheetFormat } from '../sheet-format.ts';
import { DeliveryError, strange } from './errors.ts';
import type { DeliveredFile, Delivery, Ledger } from './ledger.ts';

/**
 * Writes the sheets of what a destination does not know yet, and notes in the ledger that it knows
 * it now. Both happen or neither: the ledger says which files are about to be written, they are
 * written under other names, the ledger says so, they are renamed, the ledger says so. After a crash
 * `finishDeliveries` does what is left. Null when there was nothing to deliver; then no file is written.
 *
 * @param sheet absolute path of the sheet. A name that ends in `.gz` gets a compressed file; adjustments are next to it.
 * @example
 * await finishDeliveries(ledger);
 * const changes = await changesToSend(conversions(calls, rules, format, ledger.delivered('ads')));
 * await deliverSheets(ledger, 'ads', changes, format, rules, resolve('clicks.csv'));
 */
export async function deliverSheets(
  ledger: Ledger,
  destination: string,
  changes: readonly Change[],
  format: SheetFormat,
  rules: ConversionRules,
  sheet: string,
): Promise<Delivery | null> {
  await ledger.note(destination, seenRows(changes));
  const additions = changes.filter(({ kind }) => kind === 'add');
  const corrections = changes.filter(({ kind }) => kind === 'restate' || kind === 'retract');
  if (additions.length + corrections.length === 0) return null;

  const run = randomUUID().slice(0, 8);
  const parts: { readonly file: DeliveredFile; readonly lines: AsyncIterable<Uint8Array> }[] = [];

  const plan = async (path: string, lines: AsyncIterable<Uint8Array>): Promise<void> => {
    refuseExisting(path);
    const folder = (await folderNumber(path)) ?? undefined;
    parts.push({ file: { path, prepared: `${path}.${run}.prepared`, folder }, lines });
  };

  // A ledger in a database does not keep another run from writing to the same files.
  const unlock = await lockFile(`${sheet}.lock`);
  let mayBeNoted = false;
  try {
    if (additions.length > 0) await plan(sheet, toSheet(format, rules)(additions));
    if (format.adjustments && corrections.length > 0)
      await plan(adjustmentsPath(sheet), toAdjustments(format.adjustments, rules)(corrections));

    const files = parts.map(({ file }) => file);
    await ledger.announce(destination, files);
    for (const { file, lines } of parts)
      await writeWholeFile(file.prepared, file.path.endsWith('.gz') ? toGzip()(lines) : lines);

    // A retraction comes before the new conversion of the same call, which is then the latest
    // entry.
    const entries = [...corrections, ...additions]
      .map(({ entry }) => entry)
      .filter((entry) => entry !== null);
    // Whether a note was kept whose writing failed, only the next run can say. Until then its files
    // are needed.
    mayBeNoted = true;
    const delivery = await ledger.prepare(destination, entries, files);
    await finish(ledger, delivery);
    return delivery;
  } catch (error) {
    if (!mayBeNoted) for (const { file } of parts) await rm(file.prepared, { force: true });
    throw error;
  } finally {
    await unlock();
  }
}

/** Refuses to replace a sheet that may not have been uploaded. */
export function refuseExisting(file: string): void {
  if (!existsSync(file)) return;
  throw new DeliveryError(
    'in_the_way',
    `${file} exists already. If it was uploaded, remove or rename it; otherwise upload it first.`,
  );
}

/**
 * Finishes the deliveries of sheets that a crash has interrupted. A delivery is only in the ledger
 * once its files are complete on disk, so what is left is to rename those that still have their
 * first name. Files that were only announced are removed: nothing was noted of what they say.
 * Returns what was finished.
 */
export async function finishDeliveries(ledger: Ledger): Promise<Delivery[]> {
  const finished: Delivery[] = [];
  for (const destination of ledger.destinations()) {
    await removeAnnounced(ledger, destination);
    const delivery = ledger.pending(destination);
    if (!delivery || delivery.files.length === 0) continue;
    refuseStrange(delivery.files);
    await refuseElsewhere(delivery);
    await finish(ledger, delivery);
    finished.push(delivery);
  }

  return finished;
}

/** Removes what a killed run has left of files that it had announced, which may name callers. */
async function removeAnnounced(ledger: Ledger, destination: string): Promise<void> {
  const files = ledger.announced(destination);
  if (files.length === 0) return;
  refuseStrange(files);
  for (const { prepared } of files) {
    const folder = dirname(prepared);
    const own = basename(prepared);
    const names = await readdir(folder).catch((): string[] => []);
    // While it is written it has yet another name.
    for (const name of names)
      if (name === own || (name.startsWith(`${own}.`) && name.endsWith('.new')))
        await rm(join(folder, name), { force: true });
  }

  await ledger.announce(destination, []);
}

/**
 * Refuses to finish a delivery whose files are not here: its folder is not mounted, or it is that
 * of another machine. A file that is gone from its folder was renamed, then uploaded and removed by
 * somebody.
 */
async function refuseElsewhere({ host, files }: Delivery): Promise<void> {
  const [first] = files;
  if (first === undefined || files.some(({ prepared }) => existsSync(prepared))) return;

  const isOurs = host === hostname();
  const isSameFolder =
    first.folder !== undefined && (await folderNumber(first.path)) === first.folder;
  if (isOurs && (isSameFolder || files.some(({ path }) => existsSync(path)))) return;

  const wayOn = isOurs ? 'Mount that folder, or put them back' : 'Finish it there';
  throw new DeliveryError(
    'unfinished',
    `The files of a delivery that was begun on the machine ${host} are not in ${dirname(first.path)} here. ${wayOn}, and run this again. If its sheet is here under its own name, rename it to ${first.prepared}; if that was uploaded and removed, put an empty file with this name there.`,
  );
}

/** Number of the folder of a file in the file system; null when there is no such folder. */
const folderNumber = async (path: string): Promise<string | null> => {
  const stats = await stat(dirname(path), { bigint: true }).catch(() => null);
  return stats === null ? null : String(stats.ino);
};

/** Is this a name that a delivery gives to a file that will have another one? */
const isPrepared = (prepared: string, path: string): boolean =>
  prepared.startsWith(`${path}.`) && /^[\da-f]{8}\.prepared$/.test(prepared.slice(path.length + 1));

/**
 * A ledger that somebody else has written could name any file of this user, to have it renamed or
 * removed.
 */
function refuseStrange(files: readonly DeliveredFile[]): void {
  for (const { path, prepared } of files)
    if (resolve(path) !== path || !isPrepared(prepared, path))
      throw strange(
        `The ledger has a delivery that writes ${prepared} and renames it to ${path}, which no delivery does`,
      );
}

async function finish(ledger: Ledger, delivery: Delivery): Promise<void> {
  for (const { path, prepared } of delivery.files) {
    if (!existsSync(prepared)) continue;
    refuseExisting(path);
    await rename(prepared, path);
    await syncFolder(path);
  }

  await ledger.commit(delivery);
}

/** `clicks.csv` becomes `clicks.adjustments.csv`. */
export function adjustmentsPath(sheet: string): string {
  return sheet.replace(
    /(\.[^./\\]+)?(\.gz)?$/,
    (_, extension = '', gzip = '') => `.adjustments${extension}${gzip}`,
  );
}
