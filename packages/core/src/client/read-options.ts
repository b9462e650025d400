import { nearest } from '@call-attribution/query-dsl';
import { type Auth, checkAuth, type KeyAuth } from '../auth/auth.ts';
import { ConfigurationError } from '../errors/calls-error.ts';
import { type Clock, systemClock } from '../http/clock.ts';
import { createLimiter, type Limiter } from '../http/limiter.ts';
import type { RetryPolicy } from '../http/retry.ts';
import { packageVersion } from '../package-version.ts';
import type { RecordMode } from '../record/to-call.ts';
import type { Version } from '../version.ts';
import { type Address, readAddress } from './address.ts';
import type { ClientOptions, Report, Timeouts } from './client-options.ts';

/** Options as the client uses them: checked, defaults filled in. */
export interface Settings {
  readonly base: Address;
  readonly legacy: Address | undefined;
  readonly version: Version;
  readonly auth: Auth | undefined;
  readonly legacyAuth: KeyAuth | undefined;
  readonly timeout: Timeouts;
  readonly retry: RetryPolicy;
  readonly limiter: Limiter | undefined;
  readonly dispatcher: ClientOptions['dispatcher'];
  readonly maxBodyBytes: number;
  readonly compress: boolean;
  readonly records: RecordMode;
  readonly onReport: ((report: Report) => void) | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly userAgent: string;
}

const names = new Set<string>([
  'baseUrl',
  'legacyBaseUrl',
  'version',
  'auth',
  'legacyAuth',
  'timeout',
  'retry',
  'limiter',
  'dispatcher',
  'maxBodyBytes',
  'compress',
  'records',
  'onReport',
  'clock',
  'random',
  'userAgent',
] satisfies (keyof ClientOptions)[]);

/** Checks the options of a client at construction, so that no request is ever sent with half a configuration. */
export function readOptions(options: ClientOptions): Settings {
  if (typeof options !== 'object' || options === null)
    throw wrong('options', 'an object with at least baseUrl');
  refuseUnknown(options, names, '');
  const version = options.version ?? 'v3';
  if (version !== 'v2' && version !== 'v3') throw wrong('version', "'v2' or 'v3'");
  if (options.auth !== undefined) checkAuth(options.auth, version);
  if (options.legacyAuth !== undefined) checkAuth(options.legacyAuth, 'v3');
  const records = options.records ?? 'report';
  if (!['strict', 'report', 'off'].includes(records)) throw wrong('records', "'strict', 'report' or 'off'");
  const clock = options.clock ?? systemClock;
  const userAgent = options.userAgent ?? `call-attribution-core/${packageVersion}`;
  if (!/^[\x20-\x7e]{1,256}$/.test(userAgent))
    throw wrong('userAgent', 'up to 256 printable ASCII characters');
  return {
    base: readAddress(options.baseUrl, 'baseUrl'),
    legacy:
      options.legacyBaseUrl === undefined ? undefined : readAddress(options.legacyBaseUrl, 'legacyBaseUrl'),
    version,
    auth: options.auth,
    legacyAuth: options.legacyAuth ?? (options.auth?.kind === 'keys' ? options.auth : undefined),
    timeout: readTimeouts(options.timeout ?? {}),
    retry: readRetry(options.retry ?? {}),
    limiter: readLimiter(options.limiter, clock),
    dispatcher: options.dispatcher,
    maxBodyBytes: whole(options.maxBodyBytes ?? 64 * 1024 * 1024, 'maxBodyBytes', 1),
    compress: options.compress ?? true,
    records,
    onReport: options.onReport,
    clock,
    random: options.random ?? Math.random,
    userAgent,
  };
}

function readTimeouts(given: Partial<Timeouts>): Timeouts {
  const defaults: Timeouts = { connect: 10_000, idle: 15_000, attempt: 60_000, total: 120_000 };
  refuseUnknown(given, new Set(Object.keys(defaults)), 'timeout.');
  const timeouts = withDefaults(defaults, given);
  for (const [name, ms] of Object.entries(timeouts))
    if (typeof ms !== 'number' || !(ms > 0))
      throw wrong(`timeout.${name}`, 'milliseconds above 0, or Infinity');
  return timeouts;
}

function readRetry(given: Partial<RetryPolicy>): RetryPolicy {
  const defaults: RetryPolicy = { attempts: 4, baseDelay: 250, maxDelay: 8000 };
  refuseUnknown(given, new Set(Object.keys(defaults)), 'retry.');
  const policy = withDefaults(defaults, given);
  whole(policy.attempts, 'retry.attempts', 1);
  whole(policy.baseDelay, 'retry.baseDelay', 0);
  whole(policy.maxDelay, 'retry.maxDelay', 0);
  return policy;
}

/** An option that is there but undefined, as merged configurations have them, counts as left out. */
const withDefaults = <T extends object>(defaults: T, given: Partial<T>): T => ({
  ...defaults,
  ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
});

function readLimiter(given: ClientOptions['limiter'], clock: Clock): Limiter | undefined {
  if (given === undefined) return undefined;
  if ('acquire' in given) return given;
  refuseUnknown(given, new Set(['requestsPerMinute', 'concurrency', 'adaptive']), 'limiter.');
  if (given.requestsPerMinute !== undefined) whole(given.requestsPerMinute, 'limiter.requestsPerMinute', 1);
  if (given.concurrency !== undefined) whole(given.concurrency, 'limiter.concurrency', 1);
  return createLimiter(given, clock);
}

function refuseUnknown(given: object, known: ReadonlySet<string>, prefix: string): void {
  const unknown = Object.keys(given).find((name) => !known.has(name));
  if (unknown === undefined) return;
  const near = nearest(unknown, [...known]);
  throw new ConfigurationError('invalid_option', `There is no option ${prefix}${unknown.slice(0, 40)}.`, {
    hint: near
      ? `Did you mean ${prefix}${near}?`
      : `Known: ${[...known].map((name) => prefix + name).join(', ')}.`,
  });
}

/** A whole number of at least `least`, or an error that names the option. */
export function whole(value: unknown, name: string, least: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number;
  throw wrong(name, `a whole number of at least ${least}`);
}

const wrong = (name: string, expected: string): ConfigurationError =>
  new ConfigurationError('invalid_option', `${name} must be ${expected}.`);
