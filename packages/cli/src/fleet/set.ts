import { resolve } from 'node:path';
import { CallsError } from '@call-attribution/core/errors';
import {
  type CredentialSource,
  credentialsFrom,
  openTarget,
  type PinnedJob,
  type Target,
} from '@call-attribution/fleet';
import type { Args } from '../args/command.ts';
import { targetFailure } from '../failures/fleet.ts';
import { type Io, say } from '../io.ts';
import { storeUrl } from '../stores/url.ts';
import { whileWaiting } from '../term/waiting.ts';

/**
 * Opens the target of a job, with the password of PGPASSWORD and paths from the folder of the command. Without a job it is only
 * looked at.
 */
export function targetAt(into: string, job: PinnedJob | null, args: Args, io: Io): Promise<Target> {
  const folder = /^folder:(.+)$/.exec(into)?.[1];
  const scratch = args.text('scratch');
  return whileWaiting('waiting for the target', () =>
    openTarget(
      folder === undefined ? storeUrl(into, io) : `folder:${resolve(io.cwd, folder)}`,
      job,
      scratch === null ? {} : { scratch: resolve(io.cwd, scratch) },
    ).catch((error: unknown) => {
      throw (CallsError.is(error) && targetFailure(error)) || error;
    }),
  );
}

/** The credentials of accounts, from the folder of --keys and the environment. */
export function credentialsOf(args: Args, io: Io): CredentialSource {
  let isWarned = false;
  return credentialsFrom({
    folder: resolve(io.cwd, args.text('keys') ?? io.env.CALLS_FLEET_KEYS ?? '.'),
    env: io.env,
    onWarning(message) {
      // What holds for one of five hundred files mostly holds for all.
      if (!isWarned) say(io, `calls: ${message}`);
      isWarned = true;
    },
  });
}
