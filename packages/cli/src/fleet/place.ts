import { resolve } from 'node:path';
import { type Client, createClient, createLimiter } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import {
  type CredentialSource,
  credentialsFrom,
  type Engine,
  jobsIn,
  openPostgresEngine,
  openTarget,
  type PlannedAccount,
  type PlannedJob,
  readJob,
  type Target,
} from '@call-attribution/fleet';
import type { Args } from '../args/command.ts';
import { CliError, Interrupted, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { fleetFailure } from '../failures/fleet.ts';
import { type Io, say } from '../io.ts';
import { refusePassword, storeUrl } from '../stores/open.ts';
import { pause, whileWaiting } from '../term/waiting.ts';

/** The job that was typed: by its name, or by its file. */
export interface TypedJob {
  readonly name: string;
  /** What its file says; null when only the name was typed. */
  readonly job: PlannedJob | null;
}

/** The job of the command line. A word that can be a name is one; anything else is the path of a file. */
async function typedJob(word: string, io: Io): Promise<TypedJob> {
  if (/^[a-z0-9-]{1,40}$/.test(word)) return { name: word, job: null };
  const job = await readJob(resolve(io.cwd, word));
  return { name: job.name, job };
}

/** The URL of the engine that was typed or is in the environment; null when there is none. */
export function engineUrl(args: Args, io: Io): string | null {
  const typed = args.text('engine');
  if (typed !== null) refusePassword(typed, '--engine');
  const url = typed ?? (io.env.CALLS_FLEET || null);
  if (url === null || /^postgres(?:ql)?:\/\//.test(url)) return url;
  throw new UsageError(`${typed === null ? 'CALLS_FLEET' : '--engine'} must be postgres://user@host/name`, {
    hints: ['without it calls fleet work does the whole job in one process'],
  });
}

/** Milliseconds that a task other than work waits for an engine, and between two tries. */
const [patience, retryMs] = [30_000, 1_000];

/** Opens the engine of a job. `work` waits for one that does not answer; other tasks give up after half a minute. */
export async function openEngine(url: string, job: string, args: Args, io: Io): Promise<Engine> {
  return answered(() => openPostgresEngine(storeUrl(url, io), { job }), args, io);
}

async function answered<T>(work: () => Promise<T>, args: Args, io: Io): Promise<T> {
  const end = performance.now() + (args.command === 'fleet work' ? Number.POSITIVE_INFINITY : patience);
  let isSaid = false;
  return whileWaiting(null, async () => {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (io.signal.aborted) throw new Interrupted();
        const isAway = CallsError.is(error) && error.code === 'engine_unavailable';
        if (!isAway || performance.now() >= end) throw error;
        if (!isSaid) say(io, `${error.summary.replace(/\.$/, '')}; waiting (Ctrl-C ends)`);
        isSaid = true;
        await pause(retryMs, io.signal);
      }
    }
  });
}

/** The job and its engine, for a task that looks at what others do. */
export async function openShared(args: Args, io: Io): Promise<TypedJob & { readonly engine: Engine }> {
  const url = engineUrl(args, io);
  if (url === null) {
    throw new UsageError(
      `calls ${args.command} needs the engine that workers share: --engine postgres://user@host/name, or CALLS_FLEET`,
      {
        hints: [
          'without one, calls fleet work JOB.json does the whole job in one process, and says how it is',
        ],
      },
    );
  }
  const [word] = args.words;
  const typed = word === undefined ? await onlyJob(url, args, io) : await typedJob(word, io);
  return { ...typed, engine: await openEngine(url, typed.name, args, io) };
}

async function onlyJob(url: string, args: Args, io: Io): Promise<TypedJob> {
  const jobs = await answered(() => jobsIn(storeUrl(url, io)), args, io);
  const [name, ...more] = jobs;
  if (name !== undefined && more.length === 0) return { name, job: null };
  const command = `calls ${args.command}`;
  throw name === undefined
    ? new UsageError('the engine has no job', { hints: ['calls fleet work JOB.json starts one'] })
    : new UsageError(`${command}: the engine has several jobs: ${jobs.join(', ')}`, {
        hints: [`${command} ${name}`],
      });
}

/** Opens the target of a job, with the password of PGPASSWORD and paths from the folder of the command. */
export function targetAt(into: string, io: Io): Promise<Target> {
  const folder = /^folder:(.+)$/.exec(into)?.[1];
  return whileWaiting('waiting for the target', () =>
    openTarget(folder === undefined ? storeUrl(into, io) : `folder:${resolve(io.cwd, folder)}`, io.env).catch(
      (error: unknown) => {
        throw CallsError.is(error) && error.name === 'StoreError' ? fleetFailure(error) : error;
      },
    ),
  );
}

/** The credentials of accounts, from the folder of --keys and the environment. */
export function credentialsOf(args: Args, io: Io): CredentialSource {
  let isWarned = false;
  return credentialsFrom({
    folder: resolve(io.cwd, (args.has('keys') ? args.text('keys') : null) ?? io.env.CALLS_FLEET_KEYS ?? '.'),
    env: io.env,
    onWarning(message) {
      // What holds for one of five hundred files mostly holds for all.
      if (!isWarned) say(io, `calls: ${message}`);
      isWarned = true;
    },
  });
}

/** A client of an account of a job, for a task that asks the API itself. Only the job's file says where the keys are and where requests go. */
export async function clientOf(
  job: PlannedJob,
  { id, credential, requestsPerMinute }: PlannedAccount,
  credentials: CredentialSource,
): Promise<Client> {
  const auth = await credentials(credential, id);
  const limiter = requestsPerMinute === null ? {} : { limiter: createLimiter({ requestsPerMinute }) };
  return createClient({ baseUrl: job.baseUrl, version: job.version, auth, ...limiter });
}

/** The error of a job that the engine does not know. */
export const unknownJob = (name: string): CliError =>
  new CliError(`the engine has no job ${name}`, {
    exitCode: exitCodes.usage,
    hints: ['calls fleet work JOB.json starts it'],
  });
