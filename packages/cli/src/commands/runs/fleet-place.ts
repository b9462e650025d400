import { resolve } from 'node:path';
import { type Client, createClient, createLimiter } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import {
  type CredentialSource,
  credentialsFrom,
  type Engine,
  jobsIn,
  openPostgresEngine,
  type PlannedAccount,
  type PlannedJob,
  readJob,
} from '@call-attribution/fleet';
import { storeKind } from '@call-attribution/store/url';
import type { Args } from '../../args.ts';
import { UsageError } from '../../errors.ts';
import { type Io, say } from '../../io.ts';
import { refusePassword, storeUrl } from '../../stores/open.ts';
import { untilOpen } from '../../syncing/repeat.ts';
import { plural } from '../../terminal/numbers.ts';
import { sayRetry } from '../typed/repeat.ts';

/** The URL of the engine that was typed or is in the environment; null when there is none. */
export function engineUrl(args: Args, io: Io): string | null {
  const typed = args.text('engine');
  if (typed !== null) refusePassword(typed, '--engine');
  const url = typed ?? (io.env.CALLS_FLEET || null);
  if (url === null || storeKind(url) === 'postgres') return url;
  throw new UsageError(
    `${typed === null ? 'CALLS_FLEET' : '--engine'} must be postgres://user@host/name`,
    ['without it calls fleet work does the whole job in one process'],
  );
}

/** Opens the engine of a job. `work` waits for one that does not answer. */
export function openEngine(url: string, job: string, args: Args, io: Io): Promise<Engine> {
  const everyMs = args.command === 'fleet work' ? 10_000 : null;
  const onFailure = sayRetry(everyMs ?? 0, io);
  const open = () => openPostgresEngine(storeUrl(url, io), { job });
  return untilOpen(open, everyMs, io.signal, onFailure);
}

/**
 * The job that was typed, by its name or its file, and its engine, for a task that looks at what
 * others do.
 */
export async function openShared(
  args: Args,
  io: Io,
): Promise<{ readonly name: string; readonly engine: Engine }> {
  const command = `calls ${args.command}`;
  const url = engineUrl(args, io);
  if (url === null)
    throw new UsageError(
      `${command} needs the engine that workers share: --engine postgres://user@host/name, or CALLS_FLEET`,
      ['without one, calls fleet work JOB.json does the whole job in one process'],
    );

  let [name] = args.words;

  // A word that can be a name is one; anything else is the path of a file.
  if (name !== undefined && !/^[a-z0-9-]{1,40}$/.test(name))
    ({ name } = await readJob(resolve(io.cwd, name)));
  if (name === undefined) {
    const [only, ...more] = await jobsIn(storeUrl(url, io));
    if (only === undefined)
      throw new UsageError('the engine has no job', ['calls fleet work JOB.json starts one']);
    if (more.length > 0)
      throw new UsageError(
        `${command}: the engine has several jobs: ${[only, ...more].join(', ')}`,
        [`${command} ${only}`],
      );
    name = only;
  }

  return { name, engine: await openEngine(url, name, args, io) };
}

/** The folder of a target that is one, from that of the command; null for any other target. */
export function folderOf(into: string, { cwd }: Pick<Io, 'cwd'>): string | null {
  const folder = /^folder:(.+)$/.exec(into)?.[1];
  return folder === undefined ? null : resolve(cwd, folder);
}

/**
 * The credentials of accounts, from the folder of --keys and the environment, and what is wrong with
 * some of them. All are read once at first: of several files that others can read, one line names
 * all.
 */
export async function credentialsOf(
  accounts: Iterable<PlannedAccount>,
  args: Args,
  io: Io,
): Promise<{ readonly credentials: CredentialSource; readonly problems: readonly CallsError[] }> {
  const exposed = new Map<string, string>();
  let isFirst = true;
  const credentials = credentialsFrom({
    folder: resolve(io.cwd, args.text('keys') ?? io.env.CALLS_FLEET_KEYS ?? '.'),
    env: io.env,
    onWarning(message, reference) {
      if (isFirst) exposed.set(reference, message);
      else say(io, `calls: ${message}`);
    },
  });

  const problems: CallsError[] = [];
  for (const { id, credential } of accounts)
    try {
      await credentials(credential, id);
    } catch (error) {
      if (!CallsError.is(error)) throw error;
      problems.push(error);
    }
  isFirst = false;

  const [only] = exposed.values();
  if (exposed.size > 1)
    say(
      io,
      `calls: ${plural(exposed.size, 'file')} of credentials can be read by other users of this machine: ${[...exposed.keys()].map((each) => each.replace('file:', '')).join(', ')}. Run chmod 600 on them.`,
    );
  else if (only !== undefined) say(io, `calls: ${only}`);
  return { credentials, problems };
}

/**
 * A client of an account of a job, for a task that asks the API itself. Only the job's file says
 * where the keys are and where requests go.
 */
export async function clientOf(
  job: PlannedJob,
  { id, credential, requestsPerMinute }: PlannedAccount,
  credentials: CredentialSource,
): Promise<Client> {
  const auth = await credentials(credential, id);
  const limiter =
    requestsPerMinute === null ? {} : { limiter: createLimiter({ requestsPerMinute }) };
  return createClient({ baseUrl: job.baseUrl, version: job.version, auth, ...limiter });
}
