import { type Client, createClient, createLimiter, type Limiter } from '@call-attribution/core';
import type { CredentialSource } from './credentials.ts';

/** What is needed to reach the accounts of a job. */
export interface AccountAccess {
  readonly baseUrl: string;
  readonly version: 'v2' | 'v3';
  readonly credentials: CredentialSource;
}

/** Where the credentials of an account are when a job does not say. */
export const usualCredential = (account: string): string => `file:${account}.json`;

/**
 * Runs some requests for an account outside of a worker, with a client that is closed afterwards. Those with the same credential keep
 * to its limit together.
 */
export function accountClients({ baseUrl, version, credentials }: AccountAccess) {
  const limiters = new Map<string, Limiter>();
  const limiterOf = (reference: string, requestsPerMinute: number): Limiter => {
    const limiter = limiters.get(reference) ?? createLimiter({ requestsPerMinute });
    limiters.set(reference, limiter);
    return limiter;
  };
  return async <T>(
    account: { readonly id: string; readonly credential: string; readonly requestsPerMinute: number | null },
    work: (client: Client) => Promise<T>,
  ): Promise<T> => {
    const { id, credential, requestsPerMinute: limit } = account;
    await using client = createClient({
      baseUrl,
      version,
      auth: await credentials(credential, id),
      // A wait for the limit is not one for the server.
      timeout: { total: Number.POSITIVE_INFINITY },
      ...(limit === null ? {} : { limiter: limiterOf(credential, limit) }),
    });
    return await work(client);
  };
}
