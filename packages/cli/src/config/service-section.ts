import { CallsError } from '@call-attribution/core/errors';
import { defineOptions, type Filled, option, type ReadOf } from '@call-attribution/core/options';
import type { Settings } from '@call-attribution/core/settings';
import { serviceDefaults } from '@call-attribution/service/defaults';
import { UsageError } from '../errors.ts';

const { limits } = serviceDefaults;

/** A setting, the unit of its value for its page, and what the page says. */
const setting = <E extends Filled<unknown, unknown>>(entry: E, unit: string, text: string) => ({
  ...entry,
  ...{ unit, text },
});

const whole = (initial: number, unit: string, text: string, min = 1) =>
  setting(option.whole(min).default(initial), unit, text);
const duration = (initial: `${number}${'s' | 'm'}`, text: string) =>
  setting(option.duration().default(initial), 'duration', text);

/** All settings of the section, by the names that they have in `createService` and `openStore`. */
export const serviceSettings = {
  log: setting(
    option.oneOf('json', 'off').or(option.only(null)).default(null),
    '"json", "off"',
    'requests as JSON lines on stderr; json for a store, off for a sandbox',
  ),
  proxies: setting(
    option
      .of<readonly string[]>(
        'a list of strings, such as ["127.0.0.1", "10.0.0.0/8"]',
        (value) => Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== ''),
      )
      .default([]),
    'list of strings',
    'addresses or networks of your own proxies',
  ),
  defaultRows: whole(serviceDefaults.defaultRows, 'rows', 'rows of a page when the request names none'),
  maxRows: whole(serviceDefaults.maxRows, 'rows', 'most rows of a page'),
  rowsOver: setting(
    option.oneOf('reject', 'clamp').default(serviceDefaults.rowsOver),
    '"reject", "clamp"',
    'what to do with a request for more rows',
  ),
  singleAs: setting(
    option.oneOf('object', 'array').default(serviceDefaults.singleAs),
    '"object", "array"',
    'shape of a single record',
  ),
  countAs: setting(
    option.oneOf('object', 'number', 'text', 'array', 'header').default(serviceDefaults.countAs),
    '"object", "number", "text", "array", "header"',
    'shape of the v2 count',
  ),
  rateRequests: whole(0, 'requests', 'requests per key and period; 0 for no limit', 0),
  ratePer: setting(option.timeout().default('1m'), 'duration', 'length of that period'),
  connections: whole(limits.connections, 'connections', 'most connections'),
  atOnce: whole(limits.atOnce, 'requests', 'requests of one account that are handled at a time'),
  headTimeout: duration(limits.headTimeout, 'time for a request to arrive, and for a TLS handshake'),
  headerBytes: whole(limits.headerBytes, 'bytes', 'most bytes of the headers of a request'),
  urlBytes: whole(limits.urlBytes, 'bytes', 'most bytes of a URL'),
  sendTimeout: duration(
    limits.sendTimeout,
    'time after which a response is ended whose client takes nothing of it',
  ),
  idleTimeout: duration(limits.idleTimeout, 'time after which an idle connection is closed'),
  drainTimeout: setting(
    option.duration().or(option.only(null)).default(null),
    'duration',
    `time for responses in progress to finish after Ctrl-C; ${limits.drainTimeout}, and 500ms for a sandbox`,
  ),
  synchronous: setting(
    option.oneOf('normal', 'full').default('normal'),
    '"normal", "full"',
    'SQLite: full survives a power failure, normal a killed process',
  ),
  poolSize: whole(10, 'connections', 'PostgreSQL: most connections'),
  statementTimeout: duration(
    '30s',
    'PostgreSQL: how long a statement may run, 0 for no limit; check and rebuild have none',
  ),
};

const serviceSection = defineOptions(serviceSettings);

/** The settings in force. */
export interface ServiceSection extends ReadOf<typeof serviceSection> {}

/** Reads the section "service" of the configuration file; what is not set there has its default. */
export function readServiceSection({ file }: Settings): ServiceSection {
  const section = file?.service === undefined ? {} : file.service;
  const path = file?.path ?? 'calls.config.json';
  if (typeof section !== 'object' || section === null || Array.isArray(section)) {
    throw new UsageError(`${path}: "service" must be an object`, {
      hints: ['it looks like { "maxRows": 500, "proxies": ["127.0.0.1"] }'],
    });
  }
  try {
    return serviceSection.read(section, 'service.');
  } catch (error) {
    if (CallsError.is(error, 'invalid_option')) throw new UsageError(`${path}: ${error.message}`);
    throw error;
  }
}
