import type { Clock } from '@call-attribution/core';
import { readSmallFile } from '@call-attribution/core/settings';
import { PushError } from './problems.ts';

/** The text of a file of credentials. */
export function readKeyFile(file: string): string {
  try {
    return readSmallFile(file).text;
  } catch (error) {
    throw new PushError({ code: 'key_file_unreadable', file, reason: systemCode(error) });
  }
}

function systemCode(error: unknown): string {
  const isCoded = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return isCoded ? String(error.code) : 'unknown reason';
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
