import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { toGzip } from '@call-attribution/node-stream/encoders';
import { lockFile, syncFolder, writeWholeFile } from '@call-attribution/node-stream/files';
import type { ConversionRules } from '../conversion.ts';
import { entryOf } from '../entry.ts';
import { toAdjustments, toSheet } from '../sheet.ts';
import type { SheetFormat } from '../sheet-format.ts';
import type { Changes } from './changes.ts';
import { DeliveryError, strange } from './errors.ts';
import type { DeliveredFile, Delivery, Ledger } from './ledger.ts';

/**
 * Writes the sheets of what a destination does not know yet, and notes in the ledger that it knows
 * it now. Both happen or neither: the files are written under other names, the ledger says so, they
 * are renamed, the ledger says so. After a crash
 * `finishDeliveries` does what is left. Null when there was nothing to deliver; then no file is written.
 *
 * @param sheet absolute path of the sheet. A name that ends in `.gz` gets a compressed file; adjustments are next to it.
 * @example
 * await finishDeliveries(ledger); const changes = await changesSince(ledger.delivered(format.name),
 * conversions(calls, rules, format), format); await deliverSheets(ledger, format.name, changes,
 * format, rules, resolve('clicks.csv'));
 */
export async function deliverSheets(
  ledger: Ledger,
  destination: string,
  { add, adjust }: Changes,
  format: SheetFormat,
  rules: ConversionRules,
  sheet: string,
): Promise<Delivery | null> {
  const files: DeliveredFile[] = [];
  const run = randomUUID().slice(0, 8);
  let mayBeNoted = false;

  const write = async (path: string, lines: AsyncIterable<Uint8Array>) => {
    refuseExisting(path);
    const file = { path, prepared: `${path}.${run}.prepared` };
    files.push(file);
    await writeWholeFile(file.prepared, path.endsWith('.gz') ? toGzip()(lines) : lines);
  };

  if (add.length + adjust.length === 0) return null;

  // A ledger in a database does not keep another run from writing to the same files.
  const unlock = await lockFile(`${sheet}.lock`);
  try {
    if (add.length > 0) await write(sheet, toSheet(format, rules)(add));
    if (format.adjustments && adjust.length > 0)
      await write(adjustmentsPath(sheet), toAdjustments(format.adjustments, rules)(adjust));
    // A retraction comes before the new conversion of the same call, which is then the latest
    // entry.
    const entries = [...adjust, ...add.map(({ conversion }) => entryOf(conversion))];
    // Whether a note was kept whose writing failed, only the next run can say. Until then its files
    // are needed.
    mayBeNoted = true;
    const delivery = await ledger.prepare(destination, entries, files);
    await finish(ledger, delivery);
    return delivery;
  } catch (error) {
    if (!mayBeNoted) for (const { prepared } of files) await rm(prepared, { force: true });
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
 * first name. Returns what was finished.
 */
export async function finishDeliveries(ledger: Ledger): Promise<Delivery[]> {
  const finished: Delivery[] = [];
  for (const destination of ledger.destinations()) {
    const delivery = ledger.pending(destination);
    if (!delivery || delivery.files.length === 0) continue;
    if (delivery.host !== hostname())
      throw new DeliveryError(
        'unfinished',
        `The machine ${delivery.host} has an unfinished delivery. Finish it there, where its files are.`,
      );
    await finish(ledger, delivery);
    finished.push(delivery);
  }

  return finished;
}

/** Is this a name that a delivery gives to a file that will have another one? */
const isPrepared = (prepared: string, path: string): boolean =>
  prepared.startsWith(`${path}.`) && /^[\da-f]{8}\.prepared$/.test(prepared.slice(path.length + 1));

async function finish(ledger: Ledger, delivery: Delivery): Promise<void> {
  // A ledger that somebody else has written could name any file of this user, to have it renamed.
  for (const { path, prepared } of delivery.files)
    if (resolve(path) !== path || !isPrepared(prepared, path))
      throw strange(
        `The ledger has a delivery that renames ${prepared} to ${path}, which no delivery does`,
      );

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
