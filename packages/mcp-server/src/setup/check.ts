import { CallsError } from '@call-attribution/core';
import { counted } from '../text/notes.ts';
import { type ApiSettings, clientFrom } from './settings.ts';

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
    const hint = error.hint === undefined ? '' : ` ${error.hint}`;
    return { ok: false, text: `${what} fails: ${error.message}${hint}` };
  }
}
