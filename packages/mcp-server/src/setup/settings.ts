import { type Client, createClient } from '@call-attribution/core';
import {
  connectionOf,
  type Environment,
  missingSettings,
  readSettings,
  type Settings,
} from '@call-attribution/core/settings';
import { ToolError } from '../text/failures.ts';

/** The settings of the API, and what is missing or wrong. */
export interface ApiSettings {
  readonly settings: Settings;
  /** One sentence each, which names the variable. */
  readonly problems: readonly string[];
}

/**
 * Reads the settings. It never throws: the server starts and lists its tools in any case. No file is looked for in the
 * current folder, since hosts choose that folder.
 */
export function readApiSettings(env: Environment): ApiSettings {
  const settings = readSettings({ env, searchCwd: false });
  const isUrlWrong = settings.problems.some(
    ({ code }) => code === 'not_a_url' || code === 'credentials_in_url',
  );
  const missing = missingSettings(settings).filter(({ code }) => !(isUrlWrong && code === 'no_base_url'));
  const problems = [...settings.problems, ...missing];
  return {
    settings,
    problems: problems.map(({ message, hint }) => `${message}${hint === undefined ? '' : `; ${hint}`}.`),
  };
}

/** Makes the client. Throws an error that tells the agent which variable is missing. */
export function clientFrom({ settings, problems }: ApiSettings): Client {
  const { baseUrl } = settings;
  if (problems.length > 0 || baseUrl === null) throw new ToolError({ code: 'missing_settings', problems });
  return createClient({ ...connectionOf(settings), baseUrl: baseUrl.value, timeout: { total: 40_000 } });
}
