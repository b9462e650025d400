import { nearest } from '@call-attribution/query-dsl/nearest';
import { ConfigurationError } from '../errors/classes.ts';
import { type Duration, durationMillis, parseDuration } from '../time/duration.ts';
// The fault vocabulary: everything that a test server can do wrong, as data. The hostile server of
// this kit and the sandbox use the same one. Faults can be written as text, so that a test in
// another process can ask for them.

/** Kinds of requests. */
export type RequestKind = 'list' | 'single' | 'count' | 'sms';

/** Forms in which servers are known to send a count. */
export type CountForm = 'number' | 'text' | 'object' | 'array' | 'header';

/** What can be said of a fault. */
export interface FaultWords {
  // Which requests it applies to; all of them when nothing is said.
  /** Only requests of this kind. */
  readonly on: RequestKind;
  /** Not the first so many requests. */
  readonly after: number;
  /** Only so many requests. */
  readonly times: number;
  /** Only every n-th request. */
  readonly every: number;
  /** Only this share (0 to 1) of the requests. */
  readonly share: number;

  // What goes wrong.
  /** Wait so long before anything else. */
  readonly latency: Duration;

  // A response in place of the right one.
  /** Respond with this status and an error document. */
  readonly status: number;
  /** The Retry-After header of the response: seconds or an HTTP date. */
  readonly retryAfter: string;
  /** Further headers of the response in place of the right one. */
  readonly headers: Readonly<Record<string, string>>;
  /** Respond with a login page, with status 200 unless `status` says otherwise. */
  readonly html: boolean;
  /** Redirect to this URL, with status 302 unless `status` says otherwise. */
  readonly redirect: string;
  /** Respond with status 200 and this error message in JSON. */
  readonly errorBody: string;
  /**
   * Respond as the SMS listing does when it fails: status 200, result `failed`, and this
   * description.
   */
  readonly smsFailed: string;

  // Another choice of records or another form.
  /** Never send more rows than this. */
  readonly clamp: number;
  /** Start the page this many records too late, as when records come or go between two pages. */
  readonly shift: number;
  /** Send a single record as an object or as an array of one. */
  readonly single: 'object' | 'array';
  /** Send a count in this form. */
  readonly count: CountForm;

  // The right response, damaged.
  /**
   * Leave Content-Range out, name another page in it, or claim one record more than the body has.
   */
  readonly range: 'none' | 'other-page' | 'too-long';
  /** The Content-Type header. */
  readonly contentType: string;
  /** Compress the body; `cut-gzip` loses the end of the compressed bytes. */
  readonly encoding: 'gzip' | 'br' | 'cut-gzip';
  /** Send so many bytes of spaces, compressed to a few. */
  readonly bomb: number;
  /** Put a byte into the body that UTF-8 does not have. */
  readonly brokenUtf8: boolean;
  /**
   * Send only this share (0 to 1) of the body, with a Content-Length that fits, so that nothing
   * seems missing.
   */
  readonly quietCut: number;

  // The connection.
  /** Close the connection after this share (0 to 1) of the body. */
  readonly cut: number;
  /** Send nothing more after this share (0 to 1) of the body; the connection stays open. */
  readonly stall: number;
  /** Send the body in pieces of so many bytes, one every `dripEvery`. */
  readonly drip: number;
  /** Time between the pieces of `drip`. @default 10 milliseconds */
  readonly dripEvery: Duration;
  /** Close the connection without a response. */
  readonly reset: boolean;
  /** Never respond; the connection stays open. */
  readonly silent: boolean;
  /** Send bytes that are not HTTP. */
  readonly notHttp: boolean;
}

/**
 * One thing that goes wrong, and for which requests. Whatever is left out stays as it should be.
 */
export type Fault = Partial<FaultWords>;

const half = (value: string, word: string): number => (value === '' ? 0.5 : decimal(value, word));

