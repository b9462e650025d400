import { readSettings as read, type Settings } from '@call-attribution/core/settings';
import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';

const options = {
  baseUrl: 'base-url',
  legacyBaseUrl: 'legacy-base-url',
  apiVersion: 'api-version',
  timeZone: 'time-zone',
  config: 'config',
} as const;

/** Reads options, environment and configuration file, in this order; the first problem is thrown. */
export function readSettings(args: Args, io: Io): Settings {
  const settings = read({
    options: {
      baseUrl: args.text(options.baseUrl),
      legacyBaseUrl: args.text(options.legacyBaseUrl),
      apiVersion: args.text(options.apiVersion),
      timeZone: args.text(options.timeZone),
    },
    nameOption: (name) => `--${options[name]}`,
    config: args.text(options.config),
    env: io.env,
    cwd: io.cwd,
  });
  const [problem] = settings.problems;
  if (problem) throw new UsageError(problem.message, { hints: problem.hint ? [problem.hint] : [] });
  return settings;
}
