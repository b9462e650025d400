import { CallsError, type Client } from '@call-attribution/core';
import { ToolError } from '../arguments/tool-error.ts';
import { counted } from '../results/words.ts';
import type { ApiSettings } from './environment.ts';

/** One thing tried by `--check`. */
export interface CheckLine {
  readonly ok: boolean;
  readonly text: string;
}

/** Tries the credentials with the smallest requests there are, and says what works. */
export async function checkSetup(settings: ApiSettings, makeClient: () => Client): Promise<CheckLine[]> {
  if (settings.problems.length > 0) return settings.problems.map((text) => ({ ok: false, text }));
  const client = makeClient();
  try {
    return [
      await attempt('Listing calls', async () => {
        const { total, source } = await client.countCalls();
        return `works: the account has ${counted(total, 'call', 'calls')} (${source})`;
      }),
      settings.legacyBaseUrl === undefined
        ? { ok: true, text: 'SMS numbers: not set up (CALLS_LEGACY_BASE_URL).' }
        : await attempt('SMS numbers', async () => {
            const numbers = await client.listSmsNumbers();
            return `works: ${counted(numbers.length, 'number', 'numbers')}`;
          }),
      {
        ok: true,
        text:
          settings.timeZone === undefined
            ? 'Time zone: none given (CALLS_TIME_ZONE). Assistants are told that times have no zone.'
            : `Time zone: assistants are told that times are ${settings.timeZone}.`,
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
    if (!(error instanceof CallsError || error instanceof ToolError)) throw error;
    const hint = error instanceof CallsError && error.hint !== undefined ? ` ${error.hint}` : '';
    return { ok: false, text: `${what} fails: ${error.message}${hint}` };
  }
}
