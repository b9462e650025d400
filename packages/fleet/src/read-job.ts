import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf } from '@call-attribution/core/errors';
import { readInput, readJsonInput } from '@call-attribution/core/settings';
import { jobError } from './errors.ts';
import { type Job, type JobAccount, type PlannedJob, planJob } from './job.ts';

/** zod is loaded with the first job. */
const schemas = () => import('./job-schema.ts');

/**
 * Reads a job from a file of JSON and checks all of it; `accounts` may be the path of a file of
 * JSON or NDJSON, relative to the job. What cannot be used, and anything that looks like a key in
 * clear, is refused with `job_invalid` before anything is sent.
 *
 * @example
 * const job = await readJob('history.json');
 */
export async function readJob(path: string): Promise<PlannedJob> {
  const { jobFileSchema } = await schemas();
  const { accounts, ...job } = readJsonInput(jobFileSchema, await read(path, path), path, jobError);
  return planJob({
    ...job,
    accounts: typeof accounts === 'string' ? await readAccounts(path, accounts) : accounts,
  });
}

/** Checks a job that a program has made, and refuses one that cannot be used. */
export async function checkJob(job: Job): Promise<PlannedJob> {
  const { jobSchema } = await schemas();
  return planJob(readInput(jobSchema, job, 'The job', jobError));
}

async function readAccounts(job: string, given: string): Promise<JobAccount[]> {
  const { accountSchema, accountsSchema } = await schemas();
  const text = await read(resolve(dirname(job), given), `${job}: accounts: ${given}`);
  if (text.trimStart().startsWith('[')) return readJsonInput(accountsSchema, text, given, jobError);

  const accounts = [];
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    accounts.push(readJsonInput(accountSchema, line, `${given}: line ${at + 1}`, jobError));
  }

  return readInput(accountsSchema, accounts, given, jobError);
}

async function read(path: string, what: string): Promise<string> {
  try {
    return new TextDecoder().decode(await readFile(path));
  } catch (error) {
    const code = codeOf(error) ?? 'unknown reason';
    throw jobError({
      message: `${what}: ${code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`}`,
    });
  }
}
