import {
  readSettings as read,
  readAccounts,
  type SettingProblem,
  type Settings,
  type SettingsSource,
} from '@call-attribution/core/settings';
import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';

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

/** Reads options, as far as the command has them, environment and configuration file, in this order; the first problem is thrown. */
export function readSettings(args: Args, io: Io): Settings {
  return checked(read(sourceOf(args, io)));
}

/**
 * The settings of accounts in the configuration file, by their names. What is wrong with the file is thrown; what is wrong
 * with one account, such as a variable that is not set, is left to it.
 */
export function readAccountSettings(
  names: readonly string[] | 'all',
  args: Args,
  io: Io,
): { readonly settings: Settings; readonly problem: UsageError | null }[] {
  return readAccounts(names, sourceOf(args, io)).map((settings) => {
    const [own] = settings.problems;
    const isOwn = own !== undefined && ofOneAccount.has(own.code);
    if (isOwn) return { settings, problem: problemError(own) };
    return { settings: checked(settings), problem: null };
  });
}

const ofOneAccount: ReadonlySet<string> = new Set([
  'unset_variable',
  'failed_command',
  'unreadable_file',
  'empty_file',
  'not_a_url',
  'credentials_in_url',
  'unknown_version',
  'unknown_time_zone',
  'not_a_duration',
]);

/** The settings of one account for reading a store, which needs no credentials of it. */
export function readStoredSettings(account: string | null, args: Args, io: Io): Settings {
  const settings = read({ ...sourceOf(args, io), account });
  const problems = settings.problems.filter(({ code }) => !ofCredentials.has(code));
  return checked({ ...settings, problems, secret: () => null });
}

const ofCredentials: ReadonlySet<string> = new Set(['unset_variable', 'unreadable_file', 'empty_file']);

/** The settings of options and environment alone, for a command that writes the configuration file. */
export function readGivenSettings(args: Args, io: Io): Settings {
  const source = sourceOf(args, io);
  return checked(
    read({ ...source, config: null, searchHome: false, env: { ...io.env, CALLS_CONFIG: undefined } }),
  );
}

/** The settings of a command that does not ask the API: what is wrong with the connection is no matter of it. */
export function readFileSettings(args: Args, io: Io): Settings {
  const settings = read(sourceOf(args, io));
  const problem = settings.problems.find(({ code }) => ofTheFile.has(code));
  if (problem) throw problemError(problem);
  return settings;
}

const ofTheFile: ReadonlySet<string> = new Set([
  'no_config_file',
  'unreadable_file',
  'config_not_json',
  'config_not_object',
  'config_not_string',
  'unknown_config_name',
]);

function sourceOf(args: Args, io: Io): SettingsSource {
  const text = (name: keyof typeof options): string | null =>
    args.has(options[name]) ? args.text(options[name]) : null;
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

function problemError({ code, message, hint }: SettingProblem): UsageError {
  const copy = 'the accounts of a store are chosen with --store sqlite:calls.db';
  return new UsageError(message, {
    hints: [...(hint ? [hint] : []), ...(code === 'no_accounts' ? [copy] : [])],
  });
}

function checked(settings: Settings): Settings {
  const [problem] = settings.problems;
  if (problem) throw problemError(problem);
  return settings;
}
