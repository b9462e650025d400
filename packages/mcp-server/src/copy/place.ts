import { createHash, createHmac } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { fields } from '@call-attribution/core';
import { day } from '@call-attribution/core/time';

// Where a copy is. Each address, credential and choice of what is revealed has one of its own, so
// that none of them finds the masks of another one.

/** Copies and files of rows that nobody opened for so long are removed. */
const keptFor = 30 * day;

const copyForm = /^copy-[0-9a-f]{24}\.db$/;
const exportForm = /^\w+-[0-9a-f]{12}\.csv$/;

/** What is masked: with another table a copy is made again. */
const rules = createHash('sha256').update(JSON.stringify(fields)).digest('hex');

/** Opens the file of a copy for its owner alone, and returns its path. */
export function openCopyFile(
  folder: string,
  key: string | Uint8Array,
  of: { readonly baseUrl: string; readonly version: string; readonly reveal: readonly string[] },
): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeUnused(folder);
  const name = createHmac('sha256', key)
    .update(JSON.stringify(['copy', rules, of.baseUrl, of.version, [...of.reveal].sort()]))
    .digest('hex')
    .slice(0, 24);
  const file = join(folder, `copy-${name}.db`);

  // SQLite gives its other files the mode of the database.
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  touch(file);
  return file;
}

/** Notes that a file is in use. */
export function touch(file: string): void {
  const now = new Date();
  utimesSync(file, now, now);
}

/** Removes what nobody opened for a long time. Another server may do the same at the same time. */
export function removeUnused(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!copyForm.test(name) && !exportForm.test(name)) continue;
    const file = join(folder, name);
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined || Date.now() - found.mtimeMs <= keptFor) continue;
    for (const each of [file, `${file}-wal`, `${file}-shm`]) rmSync(each, { force: true });
  }
}
