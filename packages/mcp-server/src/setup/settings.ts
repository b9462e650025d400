import { CallsError, type Client, createClient } from '@call-attribution/core';
import type { Environment } from '@call-attribution/core/settings';
import {
  connectionOf,
  missingSettings,
  readAccounts,
  readSettings,
  type Settings,
} from '../settings/index.ts';
import { ToolError } from '../text/failures.ts';
import { counted } from '../text/notes.ts';

/** The settings of the API, and what is missing or wrong. */
export interface ApiSettings {
  readonly settings: Settings;
  /** One sentence each, which names the variable. */
  readonly problems: readonly string[];
}

/** Reads the settings. It never throws: the server starts and lists its tools in any case. */
export function readApiSettings(env: Environment): ApiSettings {
  return apiSettingsOf(readSettings({ env }));
}

/** Reads the settings of accounts of the configuration file, in the same way. */
export function readAccountSettings(names: readonly string[] | 'all', env: Environment): ApiSettings[] {
  return readAccounts(names, { env }).map(apiSettingsOf);
}

function apiSettingsOf(settings: Settings): ApiSettings {
  // A setting that cannot be used is not missing.
  const missing = missingSettings(settings).filter(
    ({ of }) => !settings.problems.some((problem) => problem.of === of),
  );
  const problems = [...settings.problems, ...missing];
  return {
    settings,
    problems: problems.map(({ message, hint }) => `${message}${hint === undefined ? '' : `; ${hint}`}.`),
  };
}

/** Milliseconds of silence after which the API is taken to be stuck. */
const stuckMs = 9500;

/** Makes the client. Throws an error that tells the agent which variable is missing. */
export function clientFrom({ settings, problems }: ApiSettings): Client {
  const { baseUrl } = settings;
  if (problems.length > 0 || baseUrl === null) throw new ToolError({ code: 'missing_settings', problems });
  return createClient({
    ...connectionOf(settings),
    baseUrl: baseUrl.value,
    // Somebody waits for the answer: an API that is stuck is reported within ten seconds, a slow one may go on.
    timeout: { connect: stuckMs, idle: stuckMs, attempt: 40_000, total: 40_000 },
    retry: { attempts: 3, afterSilence: false },
  });
}

/** One line of `--check`. */
export interface CheckLine {
  readonly ok: boolean;
  readonly text: string;
}

/** Tests the credentials with the smallest possible requests, and says what works. */
export async function checkSetup(api: ApiSettings): Promise<CheckLine[]> {
  if (api.problems.length > 0) return api.problems.map((text) => ({ ok: false, text }));
  const { legacyBaseUrl, timeZone } = api.settings;
  const client = clientFrom(api);
  try {
    return [
      await attempt('Listing calls', async () => {
        const { total, source } = await client.countCalls();
        return `works: the account has ${counted(total, 'call', 'calls')} (${source})`;
      }),
      legacyBaseUrl === null
        ? { ok: true, text: 'SMS numbers: not configured (CALLS_LEGACY_BASE_URL).' }
        : await attempt('Listing SMS numbers', async () => {
            const numbers = await client.listSmsNumbers();
            return `works: ${counted(numbers.length, 'number', 'numbers')}`;
          }),
      {
        ok: true,
        text:
          timeZone === null
            ? 'Time zone: not set (CALLS_TIME_ZONE). Results say that times have no time zone.'
            : `Time zone: results say that times are in ${timeZone.value}.`,
      },
    ];
  } finally {
    await client.close();
  }
}

async function attempt(what: string, run: () => Promise<string>): Promise<CheckLine> {
  try {
    return { ok: true, text: `${what} ${await run()}.` };
  } catch (error) {
    if (!(error instanceof CallsError)) throw error;
    return { ok: false, text: `${what} fails: ${error.message}` };
  }
}
