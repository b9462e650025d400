import { checkNames } from '@call-attribution/core/options';
import { parseDuration } from '@call-attribution/core/time';
import { limitDefaults, shapeDefaults } from '@call-attribution/service/defaults';
import type { Settings } from '@call-attribution/settings';
import { UsageError } from '../errors.ts';

/**
 * What a value of the section may be: in words, and as it is used; undefined when it cannot be
 * used.
 */
interface Kind<T> {
  readonly expected: string;
  read(value: unknown): T | undefined;
}

const oneOf = <const T extends string | null>(...values: readonly T[]): Kind<T> => ({
  expected: values.map((value) => (value === null ? 'null' : `'${value}'`)).join(' or '),
  read: (value) => values.find((each) => each === value),
});
const whole = (least: number): Kind<number> => ({
  expected: `a whole number of at least ${least}`,
  read: (value) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= least ? value : undefined,
});
const duration: Kind<number> = {
  expected: "milliseconds or a string such as '30s'",
  read(value) {
    const millis = typeof value === 'string' ? parseDuration(value) : value;
    return typeof millis === 'number' && Number.isFinite(millis) && millis >= 0
      ? millis
      : undefined;
  },
};
const addresses: Kind<readonly string[]> = {
  expected: 'a list of strings, such as ["127.0.0.1", "10.0.0.0/8"]',
  read: (value) =>
    Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== '')
      ? value
      : undefined,
};

/**
 * All settings of the section, by the names that they have in `createService` and `openStore`. The
 * README says what they are for.
 */
const kinds = {
  log: oneOf('json', 'off', null),
  proxies: addresses,
  singleAs: oneOf('object', 'array'),
  countAs: oneOf('object', 'number', 'text', 'array', 'header'),
  defaultRows: whole(1),
  maxRows: whole(1),
  rowsOver: oneOf('reject', 'clamp'),
  /** Requests of each key in a period; 0 for no limit. */
  rateRequests: whole(0),
  ratePer: duration,
  connections: whole(1),
  atOnce: whole(1),
  headTimeout: duration,
  sendTimeout: duration,
  idleTimeout: duration,
  /** A service over a store and a sandbox have defaults of their own. */
  drainTimeout: {
    ...duration,
    read: (value: unknown) => (value === null ? null : duration.read(value)),
  },
  synchronous: oneOf('normal', 'full'),
  poolSize: whole(1),
  statementTimeout: duration,
};

/** The settings in force. */
export type ServiceSection = {
  readonly [N in keyof typeof kinds]: Exclude<ReturnType<(typeof kinds)[N]['read']>, undefined>;
};

/** The settings that hold where the section says nothing. */
export const serviceSettings: ServiceSection = {
  ...shapeDefaults,
  ...limitDefaults,
  log: null,
  proxies: [],
  rateRequests: 0,
  ratePer: 60_000,
  drainTimeout: null,
  synchronous: 'normal',
  poolSize: 10,
  statementTimeout: 30_000,
};

/** Reads the section "service" of the configuration file; what is not set there has its default. */
export function readServiceSection({ file }: Settings): ServiceSection {
  const section: unknown = file?.service === undefined ? {} : file.service;
  const path = file?.path ?? 'calls.config.json';
  try {
    checkNames(section, Object.keys(kinds), 'service');
  } catch (error) {
    throw new UsageError(`${path}: ${error instanceof Error ? error.message : ''}`);
  }

  const read = Object.entries(section).map(([name, value]) => {
    const kind: Kind<unknown> | undefined = Object.entries(kinds).find(
      ([each]) => each === name,
    )?.[1];
    const used = kind?.read(value);
    if (used === undefined)
      throw new UsageError(`${path}: service.${name} must be ${kind?.expected}`);
    return [name, used];
  });
  return { ...serviceSettings, ...Object.fromEntries(read) };
}
