import type { Environment } from '@call-attribution/core/settings';
import { FleetError } from '../errors.ts';
import type { Target } from './target.ts';

/**
 * Opens the target of a job by its URL: `postgres://user@host/db`, `sqlite:calls.db`, `folder:out`
 * or `s3://bucket/prefix`.
 *
 * @param env where the keys of a bucket come from.
 * @example
 * await using target = await openTarget(job.into);
 */
export async function openTarget(into: string, env: Environment = process.env): Promise<Target> {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(into) ?? [];
  switch (scheme.toLowerCase()) {
    case 'postgres':
    case 'postgresql':
    case 'sqlite':
      return (await import('./store.ts')).openStoreTarget(into);
    case 'folder':
      return (await import('./folder.ts')).openFolderTarget(rest);
    case 's3':
      return (await import('./bucket.ts')).openBucketTarget(into, env);
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
