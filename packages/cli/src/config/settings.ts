import { readSettings as read, type Settings } from '@call-attribution/core/settings';
import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';

const options = {
  baseUrl: 'base-url',
  legacyBaseUrl: 'legacy-base-url',
  apiVersion: 'api-version',
  timeZone: 'time-zone',
  store: 'store',
  config: 'config',
} as const;

type OptionName = keyof typeof options;
const connection: readonly OptionName[] = ['baseUrl', 'legacyBaseUrl', 'apiVersion', 'timeZone', 'config'];

/** Reads options, environment and configuration file, in this order; the first problem is thrown. */
export function readSettings(args: Args, io: Io, known: readonly OptionName[] = connection): Settings {
  const text = (name: OptionName): string | null => (known.includes(name) ? args.text(options[name]) : null);
  const settings = read({
    options: {
      baseUrl: text('baseUrl'),
      legacyBaseUrl: text('legacyBaseUrl'),
      apiVersion: text('apiVersion'),
      timeZone: text('timeZone'),
    },
    nameOption: (name) => `--${options[name]}`,
    config: text('config'),
    env: io.env,
    cwd: io.cwd,
  });
  const [problem] = settings.problems;
  if (problem) throw new UsageError(problem.message, { hints: problem.hint ? [problem.hint] : [] });
  return settings;
}
