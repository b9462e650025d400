import { type SettingProblem, secretSettings } from '@call-attribution/core/settings';
import {
  readSettings as read,
  readAccounts,
  type Settings,
  type SettingsSource,
} from '@call-attribution/settings';
import type { Args } from '../../args.ts';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../io.ts';

const options = {
  baseUrl: 'base-url',
  legacyBaseUrl: 'legacy-base-url',
  apiVersion: 'api-version',
  timeZone: 'time-zone',
  timeout: 'timeout',
  store: 'store',
  config: 'config',
} as const;

const flags: ReadonlyMap<string, string> = new Map(Object.entries(options));

/**
 * Reads options, as far as the command has them, environment and configuration file, in this order;
 * the first problem is thrown.
 */
export function readSettings(args: Args, io: Io): Settings {
  return checked(read(sourceOf(args, io)));
}

/**
 * The settings of accounts in the configuration file, by their names. What is wrong with the file
 * is thrown; what is wrong with one account, such as a variable that is not set, is left to it.
 */
export function readAccountSettings(
  names: readonly string[] | 'all',
  args: Args,
  io: Io,
): { readonly settings: Settings; readonly problem: UsageError | null }[] {
  return readAccounts(names, sourceOf(args, io)).map((settings) => {
    const [own] = settings.problems;
    if (own?.place === 'setting') return { settings, problem: problemError(own) };
    return { settings: checked(settings), problem: null };
  });
}

/**
 * The settings of one account for reading a store, which needs no credentials of it: null for none,
 * and undefined for the default.
 */
export function readStoredSettings(
  account: string | null | undefined,
  args: Args,
  io: Io,
): Settings {
  const settings = read({ ...sourceOf(args, io), account });
  const problems = settings.problems.filter(
    ({ of }) => of === undefined || !Object.hasOwn(secretSettings, of),
  );
  return checked({ ...settings, problems, secret: () => null });
}

/**
 * The settings of options and environment alone, for a command that writes the configuration file.
 */
export function readGivenSettings(args: Args, io: Io): Settings {
  const source = sourceOf(args, io);
  return checked(
    read({
      ...source,
      config: null,
      searchHome: false,
      env: { ...io.env, CALLS_CONFIG: undefined },
    }),
  );
}

/**
 * The settings of a command that does not ask the API: what is wrong with the connection is no
 * matter of it.
 */
export function readFileSettings(args: Args, io: Io): Settings {
  const settings = read(sourceOf(args, io));
  const problem = settings.problems.find(({ place }) => place === 'file');
  if (problem) throw problemError(problem);
  return settings;
}

function sourceOf(args: Args, io: Io): SettingsSource {
  const text = (name: keyof typeof options): string | null => args.text(options[name]);
  return {
    options: {
      baseUrl: text('baseUrl'),
      legacyBaseUrl: text('legacyBaseUrl'),
      apiVersion: text('apiVersion'),
      timeZone: text('timeZone'),
      timeout: text('timeout'),
    },
    nameOption: (name) => `--${flags.get(name) ?? name}`,
    config: text('config'),
    env: io.env,
    cwd: io.cwd,
  };
}

function problemError({ message, hint }: SettingProblem): UsageError {
  return new UsageError(message, hint ? [hint] : []);
}

function checked(settings: Settings): Settings {
  const [problem] = settings.problems;
  if (problem) throw problemError(problem);
  return settings;
}
