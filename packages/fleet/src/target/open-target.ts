import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { FleetError } from '../errors.ts';
import type { PinnedJob } from '../job/job.ts';
import type { Target } from './target.ts';

const targetOptions = defineOptions({
  /** Folder where parts of a bucket are written before they are sent. Default: a new one below the folder for temporary files. */
  scratch: option.string(),
});

/** How a target is opened. */
export interface TargetOptions extends OptionsOf<typeof targetOptions> {}

/**
 * Opens the target of a job by its URL: `postgres://user@host/db`, `sqlite:calls.db`, `folder:out` or `s3://bucket/prefix`. What
 * cannot take the records of the job is refused. `job` is null for who only looks at what is there.
 *
 * @example
 * await using target = await openTarget(job.into, job);
 * const plan = await target.planOf('101');
 */
export async function openTarget(
  into: string,
  job: PinnedJob | null,
  options: TargetOptions = {},
): Promise<Target> {
  targetOptions.check(options);
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(into)?.[1]?.toLowerCase();
  switch (scheme) {
    case 'postgres':
    case 'postgresql':
    case 'sqlite': {
      const { openStoreTarget } = await import('./store-target.ts');
      return openStoreTarget(into, job);
    }
    case 'folder': {
      const { openFolderTarget } = await import('./folder-target.ts');
      return openFolderTarget(into, job);
    }
    case 's3': {
      const { openBucketTarget } = await import('./bucket-target.ts');
      return openBucketTarget(into, job, options);
    }
    default: {
      // Whatever it is may hold a password.
      const found = scheme === undefined ? 'a string without a scheme' : `one that begins with ${scheme}:`;
      throw new FleetError(
        'job_invalid',
        `The target of a job is postgres://user@host/db, sqlite:<file>, folder:<path> or s3://bucket/prefix, not ${found}.`,
      );
    }
  }
}
