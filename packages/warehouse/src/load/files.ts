import { existsSync } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { Call } from '@call-attribution/core';
import { accountNameWords, isAccountName, readSmallFile } from '@call-attribution/core/settings';
import {
  parseRemovals,
  type RemovalNote,
  removalsEnding,
  removalsFile,
} from '@call-attribution/node-stream/copies';
import { WarehouseError } from '../errors.ts';
import { datasetFailure } from '../file/failure.ts';
import { makeStagingFolder, type Reach } from '../file/reach.ts';
import type { Session } from '../file/session.ts';
import { addRemovals } from './erase.ts';
import { bothMerged, type Merged, merge, nothingMerged, stagedSource } from './merge.ts';
import {
  checkReadable,
  type FileGroup,
  foreignCalls,
  groupFiles,
  hasDuplicates,
  ownSource,
} from './parquet.ts';
import { type SinkHost, stagingFolder, type WarehouseSink } from './sink.ts';
import { Staging } from './staging.ts';

/** What was loaded into an account. */
export interface Loaded extends Merged {
  /** The account the calls were loaded into. */
  readonly account: string;
}

/** What loading files needs of its warehouse. */
export interface LoadHost extends SinkHost {
  sink(account: string): WarehouseSink;
  /** A session that reads these files and nothing of the warehouse. */
  files(reach: Reach): Promise<Session>;
}

/** Loads Parquet files. Those of an export are stored as they are; the columns of others are matched by name. */
export async function loadParquet(
  host: LoadHost,
  path: string,
  account: string | undefined,
): Promise<Loaded[]> {
  const { files, reach } = await datasetFiles(path);
  const removed = await takeOver(host, path, account);
  if (files.length === 0 && !removed)
    throw new WarehouseError('invalid_dataset', `There are no Parquet files in ${path}.`);
  const byAccount = new Map<string, string[]>();
  for (const { file, account: own } of files) {
    const name = account ?? own;
    if (name !== null && !isAccountName(name)) throw strangeName(file, 'is in a folder account=...');
    if (name === null) {
      throw new WarehouseError(
        'invalid_dataset',
        `${file} is not in a folder account=...: name the account to load it into.`,
      );
    }
    byAccount.set(name, [...(byAccount.get(name) ?? []), file]);
  }
  const reader = await host.files(reach);
  try {
    const loaded: Loaded[] = [];
    for (const [name, list] of byAccount) {
      let sum = nothingMerged;
      for (const group of await groupFiles(reader, list))
        sum = bothMerged(sum, await loadGroup(host, reader, name, group, reach));
      loaded.push({ account: name, ...sum });
    }
    return loaded;
  } finally {
    await reader.close();
  }
}

/** Takes over what was erased and purged where the files were written, before any call of them. Was there something? */
async function takeOver(host: LoadHost, path: string, account: string | undefined): Promise<boolean> {
  const notes = removalsAt(path);
  // Of a part of an export only what was removed from its account.
  const part = accountIn(resolve(path));
  for (const [own, note] of notes) {
    if (part !== null && part !== own) continue;
    const name = account ?? own;
    if (!isAccountName(name)) throw strangeName(removalsFile, 'names an account');
    await addRemovals(host, name, note);
  }
  return notes.size > 0;
}

/** What files of an export say was removed: next to a single file, in the folder, or in the folder that it is a part of. */
function removalsAt(path: string): ReadonlyMap<string, RemovalNote> {
  const above = [resolve(path)];
  for (let at = resolve(path); /^(?:account|month|day)=|\.parquet$/.test(basename(at)); at = dirname(at))
    above.push(dirname(at));
  const found = [`${resolve(path)}${removalsEnding}`, ...above.map((folder) => join(folder, removalsFile))];
  const file = found.find((each) => existsSync(each));
  if (file === undefined) return new Map();
  const notes = parseRemovals(readSmallFile(file, mostBytes).text);
  if (notes !== null) return notes;
  throw new WarehouseError(
    'invalid_dataset',
    `${file} does not say in a known form which callers were erased. Export again, or remove the file to load the calls without it.`,
  );
}

