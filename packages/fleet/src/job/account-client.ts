import { type Auth, type Client, createClient, createLimiter, type Limiter } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import { FleetError } from '../errors.ts';
import type { CredentialSource } from './credentials.ts';
import type { JobAccount } from './job.ts';

/** What is needed to reach the accounts of a job. */
export interface AccountAccess {
  readonly baseUrl: string;
  readonly version: 'v2' | 'v3';
  readonly credentials: CredentialSource;
  /** Limiters that are shared with workers. Default: some of its own, by the limits of the accounts. */
  readonly limiterOf?: ((account: ReachedAccount) => Limiter) | undefined;
}

/** An account that is asked something. */
export interface ReachedAccount {
  readonly id: string;
  readonly credential: string;
  readonly requestsPerMinute: number | null;
}

/** Where the credentials of an account are when a job does not say. */
export const usualCredential = (account: string): string => `file:${account}.json`;

/** Where the credentials of an account are. */
export const referenceOf = ({ id, credential }: JobAccount): string => credential ?? usualCredential(id);

/**
 * Runs some requests for an account outside of a worker, with a client that is closed afterwards. Those with the same credential keep
 * to its limit together.
 */
export function accountClients({ baseUrl, version, credentials, limiterOf: shared }: AccountAccess) {
  const limiters = new Map<string, Limiter>();
  const own = ({ credential: reference, requestsPerMinute }: ReachedAccount): Limiter | undefined => {
    if (requestsPerMinute === null) return undefined;
    const limiter = limiters.get(reference) ?? createLimiter({ requestsPerMinute });
    limiters.set(reference, limiter);
    return limiter;
  };
  return async <T>(account: ReachedAccount, work: (client: Client) => Promise<T>): Promise<T> => {
    const { id, credential } = account;
    await using client = createClient({
      baseUrl,
      version,
      auth: await readable(credentials(credential, id), id, credential),
      // A wait for the limit is not one for the server.
      timeout: { total: Number.POSITIVE_INFINITY },
      limiter: shared === undefined ? own(account) : shared(account),
    });
    return await work(client);
  };
}

/** Whatever the error of a source says that is not ours, it may quote what it has read. */
const readable = (auth: Promise<Auth>, account: string, reference: string): Promise<Auth> =>
  auth.catch((error: unknown) => {
    if (CallsError.is(error)) throw error;
    throw new FleetError(
      'credential_missing',
      `The credentials of account ${account} (${reference}) could not be read. Put them where the job says.`,
    );
  });
