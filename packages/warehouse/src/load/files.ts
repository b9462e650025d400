import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Call } from '@call-attribution/core';
import { accountNameWords, isAccountName, readSmallFile } from '@call-attribution/core/settings';
import { parseRemovals, type RemovalNote, removalsEnding, removalsFile } from '@call-attribution/node-stream';
import { WarehouseError } from '../errors.ts';
import { datasetFailure } from '../file/failure.ts';
import { makeFolder } from '../file/gate.ts';
import type { Session } from '../file/session.ts';
import { addRemovals } from './erase.ts';
import { bothMerged, type Merged, merge, nothingMerged, stagedSource } from './merge.ts';
import { type FileGroup, foreignCalls, groupFiles, hasDuplicates, ownSource } from './parquet.ts';
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
  /** A session that reads files and nothing of the warehouse. */
  files(): Promise<Session>;
}

/** Loads Parquet files. Those of an export are stored as they are; the columns of others are matched by name. */
export async function loadParquet(
  host: LoadHost,
  path: string,
  account: string | undefined,
): Promise<Loaded[]> {
  const files = await datasetFiles(path);
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
  const reader = await host.files();
  try {
    const loaded: Loaded[] = [];
    for (const [name, list] of byAccount) {
      let sum = nothingMerged;
      for (const group of await groupFiles(reader, list))
        sum = bothMerged(sum, await loadGroup(host, reader, name, group));
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
): Promise<Merged> {
  if (group.isOwn && !(await hasDuplicates(reader, group))) {
    return host.write((session) => merge(session, account, ownSource(group), undefined, host.clock.now()));
  }
  return host.sink(account).addAll(foreignCalls(reader, group));
}

/** Stores calls again within an open session, through files of their own. */
export async function storeAgain(
  host: Pick<SinkHost, 'path' | 'clock'>,
  session: Session,
  account: string,
  calls: readonly Call[],
): Promise<void> {
  const folder = stagingFolder(host.path);
  await makeFolder(folder);
  // No account has a plus in its name.
  const staging = new Staging(folder, '+again');
  for (let done = 0; done < calls.length; ) {
    done += await staging.add(calls.slice(done), calls.length);
    await staging.finish();
    await merge(session, account, stagedSource(staging.staged), undefined, host.clock.now());
    await staging.clear();
  }
}

/** All Parquet files of a folder, or the file itself, with the account that their paths name. */
async function datasetFiles(path: string): Promise<{ file: string; account: string | null }[]> {
  const found: { file: string; account: string | null }[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      // Names that begin so are not data, by a convention that all engines follow.
      if (entry.name.startsWith('.') || entry.name.startsWith('_')) continue;
      const file = join(folder, entry.name);
      if (entry.isDirectory()) await walk(file);
      else if (entry.name.endsWith('.parquet'))
        found.push({ file, account: accountIn(relative(path, file)) });
    }
  };
  try {
    if ((await stat(path)).isDirectory()) await walk(path);
    else found.push({ file: path, account: null });
  } catch (error) {
    throw datasetFailure(error, path);
  }
  return found.sort((a, b) => (a.file < b.file ? -1 : 1));
}

const strangeName = (file: string, what: string): WarehouseError =>
  new WarehouseError(
    'invalid_dataset',
    `${file} ${what} whose name cannot be that of an account: expected ${accountNameWords}. Name the account to load it into.`,
  );

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
