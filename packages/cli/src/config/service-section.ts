import { CallsError } from '@call-attribution/core/errors';
import { defineOptions, option, type ReadOf } from '@call-attribution/core/options';
import type { Settings } from '@call-attribution/core/settings';
import { limitOptions, shapeOptions } from '@call-attribution/service/defaults';
import { UsageError } from '../errors.ts';

/** All settings of the section, by the names that they have in `createService` and `openStore`. The README says what they are for. */
export const serviceSettings = {
  log: option.oneOf('json', 'off').or(option.only(null)).default(null),
  proxies: option
    .of<readonly string[]>(
      'a list of strings, such as ["127.0.0.1", "10.0.0.0/8"]',
      (value) => Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== ''),
    )
    .default([]),
  ...shapeOptions.entries,
  /** Requests of each key in a period; 0 for no limit. */
  rateRequests: option.whole(0).default(0),
  ratePer: option.timeout().default('1m'),
  ...limitOptions.entries,
  /** A service over a store and a sandbox have defaults of their own. */
  drainTimeout: option.duration().or(option.only(null)).default(null),
  synchronous: option.oneOf('normal', 'full').default('normal'),
  poolSize: option.whole(1).default(10),
  statementTimeout: option.duration().default('30s'),
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
