import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Environment } from '@call-attribution/core/settings';
import { receiptEnding } from '@call-attribution/node-stream/receipts';
import type { PlannedJob } from '../job.ts';
import { monthIn, monthsOf } from '../turn/months.ts';
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
  /** Months in the format that the job once had: who reads the whole folder counts their calls twice. */
  readonly otherFormat: readonly string[];
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
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Opens the files of a job, to check them. */
export async function openFilesReader(
  job: PlannedJob,
  { root, scratch, env = process.env, now }: FilesReaderOptions,
): Promise<FilesReader> {
  const about = (account: string, keys: readonly string[]): AccountFiles => aboutOf(job, account, keys, now);
  if (root !== null)
    return {
      files: (account) =>
        onDisk(`folder:${root}`, async () => {
          const folder = `account=${account}`;
          const names = (await orNull(readdir(join(root, folder)))) ?? [];
          return about(
            account,
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
      return about(account, keys);
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

function aboutOf(job: PlannedJob, account: string, keys: readonly string[], now: number): AccountFiles {
  const plain = keys.map((key) => (key.endsWith(receiptEnding) ? key.slice(0, -receiptEnding.length) : key));
  const paths = [...new Set(plain)].sort();
  const names = paths.filter((name) => monthIn(name, account, job) !== null);
  const other = { format: job.format === 'ndjson.gz' ? 'parquet' : 'ndjson.gz' } as const;
  const otherFormat = paths.filter((name) => monthIn(name, account, other) !== null);
  const held = new Set(names.map((name) => monthIn(name, account, job)));
  const [first] = [...held].sort();
  const last = [...held].sort().at(-1) ?? '';
  // Up to the last one that is there, or that the job ends with: the month of today may still come.
  const months = first == null ? [] : monthsOf(job, first, now).map(({ name }) => name);
  const missing = months.filter((name) => !held.has(name) && (job.until !== null || name <= last));
  return { names, missing, otherFormat };
}
