import { CallsError } from '@call-attribution/core/errors';
import { accountNameForm, accountNameWords } from '@call-attribution/core/settings';
import {
  type Duration,
  hour,
  parseDuration,
  periodEnd,
  periodStart,
} from '@call-attribution/core/time';
import { toFilter } from '@call-attribution/query-dsl';
import { storeFile, storeKind } from '@call-attribution/store/url';
import * as z from 'zod';
import { isStore, type Job, type JobAccount, referenceOf } from './job.ts';
import { hasPassword, looksRandom, refuseKeys, wayOut } from './key-in-clear.ts';

// What a job and its accounts may be. zod is loaded with this, so only those import it who read a
// job.

const checked = (expected: string, isGood: (text: string) => boolean) =>
  z.string(expected).refine(isGood, expected);
const shaped = (expected: string, form: RegExp) => z.string(expected).regex(form, expected);
const whole = (least: number) =>
  z
    .int(`must be a whole number of at least ${least}`)
    .min(least, `must be a whole number of at least ${least}`);

const time = checked(
  "must be a date or a time, such as '2026-11-01' or '2026-11-01 08:30:00'",
  (text) => periodStart(text) !== null,
);
const duration = z.custom<Duration>(
  (value) => (typeof value === 'string' ? parseDuration(value) : Number(value)) > 0,
  "must be a duration above 0, such as '10m', '1h' or '3d'",
);
const apiUrl = 'must be the URL of the API, such as https://api.example.com';

const isBelow = (path: string): boolean =>
  !/^[/\\]|^[A-Za-z]:/.test(path) && !path.split(/[/\\]/).includes('..');

const account = z
  .strictObject(
    {
      id: shaped(`must be ${accountNameWords}`, accountNameForm),
      name: shaped(
        'must be a string of at most 200 characters in one line',
        /^[^\p{Cc}]{1,200}$/u,
      ).optional(),
      credential: shaped(
        "must be a reference such as 'file:101.json' or 'env:CALLS_101'",
        /^(?:file|env):\S/,
      )
        .refine(
          (text) => !text.startsWith('file:') || isBelow(text.slice(5)),
          'must name a file below the folder of keys, such as file:101.json',
        )
        .refine(
          (text) => !text.startsWith('env:') || /^env:[A-Za-z_][A-Za-z0-9_]*$/.test(text),
          'must name a variable, such as env:CALLS_101',
        )
        .optional(),
      requestsPerMinute: whole(1).optional(),
    } satisfies Record<keyof JobAccount, z.ZodType>,
    {
      error: ({ code }) =>
        code === 'invalid_type' ? 'must be an object such as { "id": "101" }' : undefined,
    },
  )
  .superRefine((given, context) => {
    for (const name of ['id', 'name', 'credential'] as const)
      if (looksRandom(given[name] ?? ''))
        context.addIssue({
          code: 'custom',
          path: [name],
          message: 'looks like a key in clear',
          params: { hint: wayOut },
        });
  });

/** One account, as a line of a file of accounts has it. */
export const accountSchema = z.unknown().superRefine(refuseKeys).pipe(account);

const some = 'must name at least one account, such as { "id": "101" }';

/**
 * Accounts of which each has an id and credentials of its own: two with the same would have the
 * records of one.
 */
export const accountsSchema = z
  .array(accountSchema)
  .min(1, some)
  .superRefine((accounts, context) => {
    const ids = new Set<string>();
    const owners = new Map<string, string>();
    for (const [at, one] of accounts.entries()) {
      const refuse = (message: string, hint: string) =>
        context.addIssue({ code: 'custom', path: [at], message, params: { hint } });
      const owner = owners.get(referenceOf(one));
      if (ids.has(one.id)) refuse(`is account ${one.id} a second time`, 'remove one of the two');
      else if (owner !== undefined)
        refuse(
          `has the credential of account ${owner}, so both would get the records of one account`,
          'give each its own',
        );
      ids.add(one.id);
      owners.set(referenceOf(one), one.id);
    }
  });

