import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Environment } from '@call-attribution/core/settings';
import { addMonths, formatNaive, parseNaive } from '@call-attribution/core/time';
import { receiptEnding } from '@call-attribution/node-stream/receipts';
import type { PlannedJob } from '../job.ts';
import { bucketAddress } from './bucket-address.ts';
import { openBucketClient } from './bucket-client.ts';
import { onDisk, orNull } from './folder-files.ts';
import { openScratch } from './scratch.ts';

/** The months of an account as they lie in a folder or bucket. */
export interface AccountFiles {
  /** Paths of files of the job, or of receipts whose files are gone, from the folder or prefix. */
  readonly names: readonly string[];
  /** Months of the job's period that have no file. */
  readonly missing: readonly string[];
}

/** Reads what a job has written. */
export interface FilesReader extends AsyncDisposable {
  /** Lists the files of an account. */
  files(account: string): Promise<AccountFiles>;
  /** A file with its receipt on this machine: where it lies, or a copy. */
  local(name: string): Promise<string>;
}

/** Where files are read from. */
export interface FilesReaderOptions {
  /** The folder, for a job into one. */
  readonly root: string | null;
  /** Folder for copies of files of a bucket. Default: a new one below the folder for temporary files. */
  readonly scratch?: string | undefined;
  /** Where the keys of a bucket come from. Default `process.env`. */
  readonly env?: Environment | undefined;
}

/** Opens the files of a job, to check them. */
export async function openFilesReader(
  job: PlannedJob,
  { root, scratch, env = process.env }: FilesReaderOptions,
): Promise<FilesReader> {
  if (root !== null)
    return {
      files: (account) =>
        onDisk(`folder:${root}`, async () => {
          const folder = `account=${account}`;
          const names = (await orNull(readdir(join(root, folder)))) ?? [];
          return aboutOf(
            job,
            names.map((name) => `${folder}/${name}`),
          );
        }),
      local: async (name) => join(root, name),
      [Symbol.asyncDispose]: async () => {},
    };
  const client = openBucketClient(bucketAddress(job.into, env));
  const copies = await openScratch(scratch);
  return {
    async files(account) {
      const keys: string[] = [];
      for await (const { key } of client.list(`account=${account}/`)) keys.push(key);
      return aboutOf(job, keys);
    },
    async local(name) {
      const path = join(await copies.folder(), name);
      await mkdir(dirname(path), { recursive: true });
      for (const ending of ['', receiptEnding]) {
        const file = openSync(`${path}${ending}`, 'w', 0o600);
        try {
          await client.download(
            `${name}${ending}`,
            (bytes, at) => void writeSync(file, bytes, 0, bytes.length, at),
          );
        } finally {
          closeSync(file);
        }
      }
      return path;
    },
    async [Symbol.asyncDispose]() {
      await copies.close();
      client.close();
    },
  };
}

const monthIn = (path: string): string | null =>
  /^account=[^/]+\/month=(\d{4}-\d{2})\.parquet$/.exec(path)?.[1] ?? null;

function aboutOf(job: PlannedJob, keys: readonly string[]): AccountFiles {
  const plain = keys.map((key) => (key.endsWith(receiptEnding) ? key.slice(0, -receiptEnding.length) : key));
  const names = [...new Set(plain)].filter((name) => monthIn(name) !== null).sort();
  const held = new Set(names.map(monthIn));
  const [first] = [...held].sort();
  // Up to the last one that is there, or that the job ends with: the month of today may still come.
  const end = job.until === null ? null : formatNaive(parseNaive(job.until) - 1000).slice(0, 7);
  const last = end ?? [...held].sort().at(-1) ?? '';
  const missing: string[] = [];
  for (let month = job.from?.slice(0, 7) ?? first ?? ''; month !== '' && month <= last; month = after(month))
    if (!held.has(month)) missing.push(month);
  return { names, missing: first === undefined ? [] : missing };
}

const after = (month: string): string =>
  formatNaive(addMonths(parseNaive(`${month}-01 00:00:00`), 1)).slice(0, 7);
