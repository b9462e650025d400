import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { jsonError } from '@call-attribution/core/settings';
import { checkAccount, checkAccounts, checkJob, invalid, isRecord } from './check-job.ts';
import type { Job, JobAccount } from './job.ts';

/**
 * Reads a job from a file of JSON and checks all of it; `accounts` may be the path of a file of JSON or NDJSON, relative to
 * the job. What cannot be used, and anything that looks like a key in clear, is refused with `job_invalid` before anything is
 * sent.
 *
 * @example
 * const job = await readJob('history.json');
 */
export async function readJob(path: string): Promise<Job> {
  const json = parse(await read(path, `The job ${path}`), path);
  if (!isRecord(json)) throw invalid(path, 'a job is one JSON object.');
  checkJob(json, path);
  const { accounts: given, ...rest } = json as unknown as Omit<Job, 'accounts'> & { accounts: unknown };
  const accounts =
    typeof given === 'string'
      ? await readAccounts(path, given)
      : (given as readonly unknown[]).map((account, i) => accountAt(account, `${path}: accounts[${i}]`));
  checkAccounts(accounts, path);
  return { ...rest, accounts };
}

async function readAccounts(job: string, given: string): Promise<JobAccount[]> {
  const path = resolve(dirname(job), given);
  const text = await read(path, `${job}: the file of accounts ${given}`);
  if (text.trimStart().startsWith('[')) {
    const json = parse(text, given) as readonly unknown[];
    return json.map((account, i) => accountAt(account, `${given}: [${i}]`));
  }
  return text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    const where = `${given}: line ${i + 1}`;
    return [accountAt(parse(line, where), where)];
  });
}

function accountAt(account: unknown, where: string): JobAccount {
  checkAccount(account, where);
  return account;
}

async function read(path: string, what: string): Promise<string> {
  try {
    return new TextDecoder().decode(await readFile(path));
  } catch (error) {
    const { code = 'unknown reason' } = error as { code?: string };
    throw invalid(what, code === 'ENOENT' ? 'there is no such file.' : `it cannot be read (${code}).`);
  }
}

function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The message of JSON.parse quotes what is around the place.
    const { line, column, expected } = jsonError(text);
    throw invalid(where, `not JSON: line ${line}, column ${column} should have ${expected}.`);
  }
}
