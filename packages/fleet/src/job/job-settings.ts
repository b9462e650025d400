import {
  either,
  group,
  kinds,
  type OptionKind,
  type OptionShape,
  oneOf,
  only,
  whole,
} from '@call-attribution/core/errors';
import { parseDuration, parseNaive, second } from '@call-attribution/core/time';
import type { Job, JobAccount, JobSync } from './job.ts';

// What the settings of a job may be, each for itself. How they go together is checked in check-job.ts.

const time: OptionKind = {
  expected: "a time as 'YYYY-MM-DD HH:MM:SS'",
  accepts: (value) => parseNaive(value) % second === 0,
};

const duration: OptionKind = {
  expected: "a duration above 0, such as '10m', '1h' or '3d'",
  accepts: (value) => (typeof value === 'string' ? parseDuration(value) : Number(value ?? 0)) > 0,
};

const text = (expected: string, form: RegExp): OptionKind => ({
  expected,
  accepts: (value) => typeof value === 'string' && form.test(value),
});

const upTo = (most: number): OptionKind => ({
  expected: `a whole number from 1 to ${most}`,
  accepts: (value) => whole(1).accepts(value) && (value as number) <= most,
});

export const jobShape = {
  name: text('1 to 40 of a-z, 0-9 and hyphens', /^[a-z0-9-]{1,40}$/),
  baseUrl: text('the URL of the API, such as https://api.example.com', /^\s*\S/),
  version: oneOf('v2', 'v3'),
  accounts: either(kinds.list, {
    expected: 'the path of a file of JSON or NDJSON',
    accepts: kinds.string.accepts,
  }),
  filter: kinds.string,
  from: either(time, only(null)),
  until: time,
  into: text('postgres://user@host/db, sqlite:<file>, folder:<path> or s3://bucket/prefix', /\S/),
  format: oneOf('parquet', 'ndjson.gz', 'ndjson', 'csv.gz'),
  columns: {
    expected: 'a list of names of fields',
    accepts: (value) =>
      Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string'),
  },
  partition: oneOf('month', 'none'),
  parcel: whole(1),
  lanes: upTo(64),
  pages: whole(1),
  requestsPerMinute: whole(1),
  tries: whole(1),
  skip: kinds.flag,
  sync: either(
    group({
      every: duration,
      lookback: duration,
      settle: duration,
    } satisfies OptionShape & Record<keyof JobSync, OptionKind>),
    only(null),
  ),
} satisfies OptionShape & Record<keyof Job, OptionKind>;

export const accountShape = {
  // Dots alone would be a way to another folder.
  id: text('1 to 64 of A-Z, a-z, 0-9, _, - and dots', /^(?!\.+$)[A-Za-z0-9_.-]{1,64}$/),
  name: text('a string of at most 200 characters in one line', /^[^\p{Cc}]{1,200}$/u),
  credential: text("a reference such as 'file:101.json' or 'env:CALLS_101'", /^(?:file|env):\S/),
  requestsPerMinute: whole(1),
} satisfies OptionShape & Record<keyof JobAccount, OptionKind>;
