import { CallsError, type OptionShape } from '@call-attribution/core/errors';
import { fields } from '@call-attribution/core/fields';
import { type Duration, durationMillis, hour } from '@call-attribution/core/time';
import { toFilter } from '@call-attribution/query-dsl';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { FleetError } from '../errors.ts';
import { usualCredential } from './account-client.ts';
import type { Job, JobAccount } from './job.ts';
import { accountShape, jobShape } from './job-settings.ts';
import { hasPassword, isKeyName, looksLikeKey, looksRandom } from './key-in-clear.ts';

/** A refusal. Strings are never shown: one of them may be a key in the wrong place. */
export const invalid = (where: string, problem: string): FleetError =>
  new FleetError('job_invalid', `${where}: ${problem}`);

const wayOut =
  'A job lies on the board and in the target. Put the keys into a file of their own and name it with "credential": "file:101.json"';

/** Checks the settings of a job without its accounts. */
export function checkJob(job: Readonly<Record<string, unknown>>, where: string): void {
  checkSettings(job, jobShape, where);
  for (const name of ['name', 'baseUrl', 'accounts', 'into'] as const)
    if (job[name] === undefined)
      throw invalid(where, `${name} is missing. It is ${jobShape[name].expected}.`);
  const { baseUrl, version = 'v3', filter = '', from = null, until } = job as unknown as Job;
  checkUrl(baseUrl, where);
  checkFilter(filter, version, where);
  if (from !== null && until !== undefined && from >= until)
    throw invalid(where, 'from must be earlier than until.');
  checkTarget(job as unknown as Job, where);
}

/** Checks one account. */
export function checkAccount(account: unknown, where: string): asserts account is JobAccount {
  if (!isRecord(account)) throw invalid(where, 'an account is an object such as { "id": "101" }.');
  checkSettings(account, accountShape, where);
  if (account.id === undefined) throw invalid(where, `id is missing. It is ${accountShape.id.expected}.`);
  for (const name of ['id', 'name', 'credential'] as const)
    if (typeof account[name] === 'string' && looksRandom(account[name]))
      throw invalid(where, `${name} looks like a key in clear. ${wayOut}.`);
  const { credential } = account as unknown as JobAccount;
  const path = credential?.startsWith('file:') ? credential.slice(5) : null;
  if (path !== null && (/^[/\\]|^[A-Za-z]:/.test(path) || path.split(/[/\\]/).includes('..')))
    throw invalid(where, 'credential must name a file below the folder of keys, such as file:101.json.');
  if (credential?.startsWith('env:') && !/^env:[A-Za-z_][A-Za-z0-9_]*$/.test(credential))
    throw invalid(where, 'credential must name a variable, such as env:CALLS_101.');
}

/** Refuses ids that come twice, and keys that two accounts share: both would have the records of one. */
export function checkAccounts(accounts: readonly JobAccount[], where: string): void {
  if (accounts.length === 0)
    throw invalid(where, 'there is no account. Name at least one, such as { "id": "101" }.');
  const ids = new Set<string>();
  const owners = new Map<string, string>();
  for (const account of accounts) {
    const { id } = account;
    if (ids.has(id)) throw invalid(where, `account ${id} is there twice. Remove one of the two.`);
    ids.add(id);
    const reference = referenceOf(account);
    const owner = owners.get(reference);
    if (owner !== undefined)
      throw invalid(
        where,
        `accounts ${owner} and ${id} have the same credential, so both would get the records of one account. Give each its own.`,
      );
    owners.set(reference, id);
  }
}

/** Where the credentials of an account are. */
export const referenceOf = ({ id, credential }: JobAccount): string => credential ?? usualCredential(id);

function checkSettings(
  given: Readonly<Record<string, unknown>>,
  shape: OptionShape,
  where: string,
  prefix = '',
): void {
  for (const [name, value] of Object.entries(given)) {
    const kind = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (kind === undefined) throw unknownSetting(name, Object.keys(shape), where, prefix);
    if (typeof value === 'string' && looksLikeKey(value))
      throw invalid(where, `${prefix}${name} looks like a key in clear. ${wayOut}.`);
    if (!kind.accepts(value)) throw invalid(where, `${prefix}${name} must be ${kind.expected}.`);
    if (kind.inner && isRecord(value)) checkSettings(value, kind.inner, where, `${prefix}${name}.`);
  }
}