/** Can calls be put there? */
function isPlace(text: string): boolean {
  const kind = storeKind(text);
  if (kind === 'postgres') return /^[a-z]+:\/\/[^/]+\/./i.test(text);
  if (kind === 'sqlite') return /^(?!\/\/)./.test(storeFile(text) ?? '');
  return /^(?:folder:.|s3:\/\/[a-z0-9][a-z0-9.-]{2,})/.test(text);
}

const settings = {
  name: shaped('must be 1 to 40 of a-z, 0-9 and hyphens', /^[a-z0-9-]{1,40}$/),
  baseUrl: z.string(apiUrl).superRefine(checkUrl),
  version: z.enum(['v2', 'v3']).optional(),
  filter: z.string().optional(),
  from: time.nullish(),
  until: time.nullish(),
  into: checked(
    'must be postgres://user@host/db, sqlite:<file>, folder:<path> or s3://bucket/prefix',
    isPlace,
  ),
  requestsPerMinute: whole(1).optional(),
  skip: z.boolean().optional(),
  every: duration.nullish(),
  lookback: duration.optional(),
  settle: duration.optional(),
} satisfies Record<Exclude<keyof Job, 'accounts'>, z.ZodType>;

type Settings = Omit<Job, 'accounts'>;

/** A job whose accounts are in it. */
export const jobSchema = jobWith(accountsSchema);

/** A job as a file has it: `accounts` may be the path of another file. */
export const jobFileSchema = jobWith(z.union([accountsSchema, z.string().min(1)]));

function jobWith<Accounts extends z.ZodType>(accounts: Accounts) {
  return z
    .unknown()
    .superRefine(refuseKeys)
    .pipe(z.strictObject({ ...settings, accounts }).superRefine(checkJob));
}

type Refuse = (name: string | number | (string | number)[], message: string, hint?: string) => void;

/** Refuses settings that do not go together. */
function checkJob(job: Settings, context: z.RefinementCtx): void {
  const refuse: Refuse = (name, message, hint) =>
    context.addIssue({ code: 'custom', path: [name].flat(), message, params: { hint } });
  const { from, until, into, every } = job;
  checkFilter(job, refuse);
  const begin = periodStart(from ?? '');
  const end = periodEnd(until ?? '');
  if (begin !== null && end !== null && begin >= end) refuse('from', 'must be earlier than until');
  if (hasPassword(into))
    refuse(
      'into',
      'has a password in clear',
      'leave it out: each worker takes its own from PGPASSWORD or AWS_SECRET_ACCESS_KEY',
    );

  if (!isStore(into) && every != null && millis(every) < hour)
    refuse(
      'every',
      "must be '1h' or longer, since whole files are written",
      'use a database to sync more often',
    );
}

function checkFilter({ filter = '', version = 'v3' }: Settings, refuse: Refuse): void {
  try {
    if (toFilter(filter, { version }).clauses.some(({ field }) => field === 'date_added'))
      refuse('filter', 'has a range of date_added', 'use from and until');
  } catch (error) {
    if (!CallsError.is(error)) throw error;
    refuse('filter', `cannot be used: ${error.message}`);
  }
}

const millis = (value: Duration): number =>
  typeof value === 'string' ? parseDuration(value) : value;

function checkUrl(text: string, context: z.RefinementCtx): void {
  const refuse = (message: string, hint?: string) =>
    context.addIssue({ code: 'custom', message, params: { hint } });
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) refuse(apiUrl);
  else if (url.username !== '' || url.password !== '') refuse('has a key in clear', wayOut);
  else if (url.search !== '' || url.hash !== '' || /\/v[23](?:\/|$)/.test(url.pathname))
    refuse('must end before the version and have no query', 'the version is a setting of its own');
}
