import { ConfigurationError } from '../errors/calls-error.ts';
import { setupMessages } from '../errors/setup-messages.ts';
import { connectionOf, missingSettings } from '../settings/credentials.ts';
import { readSettings } from '../settings/read-settings.ts';
import type { ClientOptions } from './options.ts';

/**
 * The options, completed from `CALLS_*` variables when `baseUrl` was left out. Where it was given nothing is read: keys of the
 * environment go only to the URL that the environment or the program itself names for them.
 */
export function withEnvironment(options: ClientOptions): ClientOptions {
  const { config, env, ...given } = options;
  if (Object.hasOwn(options, 'baseUrl')) {
    if (config !== undefined || env !== undefined)
      throw new ConfigurationError(
        'invalid_option',
        setupMessages.notRead(config === undefined ? 'env' : 'config'),
      );
    return given;
  }
  const settings = readSettings({
    options: { legacyBaseUrl: given.legacyBaseUrl, apiVersion: given.version },
    nameOption: (name) => (name === 'apiVersion' ? 'version' : name),
    config: typeof config === 'string' ? config : null,
    searchHome: config === true,
    ...(env === undefined ? {} : { env }),
  });
  const [first] = settings.problems;
  if (first?.code === 'unknown_log_setting')
    throw new ConfigurationError('invalid_option', setupMessages.logUnusable(first.message, first.hint));
  const wrong = settings.problems.map(({ message, hint }) =>
    hint === undefined ? message : `${message} (${hint})`,
  );
  const missing = missingSettings(settings)
    .filter(({ code }) => code === 'no_base_url' || given.auth === undefined)
    .map(({ message }) => message)
    // A variable that is set to something unusable is not missing.
    .filter((message) => !wrong.some((problem) => problem.includes(message.split(' ', 1)[0] ?? message)));
  const problems = [...wrong, ...missing];
  if (problems.length > 0)
    throw new ConfigurationError('invalid_option', setupMessages.settingsUnusable(problems));
  const { legacyAuth, ...found } = connectionOf(settings);
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  // Keys of the environment may be those of another account than the credentials that were given.
  return { ...found, ...(given.auth === undefined && legacyAuth ? { legacyAuth } : {}), ...set };
}
