import type { Environment } from '@call-attribution/core/settings';
import { FleetError } from '../errors.ts';
import type { Target } from '../turn/turn.ts';

/** How a target is opened. */
export interface TargetOptions {
  /** Folder where files of a bucket are written before they are sent. Default: a new one below the folder for temporary files. */
  readonly scratch?: string | undefined;
  /** Where the keys of a bucket come from. Default `process.env`. */
  readonly env?: Environment | undefined;
}

/**
 * Opens the target of a job by its URL: `postgres://user@host/db`, `sqlite:calls.db`, `folder:out` or `s3://bucket/prefix`.
 *
 * @example
 * await using target = await openTarget(job.into);
 */
export async function openTarget(into: string, options: TargetOptions = {}): Promise<Target> {
  const { scratch, env } = options;
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(into) ?? [];
  switch (scheme.toLowerCase()) {
    case 'postgres':
    case 'postgresql':
    case 'sqlite': {
      const { openStoreTarget } = await import('./store-target.ts');
      return openStoreTarget(into);
    }
    case 'folder': {
      const { openFolderTarget } = await import('../files/folder.ts');
      return openFolderTarget(rest);
    }
    case 's3': {
      const { openBucketTarget } = await import('../files/bucket.ts');
      return openBucketTarget(into, { scratch, ...(env === undefined ? {} : { env }) });
    }
    default: {
      // Whatever it is may hold a password.
      const found = scheme === '' ? 'a string without a scheme' : `one that begins with ${scheme}:`;
      throw new FleetError(
        'job_invalid',
        `The target of a job is postgres://user@host/db, sqlite:<file>, folder:<path> or s3://bucket/prefix, not ${found}.`,
      );
    }
  }
}
