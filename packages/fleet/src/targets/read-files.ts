import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Environment } from '@call-attribution/core/settings';
import { monthFolder } from '@call-attribution/node-stream';
import { receiptEnding } from '@call-attribution/node-stream/receipts';
import type { PlannedJob } from '../job.ts';
import { openBucket } from './bucket.ts';

/** Reads what a job has written. */
export interface FilesReader extends AsyncDisposable {
  /**
   * Lists the files of an account, and those of receipts whose files are gone, from the folder or
   * prefix.
   */
  files(account: string): Promise<readonly string[]>;
  /** A file with its receipt on this machine: where it lies, or a copy. */
  local(name: string): Promise<string>;
}

/** Where files are read from. */
export interface FilesReaderOptions {
  /** The folder, for a job into one. */
  readonly root: string | null;
  /** Where the keys of a bucket come from. Default `process.env`. */
  readonly env?: Environment | undefined;
}

/** Opens the files of a job, to check them. */
export async function openFilesReader(
  job: PlannedJob,
  { root, env = process.env }: FilesReaderOptions,
): Promise<FilesReader> {
  if (root !== null)
    return {
      async files(account) {
        const files = await monthFolder(root).list(`account=${account}`);
        return monthsIn(files.map(({ name }) => name));
      },
      local: async (name) => join(root, name),
      [Symbol.asyncDispose]: async () => {},
    };

  const bucket = openBucket(job.into, env);

  // Only this user can read it.
  const copies = await mkdtemp(join(tmpdir(), 'calls-fleet-'));
  return {
    async files(account) {
      const names: string[] = [];
      for await (const { name } of bucket.list(`account=${account}/`)) names.push(name);
      return monthsIn(names);
    },
    async local(name) {
      const path = join(copies, name);
      await mkdir(dirname(path), { recursive: true });
      for (const ending of ['', receiptEnding]) {
        const bytes = await bucket.get(`${name}${ending}`);
        if (bytes !== null) await writeFile(`${path}${ending}`, bytes);
      }

      return path;
    },
    async [Symbol.asyncDispose]() {
      bucket.close();
      await rm(copies, { recursive: true, force: true });
    },
  };
}

/** The files of months, also of those that have left a receipt alone. */
function monthsIn(found: readonly string[]): string[] {
  const names = found.map((name) =>
    name.endsWith(receiptEnding) ? name.slice(0, -receiptEnding.length) : name,
  );
  return [...new Set(names)]
    .filter((name) => /^account=[^/]+\/month=\d{4}-\d{2}\.parquet$/.test(name))
    .sort();
}