// Hashes of a million callers have some 50 MB.
const mostBytes = 256 * 1024 * 1024;

async function loadGroup(
  host: LoadHost,
  reader: Session,
  account: string,
  group: FileGroup,
  reach: Reach,
): Promise<Merged> {
  if (!group.isOwn || (await hasDuplicates(reader, group)))
    return host.sink(account).addAll(foreignCalls(reader, group));
  try {
    return await host.write(
      (session) => merge(session, account, ownSource(group), undefined, host.clock.now()),
      { reach },
    );
  } catch (error) {
    // The session that writes knows only the database. Is it one of the files?
    await checkReadable(reader, group);
    throw error;
  }
}

/** Stores calls again within an open session, through files of their own. */
export async function storeAgain(
  host: Pick<SinkHost, 'path' | 'clock'>,
  session: Session,
  account: string,
  calls: readonly Call[],
): Promise<void> {
  const folder = stagingFolder(host.path);
  await makeStagingFolder(folder);
  // No account has a plus in its name.
  const staging = new Staging(folder, '+again');
  for (let done = 0; done < calls.length; ) {
    done += await staging.add(calls.slice(done), calls.length);
    await staging.finish();
    await merge(session, account, stagedSource(staging.staged), undefined, host.clock.now());
    await staging.clear();
  }
}

interface DatasetFile {
  readonly file: string;
  /** The account that its path names. */
  readonly account: string | null;
}

/** All Parquet files of a folder, or the file itself, and what has to be reached to read them. */
async function datasetFiles(path: string): Promise<{ files: DatasetFile[]; reach: Reach }> {
  const found: DatasetFile[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      // Names that begin so are not data, by a convention that all engines follow.
      if (entry.name.startsWith('.') || entry.name.startsWith('_')) continue;
      const file = join(folder, entry.name);
      if (entry.isDirectory()) await walk(file);
      else if (entry.name.endsWith('.parquet')) {
        if (entry.isSymbolicLink()) await checkLink(path, file);
        else if (!entry.isFile()) throw notRegular(file);
        found.push({ file, account: accountIn(relative(path, file)) });
      }
    }
  };
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) await walk(path);
    else if (!stats.isFile()) throw notRegular(path);
    else return { files: [{ file: path, account: null }], reach: { files: [path] } };
  } catch (error) {
    throw error instanceof WarehouseError ? error : datasetFailure(error, path);
  }
  return { files: found.sort((a, b) => (a.file < b.file ? -1 : 1)), reach: { folders: [path] } };
}

const strangeName = (file: string, what: string): WarehouseError =>
  new WarehouseError(
    'invalid_dataset',
    `${file} ${what} whose name cannot be that of an account: expected ${accountNameWords}. Name the account to load it into.`,
  );
/** A link may lead to another file of the dataset. */
async function checkLink(folder: string, link: string): Promise<void> {
  const [top, target] = [await realpath(folder), await realpath(link)];
  if (!target.startsWith(join(top, sep)))
    throw new WarehouseError(
      'invalid_dataset',
      `${link} is a link that leads out of ${folder}. Nothing was loaded: put the file itself there.`,
    );
  if (!(await stat(target)).isFile()) throw notRegular(link);
}

const notRegular = (file: string): WarehouseError =>
  new WarehouseError('invalid_dataset', `${file} is not a regular file. Nothing was loaded.`);

const accountIn = (path: string): string | null => {
  const name = /(?:^|[/\\])account=([^/\\]+)/.exec(path)?.[1];
  if (name === undefined) return null;
  try {
    return decodeURIComponent(name);
  } catch {
    // A percent sign that begins no escape: it is refused with the name.
    return name;
  }
};
