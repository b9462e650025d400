import { type Duration, durationMillis, periodEnd, periodStart } from '@call-attribution/core/time';
import { printFilter, toFilter } from '@call-attribution/query-dsl';
import { storeKind } from '@call-attribution/store/url';

/** An account of a job. */
export interface JobAccount {
  /** Its id: `[A-Za-z0-9_.-]`, at most 64 characters. */
  readonly id: string;
  /** A name for people. Default: the id. */
  readonly name?: string | undefined;
  /**
   * Where each worker finds its credentials: `file:101.json` or `env:CALLS_101`. Never a key.
   * Default `file:<id>.json`.
   */
  readonly credential?: string | undefined;
  /** Requests in any minute for its credentials. Default: that of the job. */
  readonly requestsPerMinute?: number | undefined;
}

/** What to read, of which accounts, into what. Plain JSON without a secret. */
export interface Job {
  /** Name of the job: `[a-z0-9-]{1,40}`. */
  readonly name: string;
  /** URL of the API. */
  readonly baseUrl: string;
  /** Version of the API. Default `v3`. */
  readonly version?: 'v2' | 'v3' | undefined;
  /**
   * The accounts. In a file, also the path of a file of JSON or NDJSON with them, relative to the
   * job.
   */
  readonly accounts: readonly JobAccount[];
  /** Filter in addition to `date_added`, such as `inc_gce:1`. */
  readonly filter?: string | undefined;
  /** Where the period begins: a date or a naive time. Default: with the first call. */
  readonly from?: string | null | undefined;
  /**
   * Where it ends: a date includes its day, a time is not included. Default: with the latest call.
   */
  readonly until?: string | null | undefined;
  /**
   * Where records go: `postgres://user@host/db`, `sqlite:calls.db`, `folder:out`,
   * `s3://bucket/prefix`.
   */
  readonly into: string;
  /** Requests in any minute for one credential. Default: no limit. */
  readonly requestsPerMinute?: number | undefined;
  /**
   * Leave out records that cannot be read, and count them in the verdict. Default: the account is
   * set aside after some tries, so that nothing is left out unseen.
   */
  readonly skip?: boolean | undefined;
  /**
   * Time between two reads of an account, such as `10m`; of files at least `1h`. Default: the job
   * ends once all is read.
   */
  readonly every?: Duration | null | undefined;
  /** How far a sync into a store looks back for records that arrive late. Default `3d`. */
  readonly lookback?: Duration | undefined;
  /**
   * Age from which records no longer change. Months of files that are younger are written again.
   * Default `30d`.
   */
  readonly settle?: Duration | undefined;
}

/** An account with all its settings. */
export interface PlannedAccount {
  /** Its id. */
  readonly id: string;
  /** Its name. */
  readonly name: string;
  /** Reference of its credentials. */
  readonly credential: string;
  /** Requests in any minute; null: no limit. */
  readonly requestsPerMinute: number | null;
}

/** A job with every setting filled in, as a worker has read it from its own file. */
export interface PlannedJob {
  /** Name of the job. */
  readonly name: string;
  /** URL of the API. */
  readonly baseUrl: string;
  /** Version of the API. */
  readonly version: 'v2' | 'v3';
  /** Empty: all records. */
  readonly filter: string;
  /** First `date_added`; null is open. */
  readonly from: string | null;
  /** First `date_added` that is not read; null is open. */
  readonly until: string | null;
  /** Where records go. */
  readonly into: string;
  /** Whether records that cannot be read are left out. */
  readonly skip: boolean;
  /** Milliseconds between two reads of an account; null: it is read once. */
  readonly every: number | null;
  /** How far a sync looks back, in milliseconds. */
  readonly lookback: number;
  /** Age from which records no longer change, in milliseconds. */
  readonly settle: number;
  /** The accounts, by id. */
  readonly accounts: ReadonlyMap<string, PlannedAccount>;
}

/** Where the credentials of an account are. */
export const referenceOf = ({ id, credential }: JobAccount): string =>
  credential ?? `file:${id}.json`;

/** Whether records go into a database. */
export const isStore = (into: string): boolean => storeKind(into) !== null;

/** Fills in every setting of a job that was checked. */
export function planJob(job: Job): PlannedJob {
  const { name, version = 'v3', into, skip = false, every = null } = job;
  const baseUrl = job.baseUrl.trim();
  const accounts = job.accounts.map(
    (account): PlannedAccount => ({
      id: account.id,
      name: account.name ?? account.id,
      credential: referenceOf(account),
      requestsPerMinute: account.requestsPerMinute ?? job.requestsPerMinute ?? null,
    }),
  );
  return {
    name,
    baseUrl,
    version,
    into,
    skip,
    filter: filterOf(job, version),
    from: periodStart(job.from ?? ''),
    until: periodEnd(job.until ?? ''),
    every: every === null ? null : durationMillis(every, 'every'),
    lookback: durationMillis(job.lookback ?? '3d', 'lookback'),
    settle: durationMillis(job.settle ?? '30d', 'settle'),
    accounts: new Map(accounts.map((account) => [account.id, account])),
  };
}

/**
 * What is read. A store gets calls through call extensions whatever the filter says, as with `calls
 * sync`.
 */
function filterOf({ filter = '', into }: Job, version: 'v2' | 'v3'): string {
  const { clauses } = toFilter(filter, { version });
  const isMissing =
    isStore(into) && version === 'v3' && !clauses.some(({ kind }) => kind === 'flag');
  return printFilter({
    clauses: isMissing ? [...clauses, { kind: 'flag', field: 'inc_gce' }] : clauses,
  });
}
