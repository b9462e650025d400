import { createHash, createHmac } from 'node:crypto';
import { readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fields } from '@call-attribution/core';
import { day } from '@call-attribution/core/time';
import { makeOwnFolder, openOwnList } from '@call-attribution/node-stream/files';
import { ToolError } from '../text/failures.ts';

// Where a copy is. Each account, address, credential, choice of what is revealed and version of the
// mask has one of its own, so that none of them finds the calls or the masks of another one.

/** Copies that nobody opened for so long are removed. */
const keptFor = 30 * day;

const copyForm = /^copy-[0-9a-f]{24}\.db$/;

/** What is masked: with another table a copy is made again. */
const rules = createHash('sha256').update(JSON.stringify(fields)).digest('hex');

/** Whose copy it is, and what is masked in it. */
export interface CopyIdentity {
  readonly account: string;
  readonly baseUrl: string;
  /** The version of the API. */
  readonly version: string;
  readonly reveal: readonly string[];
  /** The version of this package. */
  readonly release: string;
  /** What was judged of calls before they were masked. */
  readonly judged: string;
}

/**
 * Opens the file of a copy for its owner alone, in a folder of theirs and not through a link, and
 * returns its path.
 */
export async function openCopyFile(
  folder: string,
  key: string | Uint8Array,
  { account, baseUrl, version, reveal, release, judged }: CopyIdentity,
): Promise<string> {
  const strange = await makeOwnFolder(folder);
  if (strange !== null) throw notOurs(`${folder} ${strange}`);
  removeUnused(folder);
  const shown = [...reveal].sort();
  const identity = ['copy', rules, release, account, baseUrl, version, shown, judged];
  const name = createHmac('sha256', key)
    .update(JSON.stringify(identity))
    .digest('hex')
    .slice(0, 24);
  const file = join(folder, `copy-${name}.db`);

  // SQLite gives its other files the mode of the database.
  const handle = await openOwnList(file, (what) => notOurs(`${file} ${what}`), 0o600);
  try {
    await handle.chmod(0o600);
  } finally {
    await handle.close();
  }

  touch(file);
  return file;
}

const notOurs = (why: string): ToolError =>
  new ToolError('copy_failed', {
    what: 'The local copy of the calls cannot be kept',
    why: `${why}.`,
    next: 'Tell the user to remove it, or to start this server with --memory, which keeps the copy in memory.',
    retry: 'Not before that.',
  });

/** Notes that a file is in use. */
export function touch(file: string): void {
  const now = new Date();
  utimesSync(file, now, now);
}

/** Removes copies that nobody uses. Another server may do the same at the same time. */
function removeUnused(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!copyForm.test(name)) continue;
    const file = join(folder, name);
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined || Date.now() - found.mtimeMs <= keptFor) continue;
    for (const each of [file, `${file}-wal`, `${file}-shm`]) rmSync(each, { force: true });
  }
}
