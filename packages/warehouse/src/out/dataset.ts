import { mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { accountNameWords, isAccountName } from '@call-attribution/core/settings';
import { isNothing, printRemovals, removalsFile } from '@call-attribution/node-stream/copies';
import { createFile, FileLockedError, lockFile, writeWholeFile } from '@call-attribution/node-stream/files';
import { removeDatasetReceipt } from '@call-attribution/node-stream/receipts';
import type { CallSelection } from '@call-attribution/questions';
import { readSelection } from '../ask/select.ts';
import { selected } from '../ask/selected.ts';
import { WarehouseError } from '../errors.ts';
import { datasetFailure } from '../file/failure.ts';
import { makeFolder } from '../file/instance.ts';
import type { Session } from '../file/session.ts';
import { readNotes } from '../load/removed.ts';
import { type Printed, printSql } from '../sql/print.ts';
import { columns, literal, quoted } from '../tables/columns.ts';
import { type DatasetOrigin, isAsKnown, sha256Of, writeFolderReceipt } from './dataset-receipt.ts';
import { lockName, type Manifest, manifestName, readManifest } from './manifest.ts';

/** How a folder of Parquet files is written. */
export interface ExportOptions extends CallSelection {
  /** One folder for each month or each day. Default `month`. */
  readonly partition?: 'month' | 'day' | undefined;
  /** Calls in one file at most, as far as whole days allow. Default 1,000,000. */
  readonly maxCalls?: number | undefined;
  /**
   * Write `_calls.receipt.json` into the folder as well: which calls were chosen, what the syncs have proved of them, and each file with its
   * calls and its SHA-256. Files that are not as an earlier receipt says are written again. Default false.
   */
  readonly receipt?: boolean | undefined;
  /** Ends the export. Files that are complete stay. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each file. */
  readonly onFile?: ((file: ExportedFile) => void) | undefined;
}

/** One file of an export. */
export interface ExportedFile {
  /** The file, relative to the folder of the export. */
  readonly path: string;
  /** How many calls it holds. */
  readonly calls: number;
  /** Size of the file. */
  readonly bytes: number;
  /** The file was there from an earlier run and its calls have not changed. */
  readonly isUnchanged: boolean;
}

/** What an export wrote. */
export interface ExportSummary {
  /** The folder of the dataset. */
  readonly folder: string;
  /** Every file of the dataset. */
  readonly files: readonly ExportedFile[];
  /** How many calls all files hold. */
  readonly calls: number;
  /** Files of an earlier run that were deleted, because their calls are gone or are in other files now. */
  readonly removed: number;
}

const partial = '.partial';

/**
 * Writes the calls of a selection as `account=.../month=.../part-*.parquet`. Each file appears whole or not at all. A run
 * that follows another one into the same folder writes only what has changed since, so an interrupted run is resumed.
 */
export async function exportDataset(
  read: <T>(body: (session: Session) => Promise<T>) => Promise<T>,
  folder: string,
  options: ExportOptions,
  origin: DatasetOrigin,
): Promise<ExportSummary> {
  const unlock = await lock(folder);
  try {
    return await read((session) => writeDataset(session, folder, options, origin));
  } catch (error) {
    throw error instanceof WarehouseError ? error : datasetFailure(error, folder);
  } finally {
    await unlock();
  }
}

async function lock(folder: string): Promise<() => Promise<void>> {
  try {
    await mkdir(folder, { recursive: true });
    return await lockFile(join(folder, lockName));
  } catch (error) {
    if (!(error instanceof FileLockedError)) throw datasetFailure(error, folder);
    throw new WarehouseError('in_use', `Process ${error.owner} exports into ${folder}. Wait until it ends.`);
  }
}

async function writeDataset(
  session: Session,
  folder: string,
  options: ExportOptions,
  origin: DatasetOrigin,
): Promise<ExportSummary> {
  const { partition = 'month', onFile, maxCalls, receipt = false } = options;
  const plan = await readSelection(options, session);
  const where = printSql(selected(plan));
  const query = JSON.stringify([partition, maxCalls ?? null, where.sql, where.values]);
  const before = await readManifest(folder, query);
  const parts = await partsOf(session, where, partition, maxCalls ?? 1_000_000);
  const manifest: Manifest = { version: 1, query, files: {} };
  const files: ExportedFile[] = [];
  // Before anything is written or removed: a folder in between may be a link that leads elsewhere.
  for (const path of [...parts.map((part) => part.path), ...Object.keys(before.files)])
    if ((await pathInside(folder, path)) === null)
      throw new WarehouseError(
        'invalid_dataset',
        `${join(folder, path)} lies outside of ${folder}, since a link leads there. Remove the link, or export into an empty folder.`,
      );
  // Before the calls: no part of an export is without it.
  const notes = [...(await readNotes(session, options.accounts))].filter(([, note]) => !isNothing(note));
  if (notes.length > 0)
    await writeWholeFile(join(folder, removalsFile), printRemovals(Object.fromEntries(notes)));
  // Until the new one is there, the folder has none: a receipt never stands beside files that it does not describe.
  await removeDatasetReceipt(folder);
  for (const part of parts) {
    const path = join(folder, part.path);
    const known = before.files[part.path];
    const isUnchanged = known?.stamp === part.stamp && (await isAsKnown(path, known, receipt));
    const bytes = isUnchanged ? known.bytes : await writePart(session, folder, part, where);
    const written = receipt && !isUnchanged ? await sha256Of(path) : undefined;
    const sha256 = isUnchanged ? known.sha256 : written;
    const { calls, stamp } = part;
    manifest.files[part.path] = { calls, bytes, stamp, ...(sha256 === undefined ? {} : { sha256 }) };
    if (!isUnchanged) {
      const all = { ...before.files, ...manifest.files };
      await writeWholeFile(join(folder, manifestName), JSON.stringify({ ...manifest, files: all }));
    }
    const file = { path: part.path, calls: part.calls, bytes, isUnchanged };
    files.push(file);
    onFile?.(file);
  }
  const gone = Object.keys(before.files).filter((path) => manifest.files[path] === undefined);
  for (const path of gone) await rm(join(folder, path), { force: true });
  await writeWholeFile(join(folder, manifestName), JSON.stringify(manifest));
  if (receipt)
    await writeFolderReceipt(session, folder, { manifest, fields: exportedNames, plan, options, origin });
  const calls = files.reduce((sum, file) => sum + file.calls, 0);
  return { folder, files, calls, removed: gone.length };
}

interface Part {
  readonly path: string;
  readonly account: string;
  /** First day and the day after the last; null for calls without a time. */
  readonly days: readonly [from: string, to: string] | null;
  readonly calls: number;
  /** Changes when a call of the part is stored or deleted. */
  readonly stamp: string;
}

/** The files of an export: for each account and partition one, or several of whole days. */
async function partsOf(
  session: Session,
  where: Printed,
  partition: 'month' | 'day',
  maxCalls: number,
): Promise<Part[]> {
  const rows = await session.all(
    `SELECT account, CAST(date_added AS DATE)::VARCHAR AS day, (CAST(date_added AS DATE) + 1)::VARCHAR AS next,
        count(*)::INTEGER AS calls,
        concat(epoch_us(max(loaded_at)), '/', count(*) FILTER (WHERE is_first)) AS stamp
       FROM records WHERE ${where.sql} GROUP BY ALL ORDER BY account, day NULLS LAST`,
    where.values,
  );
  interface Draft {
    account: string;
    key: string;
    number: number;
    days: [string, string] | null;
    calls: number;
    stamps: string[];
  }
  const drafts: Draft[] = [];
  for (const row of rows) {
    if (!isAccountName(row.account))
      throw new WarehouseError(
        'invalid_dataset',
        `The account ${JSON.stringify(String(row.account).slice(0, 80))} cannot be exported: the name of an account is ${accountNameWords}.`,
      );
    const [account, calls] = [row.account, Number(row.calls)];
    const day = row.day === null ? null : String(row.day);
    const date = partition === 'month' ? day?.slice(0, -3) : day;
    const value = date ?? '__HIVE_DEFAULT_PARTITION__';
    const key = `${partition}=${value}`;
    const last = drafts.at(-1);
    const isSame = last?.account === account && last.key === key;
    if (last && isSame && last.calls + calls <= maxCalls) {
      last.calls += calls;
      if (last.days) last.days[1] = String(row.next);
      last.stamps.push(`${calls}@${row.stamp}`);
    } else {
      const days: [string, string] | null = day === null ? null : [day, String(row.next)];
      drafts.push({
        account,
        key,
        number: isSame && last ? last.number + 1 : 0,
        days,
        calls,
        stamps: [`${calls}@${row.stamp}`],
      });
    }
  }
  return drafts.map(({ account, key, number, days, calls, stamps }) => ({
    path: `account=${account}/${key}/part-${number}.parquet`,
    account,
    days,
    calls,
    stamp: stamps.join(' '),
  }));
}

// Accounts and partitions are in the paths, where engines find them; in a file they would be there twice. The numbers of
// callers are those of one database file.
const notExported = new Set(['account', 'caller_no']);
const exportedColumns = columns.filter(({ name }) => !notExported.has(name));
const exportedNames = exportedColumns.map(({ name }) => name);
const exported = exportedColumns
  .map(({ name, type }) => (type === 'JSON' ? `${quoted(name)}::VARCHAR AS ${quoted(name)}` : quoted(name)))
  .join(', ');

async function writePart(
  session: Session,
  folder: string,
  { path, account, days }: Part,
  where: Printed,
): Promise<number> {
  const file = join(folder, path);
  // One by one: on a full disk Node says of a recursive one that there is no such folder.
  for (const parent of [dirname(dirname(file)), dirname(file)]) await makeFolder(parent);
  const within =
    days === null
      ? 'date_added IS NULL'
      : `date_added >= DATE '${days[0]}' AND date_added < DATE '${days[1]}'`;
  const values = [...where.values, account];
  const target = `${file}${partial}`;
  // DuckDB would follow a link at this name, and at that of a temporary file of its own.
  await (await createFile(target)).close();
  const copy = session.run(
    `COPY (SELECT ${exported} FROM records WHERE (${where.sql}) AND account = $${values.length} AND ${within})
       TO ${literal(target)} (FORMAT parquet, COMPRESSION gzip, ROW_GROUP_SIZE 122880, USE_TMP_FILE false)`,
    values,
  );
  await copy.catch((error: WarehouseError) => {
    // DuckDB reads one file and writes another, and the session knows only the first.
    const { cause } = error;
    throw cause instanceof Error && cause.message.includes(target) ? datasetFailure(cause, folder) : error;
  });
  const handle = await open(target, 'r+');
  await handle.sync();
  const { size } = await handle.stat();
  await handle.close();
  await rename(target, file);
  return size;
}

/**
 * The path of a name in a folder, when it lies inside of the folder after links were resolved. Null when it does not: a name with
 * `..`, or one below a link that leads out.
 */
async function pathInside(folder: string, name: string): Promise<string | null> {
  const path = resolve(folder, name);
  const isBelow = (place: string, top: string) =>
    place !== top && !relative(top, place).split(sep).includes('..');
  if (name.includes('\0') || !isBelow(path, resolve(folder))) return null;
  const top = await realpath(folder);
  // The last part may be a link: what is removed or renamed is the link itself.
  for (let parent = dirname(path); ; parent = dirname(parent)) {
    const real = await realpath(parent).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    });
    if (real === null) continue;
    return real === top || isBelow(real, top) ? path : null;
  }
}
