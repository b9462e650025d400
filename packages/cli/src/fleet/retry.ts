import { CallsError } from '@call-attribution/core/errors';
import { type PlannedJob, type RetryResult, retryAside } from '@call-attribution/fleet';
import type { Args } from '../args.ts';
import { Interrupted } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say } from '../io.ts';
import { clientOf, credentialsOf, openShared } from './place.ts';
import { reasonText } from './status.ts';

/** `calls fleet retry`: takes what was set aside back into the work, once its reason is gone. */
export async function retry(args: Args, io: Io): Promise<number> {
  const { name, job, engine } = await openShared(args, io);
  try {
    const results = await retryAside(engine, {
      accounts: args.list('account'),
      ...(job === null ? {} : { tryKeys: keysTried(job, args, io) }),
    });
    if (results.length === 0) say(io, `${name}: nothing is set aside`);
    for (const result of results) say(io, lineOf(result));
    const refused = results.filter(({ outcome }) => outcome === 'refused');
    if (refused.length === 0) return exitCodes.ok;
    return refused.length === results.length ? exitCodes.refused : exitCodes.incomplete;
  } finally {
    await engine.close();
  }
}

/** Tries the keys of an account with one request. */
function keysTried(job: PlannedJob, args: Args, io: Io) {
  const credentials = credentialsOf(args, io);
  return async (id: string): Promise<{ readonly code: string; readonly message: string } | null> => {
    const account = job.accounts.get(id);
    if (account === undefined) return null;
    try {
      await using client = await clientOf(job, account, credentials);
      await client.listCalls({ rows: 1, signal: io.signal });
      return null;
    } catch (error) {
      if (io.signal.aborted) throw new Interrupted();
      if (!CallsError.is(error) || error.kind !== 'keys') return null;
      return { code: error.code, message: error.summary };
    }
  };
}

function lineOf({ account, outcome, code, message }: RetryResult): string {
  switch (outcome) {
    case 'again':
      return `${account}: back to work`;
    case 'sooner':
      return `${account}: was not set aside; its turn comes now`;
    case 'refused':
      return `${account}: stays set aside: ${reasonText(code ?? 'unknown', message)}`;
  }
}
