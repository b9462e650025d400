import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isAccountName, readSmallFile } from '@call-attribution/core/settings';
import { writeWholeFile } from '@call-attribution/node-stream/files';
import { WarehouseError } from '../errors.ts';

/** What is known of the files in a folder; their names are relative to it. */
export interface Manifest {
  readonly version: 1;
  readonly query: string;
  readonly files: Record<string, ManifestEntry>;
}

/** What is known of a file. */
export interface ManifestEntry {
  readonly calls: number;
  readonly bytes: number;
  /** Changes when a call of the file is stored or deleted. */
  readonly stamp: string;
  /** The SHA-256 of the file, where an export with a receipt has written it. */
  readonly sha256?: string;
}

/** The list of the files of an export, in its folder. */
export const manifestName = '_calls.json';
/** The lock of the folder, which only one export at a time may write into. */
export const lockName = '_calls.lock';

/** The list of an earlier export into this folder, or an empty one. Throws when the folder holds something else. */
export async function readManifest(folder: string, query: string): Promise<Manifest> {
  const path = join(folder, manifestName);
  if (!existsSync(path)) {
    const strange = (await readdir(folder)).find((name) => !name.startsWith('_calls.'));
    if (strange === undefined) {
      const empty: Manifest = { version: 1, query, files: {} };
      // Whose folder it is, before anything else is in it: an export that ends in its first file can be run again.
      await writeWholeFile(path, JSON.stringify(empty));
      return empty;
    }
    throw new WarehouseError(
      'invalid_dataset',
      `${folder} holds something that is not an export of calls (${strange}). Export into an empty folder.`,
    );
  }
  const manifest = parseManifest(readSmallFile(path, manifestBytes).text, path);
  if (manifest.query === query) return manifest;
  throw new WarehouseError(
    'invalid_dataset',
    `${folder} holds an export of other calls, or one with another partition. Export into an empty folder.`,
  );
}

// A list of the files of a hundred thousand accounts has some 15 MB.
const manifestBytes = 256 * 1024 * 1024;

/** The names that an export gives its files. */
const partForm =
  /^account=([^/]+)\/(?:month=\d{4,6}-\d\d|day=\d{4,6}-\d\d-\d\d|(?:month|day)=__HIVE_DEFAULT_PARTITION__)\/part-\d+\.parquet$/;

const isPartName = (path: string): boolean => isAccountName(partForm.exec(path)?.[1]);

/** What is said of files is only believed of those that an export makes: the others are removed by nobody. */
function parseManifest(text: string, path: string): Manifest {
  const refuse = (what: string) =>
    new WarehouseError(
      'invalid_dataset',
      `${path} ${what}. Nothing was changed: export into an empty folder.`,
    );
  let manifest: Manifest;
  try {
    manifest = JSON.parse(text);
  } catch {
    throw refuse('is not the list of files of an export');
  }
  if (manifest?.version !== 1 || typeof manifest.files !== 'object' || manifest.files === null)
    throw refuse('is not the list of files of an export');
  if (!Object.keys(manifest.files).every(isPartName)) throw refuse('names a file that no export makes');
  return manifest;
}