function unknownSetting(name: string, known: readonly string[], where: string, prefix: string): FleetError {
  const near = nearest(name, known);
  if (near === undefined && (looksLikeKey(name) || looksRandom(name)))
    return invalid(where, `the name of a setting looks like a key in clear. ${wayOut}.`);
  const shown = JSON.stringify(`${prefix}${name.slice(0, 40)}`);
  if (isKeyName(name) && name !== 'credentials')
    return invalid(where, `${shown} is a key in clear. ${wayOut}.`);
  return invalid(
    where,
    `there is no setting ${shown}. ${near === undefined ? `Known settings: ${known.join(', ')}.` : `Did you mean "${prefix}${near}"?`}`,
  );
}

function checkUrl(baseUrl: string, where: string): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw invalid(where, `baseUrl must be ${jobShape.baseUrl.expected}.`);
  if (url.username !== '' || url.password !== '')
    throw invalid(where, `baseUrl has a key in clear. ${wayOut}.`);
  if (url.search !== '' || url.hash !== '' || /\/v[23](?:\/|$)/.test(url.pathname))
    throw invalid(
      where,
      'baseUrl ends before the version and has no query. The version is a setting of its own.',
    );
}

function checkFilter(filter: string, version: 'v2' | 'v3', where: string): void {
  try {
    if (!toFilter(filter, { version }).clauses.some(({ field }) => field === 'date_added')) return;
  } catch (error) {
    if (!CallsError.is(error)) throw error;
    throw invalid(where, `filter: ${error.message}`);
  }
  throw invalid(where, 'filter has a range of date_added. Use from and until.');
}

const stores = /^(?:postgres|postgresql|sqlite):/;

/** Whether records go into a database. */
export const isStore = (into: string): boolean => stores.test(into);

function checkTarget({ into, version = 'v3', format, columns, sync }: Job, where: string): void {
  if (hasPassword(into))
    throw invalid(
      where,
      'into has a password in clear. Leave it out: each worker takes its own from PGPASSWORD or AWS_SECRET_ACCESS_KEY.',
    );
  if (
    !/^(?:postgres(?:ql)?:\/\/[^/]+\/.|sqlite:(?!:memory:).|folder:.|s3:\/\/[a-z0-9][a-z0-9.-]{2,})/.test(
      into,
    )
  )
    throw invalid(where, `into must be ${jobShape.into.expected}.`);
  if (isStore(into)) {
    for (const [name, value] of Object.entries({ format, columns }))
      if (value !== undefined)
        throw invalid(where, `${name} is for files. Leave it out: into names a database.`);
  } else if (sync != null && millis(sync.every) < hour)
    throw invalid(
      where,
      "sync.every must be '1h' or longer, since whole files are written. Use a database to sync more often.",
    );
  if (columns === undefined) return;
  if (format?.startsWith('ndjson'))
    throw invalid(
      where,
      `columns are for parquet and csv.gz. Leave them out: ${format} keeps each record as it was sent.`,
    );
  const known = fieldsOf(version);
  for (const [i, name] of columns.entries()) {
    if (columns.indexOf(name) < i)
      throw invalid(where, `columns has ${known.includes(name) ? name : 'a name'} twice.`);
    const near = nearest(name, known);
    if (!known.includes(name))
      throw invalid(
        where,
        `columns[${i}] is not a field of ${version}. ${near === undefined ? 'See docs/fields.md.' : `Did you mean ${near}?`}`,
      );
  }
}

/** All fields of a version. */
export const fieldsOf = (version: 'v2' | 'v3'): string[] =>
  fields.filter((field) => field[version] !== null).map(({ name }) => name);

const millis = (value: Duration): number => durationMillis(value, 'sync.every');

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
