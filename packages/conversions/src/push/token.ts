import { readFile } from 'node:fs/promises';
import type { Clock } from '@call-attribution/core';
import { PushError } from './problems.ts';

/** The object in a JSON file of credentials. */
export async function readKeyFile(file: string): Promise<Record<string, unknown>> {
  let fields: unknown;
  try {
    fields = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    // The message of a JSON error quotes the file, which holds a key.
    const reason =
      error instanceof SyntaxError ? 'it is not JSON' : String((error as { code?: unknown }).code);
    throw new PushError({ code: 'key_file_unreadable', file, reason });
  }
  if (typeof fields !== 'object' || fields === null)
    throw new PushError({ code: 'key_file_unreadable', file, reason: 'it is not a JSON object' });
  return fields as Record<string, unknown>;
}

/** An access token, and for how many seconds it is valid; NaN when the server does not say. */
export interface Grant {
  readonly token: string;
  readonly seconds: number;
}

const usualSeconds = 3600;

/** Returns an access token; the same one until a minute before it expires. `renew` gets another one. */
export function keepToken(clock: Clock, exchange: () => Promise<Grant>): (renew: boolean) => Promise<string> {
  let known: { readonly token: string; readonly until: number } | null = null;
  return async (renew) => {
    if (renew || known === null || known.until <= clock.now()) {
      const { token, seconds } = await exchange();
      const valid = Number.isFinite(seconds) ? seconds : usualSeconds;
      known = { token, until: clock.now() + (valid - 60) * 1000 };
    }
    return known.token;
  };
}
