import type { Settings } from '@call-attribution/core/settings';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { serviceDefaults } from '@call-attribution/service/defaults';
import { UsageError } from '../errors.ts';

/** One setting of the section "service" of calls.config.json. Check, default and documentation come from this one entry. */
export interface ServiceSetting<T> {
  /** What holds when it is not set. */
  readonly default: T;
  /** What it counts, or its kind of value. */
  readonly unit: string;
  /** What the documentation says. */
  readonly text: string;
  /** What a value must be, for messages. */
  readonly expected: string;
  /** The value in the file, as it is used; undefined when it is not what is expected. */
  read(value: unknown): T | undefined;
}

function whole<T extends number | null>(
  standard: T,
  unit: string,
  text: string,
  { min = 1, max = 1e9 }: { readonly min?: number; readonly max?: number } = {},
): ServiceSetting<number | T> {
  const isFit = (value: unknown): value is number =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max;
  return {
    default: standard,
    unit,
    text,
    expected: `a whole number from ${min} to ${max}`,
    read: (value) => (isFit(value) ? value : undefined),
  };
}

function oneOf<C extends string, T extends C | null>(
  choices: readonly C[],
  standard: T,
  text: string,
): ServiceSetting<C | T> {
  const unit = choices.map((choice) => `"${choice}"`).join(', ');
  return {
    default: standard,
    unit,
    text,
    expected: `one of ${unit}`,
    read: (value) => choices.find((choice) => choice === value),
  };
}

const texts = (text: string): ServiceSetting<readonly string[]> => ({
  default: [],
  unit: 'list of strings',
  text,
  expected: 'a list of strings, such as ["127.0.0.1", "10.0.0.0/8"]',
  read: (value) =>
    Array.isArray(value) && value.every((one): one is string => typeof one === 'string' && one !== '')
      ? value
      : undefined,
});

const { limits } = serviceDefaults;

/** All settings of the section, by the names that they have in `createService` and `openStore`. */
export const serviceSettings = {
  log: oneOf(['json', 'off'], null, 'requests as JSON lines on stderr; json for a store, off for a sandbox'),
  proxies: texts('addresses or networks of your own proxies'),
  defaultRows: whole(serviceDefaults.defaultRows, 'rows', 'rows of a page when the request names none'),
  maxRows: whole(serviceDefaults.maxRows, 'rows', 'most rows of a page'),
  rowsOver: oneOf(['reject', 'clamp'], serviceDefaults.rowsOver, 'what to do with a request for more rows'),
  singleAs: oneOf(['object', 'array'], serviceDefaults.singleAs, 'shape of a single record'),
  countAs: oneOf(
    ['object', 'number', 'text', 'array', 'header'],
    serviceDefaults.countAs,
    'shape of the v2 count',
  ),
  rateRequests: whole(0, 'requests', 'requests per key and period; 0 for no limit', { min: 0 }),
  rateSeconds: whole(60, 'seconds', 'length of that period'),
  mostCalls: whole(
    serviceDefaults.pageCalls,
    'calls',
    'most calls of a row store that the page keeps in memory',
  ),
  connections: whole(limits.connections, 'connections', 'most connections'),
  connectionsPerAddress: whole(
    limits.connectionsPerAddress,
    'connections',
    'most connections from one address; proxies are exempt',
  ),
  handshakes: whole(limits.handshakes, 'handshakes', 'most TLS handshakes at a time'),
  handshakeMs: whole(limits.handshakeMs, 'milliseconds', 'time for a TLS handshake'),
  headMs: whole(limits.headMs, 'milliseconds', 'time for a request to arrive'),
  headerBytes: whole(limits.headerBytes, 'bytes', 'most bytes of the headers of a request'),
  urlBytes: whole(limits.urlBytes, 'bytes', 'most bytes of a URL'),
  pipelined: whole(limits.pipelined, 'requests', 'most requests that wait on one connection', { min: 0 }),
  atWork: whole(limits.atWork, 'requests', 'most requests that read from the store at a time'),
  sendMs: whole(limits.sendMs, 'milliseconds', 'time for a client to take the next 64 KiB of a response'),
  unsentBytes: whole(
    limits.unsentBytes,
    'bytes',
    'most bytes of responses in memory that wait for slow clients',
  ),
  idleMs: whole(limits.idleMs, 'milliseconds', 'time after which an idle connection is closed'),
  drainMs: whole(
    null,
    'milliseconds',
    `time for responses in progress to finish after Ctrl-C; ${limits.drainMs}, and 500 for a sandbox`,
  ),
  synchronous: oneOf(
    ['normal', 'full'],
    'normal',
    'SQLite: full survives a power failure, normal a killed process',
  ),
  poolSize: whole(10, 'connections', 'PostgreSQL: most connections'),
  statementTimeoutMs: whole(
    30_000,
    'milliseconds',
    'PostgreSQL: how long a statement may run, 0 for no limit; check and rebuild have none',
    { min: 0 },
  ),
};

/** The settings in force. */
export type ServiceSection = {
  readonly [N in keyof typeof serviceSettings]: Exclude<
    ReturnType<(typeof serviceSettings)[N]['read']>,
    undefined
  >;
};

/** Reads the section "service" of the configuration file; what is not set there has its default. */
export function readServiceSection({ file }: Settings): ServiceSection {
  const section = file?.service === undefined ? {} : file.service;
  const path = file?.path ?? 'calls.config.json';
  if (typeof section !== 'object' || section === null || Array.isArray(section)) {
    throw new UsageError(`${path}: "service" must be an object`, {
      hints: ['it looks like { "maxRows": 500, "proxies": ["127.0.0.1"] }'],
    });
  }
  const names = Object.keys(serviceSettings);
  const typed = new Map<string, unknown>(Object.entries(section));
  for (const name of typed.keys()) {
    if (names.includes(name)) continue;
    const near = nearest(name, names);
    throw new UsageError(`${path}: "service" has an unknown name ${JSON.stringify(name)}`, {
      hints: [near ? `did you mean "${near}"?` : `known names: ${names.join(', ')}`],
    });
  }
  const entries = Object.entries<ServiceSetting<unknown>>(serviceSettings).map(([name, setting]) => {
    if (!typed.has(name)) return [name, setting.default];
    const value = setting.read(typed.get(name));
    if (value !== undefined) return [name, value];
    throw new UsageError(
      `${path}: ${JSON.stringify(name)} in "service" must be ${setting.expected}, not ${JSON.stringify(typed.get(name))}`,
    );
  });
  // Each name of the table has a value of its kind now.
  return Object.fromEntries(entries) as ServiceSection;
}
