import type { Duration } from '@call-attribution/core/time';

/** How the files of a folder or bucket are written. */
export type FileFormat = 'parquet' | 'ndjson.gz' | 'ndjson' | 'csv.gz';

/** An account of a job. */
export interface JobAccount {
  /** Its id: `[A-Za-z0-9_.-]`, at most 64 characters. */
  readonly id: string;
  /** A name for people. Default: the id. */
  readonly name?: string | undefined;
  /** Where each worker finds its credentials: `file:101.json` or `env:CALLS_101`. Never a key. Default `file:<id>.json`. */
  readonly credential?: string | undefined;
  /** Requests in any minute for its credentials, all workers together. Default: that of the job. */
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
  /** The accounts. In a file, also the path of a file of JSON or NDJSON with them, relative to the job. */
  readonly accounts: readonly JobAccount[];
  /** Filter in addition to `date_added`, such as `inc_gce:1`. */
  readonly filter?: string | undefined;
  /** Where the period begins: a date or a naive time. Default: open. */
  readonly from?: string | null | undefined;
  /** Where it ends: a date includes its day, a time is not included. Default, and the latest there is: 14 hours before the plan is made. */
  readonly to?: string | undefined;
  /** Where records go: `postgres://user@host/db`, `sqlite:calls.db`, `folder:out`, `s3://bucket/prefix`. */
  readonly into: string;
  /** How files are written. Default `parquet`; not for a store. */
  readonly format?: FileFormat | undefined;
  /** Columns of Parquet and CSV. Default: all fields of the version as this release knows them. */
  readonly columns?: readonly string[] | undefined;
  /** `month` ends parcels at months, so that files lie in a folder for each. Default `month` for files, `none` for a store. */
  readonly partition?: 'month' | 'none' | undefined;
  /** Records a parcel should have. Default 50,000. */
  readonly parcel?: number | undefined;
  /** Parcels of one account that are read at the same time. Default 2. */
  readonly lanes?: number | undefined;
  /** Pages that a slice of a parcel may have. Default 10; 1 proves each slice by a single response, for a fifth more requests. */
  readonly pages?: number | undefined;
  /** Requests in any minute for one credential, all workers together. Default: no limit. */
  readonly requestsPerMinute?: number | undefined;
  /** Tries before a parcel is set aside. Default 5. */
  readonly tries?: number | undefined;
  /**
   * Leave out records that cannot be read, and count them in the verdict of their parcel. Default: the parcel is set aside after
   * its tries, so that nothing is left out unseen.
   */
  readonly skip?: boolean | undefined;
  /** Keep accounts up to date once their backfill is proved. Default: no. */
  readonly sync?: JobSync | null | undefined;
}

/** How accounts are kept up to date. */
export interface JobSync {
  /** Time between two syncs of an account, such as `10m`. A target of files: at least `1h`. */
  readonly every: Duration;
  /** How far a sync looks back for records that arrive late. Default `3d`. */
  readonly lookback?: Duration | undefined;
  /** Age from which records no longer change; the first sync looks back so far. Default `30d`. */
  readonly settle?: Duration | undefined;
}

/** A job with every setting filled in, as it was planned. It is kept on the board and in the target, and never changes. */
export interface PinnedJob {
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
  /** First `date_added` that is not read. */
  readonly to: string;
  /** Where records go. */
  readonly into: string;
  /** How files are written; null for a store. */
  readonly format: FileFormat | null;
  /** Columns of Parquet and CSV; null for a store and for NDJSON. */
  readonly columns: readonly string[] | null;
  /** Whether parcels end at months. */
  readonly partition: 'month' | 'none';
  /** Records a parcel should have. */
  readonly parcel: number;
  /** Parcels of one account that are read at the same time. */
  readonly lanes: number;
  /** Pages that a slice of a parcel may have. */
  readonly pages: number;
  /** Requests in any minute for one credential; null: no limit. */
  readonly requestsPerMinute: number | null;
  /** Tries before a parcel is set aside. */
  readonly tries: number;
  /** Whether records that cannot be read are left out. */
  readonly skip: boolean;
  /** How accounts are kept up to date, in milliseconds; null: they are not. */
  readonly sync: { readonly every: number; readonly lookback: number; readonly settle: number } | null;
}
