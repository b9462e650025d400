import { dirname, join } from 'node:path';
import { readSettings as read, type Setting, type Settings } from '@call-attribution/core/settings';
import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';

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
  const isNamed = text('config') !== null || Boolean(io.env.CALLS_CONFIG);
  const warning = isNamed ? null : redirection(settings, io.cwd);
  if (warning !== null) say(io, warning);
  return settings;
}

/**
 * What to say when the configuration file of the current folder, which others may have put there, chooses the server for
 * keys that it does not hold. Null when it does not.
 */
function redirection({ file, baseUrl, legacyBaseUrl, secret }: Settings, cwd: string): string | null {
  if (file === null || file.path !== join(cwd, 'calls.config.json')) return null;
  const url = [baseUrl, legacyBaseUrl].find((setting) => setting?.from === file.path);
  const isHere = ({ origin, from }: Setting): boolean =>
    from === file.path || (origin === 'key file' && dirname(from) === cwd);
  const key = (['accessKey', 'secretKey', 'bearerToken'] as const)
    .map(secret)
    .find((setting) => setting !== null && !isHere(setting));
  if (!url || !key) return null;
  return `warning: calls.config.json in this folder sends the credentials of ${key.from} to ${new URL(url.value).origin}; use --base-url or --config to say that this is right`;
}