/** Each word of the text form, and how its value is read. */
const words: Readonly<Record<string, (value: string, word: string) => Fault>> = {
  latency: (value, word) => ({ latency: duration(value, word) }),
  status: (value, word) => ({ status: whole(value, word, 200, 599) }),
  'retry-after': (value, word) => ({ retryAfter: filled(value, word, 'seconds or a date') }),
  html: () => ({ html: true }),
  redirect: (value, word) => ({ redirect: filled(value, word, 'a URL') }),
  'error-body': (value) => ({ errorBody: value || 'invalid session' }),
  'sms-failed': (value) => ({ smsFailed: value || 'Invalid keys' }),
  clamp: (value, word) => ({ clamp: whole(value, word, 1, 1e6) }),
  shift: (value, word) => ({ shift: whole(value, word, -1e6, 1e6) }),
  single: (value, word) => ({ single: oneOf(value, word, ['object', 'array']) }),
  count: (value, word) => ({
    count: oneOf(value, word, ['number', 'text', 'object', 'array', 'header']),
  }),
  range: (value, word) => ({ range: oneOf(value, word, ['none', 'other-page', 'too-long']) }),
  type: (value, word) => ({ contentType: filled(value, word, 'a media type') }),
  encoding: (value, word) => ({ encoding: oneOf(value, word, ['gzip', 'br', 'cut-gzip']) }),
  bomb: (value, word) => ({ bomb: whole(value, word, 1, 1e9) }),
  'broken-utf8': () => ({ brokenUtf8: true }),
  'quiet-cut': (value, word) => ({ quietCut: half(value, word) }),
  cut: (value, word) => ({ cut: half(value, word) }),
  stall: (value, word) => ({ stall: half(value, word) }),
  drip: (value, word) => ({ drip: whole(value, word, 1, 1e9) }),
  'drip-every': (value, word) => ({ dripEvery: duration(value, word) }),
  reset: () => ({ reset: true }),
  silent: () => ({ silent: true }),
  'not-http': () => ({ notHttp: true }),
  on: (value, word) => ({ on: oneOf(value, word, ['list', 'single', 'count', 'sms']) }),
  after: (value, word) => ({ after: whole(value, word, 0, 1e9) }),
  times: (value, word) => ({ times: whole(value, word, 1, 1e9) }),
  every: (value, word) => ({ every: whole(value, word, 1, 1e9) }),
  share: (value, word) => ({ share: decimal(value, word) }),
};

/**
 * Reads faults from text. A semicolon separates faults, a comma the words of one fault. Throws a
 * `ConfigurationError` that names the word it cannot read.
 *
 * @example
 * parseFaults('status=429, retry-after=2, times=2; latency=200ms');
 * // [{ status: 429, retryAfter: '2', times: 2 }, { latency: '200ms' }]
 */
export function parseFaults(text: string): Fault[] {
  return text
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(
      (part) => Object.assign({}, ...part.split(',').map((word) => readWord(word.trim()))) as Fault,
    );
}

/** Puts faults together: waits add up, and for everything else the later fault wins. */
export function mergeFaults(faults: readonly Fault[]): Fault {
  const latency = faults.reduce(
    (sum, fault) => sum + durationMillis(fault.latency ?? 0, 'latency'),
    0,
  );
  return Object.assign({}, ...faults, latency > 0 ? { latency } : {});
}

function readWord(word: string): Fault {
  const [name = '', ...rest] = word.split('=');
  const read = Object.hasOwn(words, name.trim()) ? words[name.trim()] : undefined;
  if (read) return read(rest.join('=').trim(), word);
  const known = Object.keys(words);
  const near = nearest(name.trim(), known);
  throw new ConfigurationError(
    'invalid_option',
    `"${word}" is not a fault: ${near ? `did you mean ${near}?` : `expected one of ${known.join(', ')}`}`,
  );
}

const refuse = (word: string, expected: string): ConfigurationError =>
  new ConfigurationError(
    'invalid_option',
    `"${word}" cannot be read: expected ${expected} after "="`,
  );

function whole(value: string, word: string, least: number, most: number): number {
  const read = value === '' ? Number.NaN : Number(value);
  if (Number.isInteger(read) && read >= least && read <= most) return read;
  throw refuse(word, `a whole number from ${least} to ${most}`);
}

function duration(value: string, word: string): Duration {
  if (parseDuration(value) <= 600_000) return value as Duration;
  throw refuse(word, 'a duration of up to 10m, such as 200ms or 2s,');
}

function decimal(value: string, word: string): number {
  const read = value === '' ? Number.NaN : Number(value);
  if (read >= 0 && read <= 1) return read;
  throw refuse(word, 'a number from 0 to 1');
}

function filled(value: string, word: string, expected: string): string {
  if (value !== '' && /^[\x20-\x7e]+$/.test(value)) return value;
  throw refuse(word, expected);
}

function oneOf<T extends string>(value: string, word: string, list: readonly T[]): T {
  const found = list.find((entry) => entry === value);
  if (found) return found;
  throw refuse(word, `one of ${list.join(', ')}`);
}
