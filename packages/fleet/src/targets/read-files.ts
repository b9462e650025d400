import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Environment } from '@call-attribution/core/settings';
import { addMonths, formatNaive, parseNaive } from '@call-attribution/core/time';
import { monthFolder } from '@call-attribution/node-stream';
import { receiptEnding } from '@call-attribution/node-stream/receipts';
import type { PlannedJob } from '../job.ts';
import { openBucket } from './bucket.ts';

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
        return aboutOf(
          job,
          files.map(({ name }) => name),
        );
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
      return aboutOf(job, names);
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

const monthIn = (path: string): string | null =>
  /^account=[^/]+\/month=(\d{4}-\d{2})\.parquet$/.exec(path)?.[1] ?? null;

function aboutOf(job: PlannedJob, found: readonly string[]): AccountFiles {
  const plain = found.map((name) =>
    name.endsWith(receiptEnding) ? name.slice(0, -receiptEnding.length) : name,
  );
  const names = [...new Set(plain)].filter((name) => monthIn(name) !== null).sort();
  const held = names.flatMap((name) => monthIn(name) ?? []);
  const [first = ''] = held;

  // Up to the last one that is there, or that the job ends with: the month of today may still come.
  const end = job.until === null ? null : formatNaive(parseNaive(job.until) - 1000).slice(0, 7);
  const last = end ?? held.at(-1) ?? '';
  const missing: string[] = [];
  for (
    let month = job.from?.slice(0, 7) ?? first;
    month !== '' && month <= last;
    month = after(month)
  )
    if (!held.includes(month)) missing.push(month);

  return { names, missing: first === '' ? [] : missing };
}

const after = (month: string): string =>
  formatNaive(addMonths(parseNaive(`${month}-01 00:00:00`), 1)).slice(0, 7);
