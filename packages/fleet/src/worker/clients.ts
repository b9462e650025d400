import {
  type Client,
  createClient,
  type Fetch,
  type Limiter,
  type RequestDispatcher,
} from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import { FleetError } from '../errors.ts';
import type { CredentialSource } from '../job/credentials.ts';
import type { PinnedJob } from '../job/job.ts';
import type { AccountValue } from '../lanes/values.ts';
import { troubleOf } from './trouble.ts';

/** How requests are sent. */
export interface Sending {
  readonly fetch?: Fetch | undefined;
  readonly dispatcher?: RequestDispatcher | undefined;
  readonly random?: (() => number) | undefined;
}

/** The limiter of the credentials of an account, which all workers share. */
export type LimiterOf = (account: AccountValue) => Limiter | undefined;

/** The clients of the accounts that a worker works on. */
export interface Clients {
  of(account: AccountValue): Promise<Client>;
  /**
   * The credentials of a client were refused: the next client of the account asks for them again. True when the client was opened
   * before `since`, so that there may be other ones by now.
   */
  refused(account: string, client: Client | null, since: number): Promise<boolean>;
  /** Closes all but those in use and a few more: each has connections, and memory for pages. */
  trim(isInUse: (account: string) => boolean): void;
  close(): Promise<void>;
}

/** Clients that nobody uses at the moment and that are kept nevertheless. */
const spare = 4;

export function createClients(
  job: PinnedJob,
  credentials: CredentialSource,
  limiterOf: LimiterOf,
  sending: Sending,
): Clients {
  const clients = new Map<string, Promise<Client>>();
  const openedAt = new WeakMap<Client, number>();
  const closing = new Set<Promise<void>>();
  const close = (account: string): void => {
    const client = clients.get(account);
    clients.delete(account);
    const done: Promise<void> = Promise.resolve(client)
      .then((opened) => opened?.close())
      .catch(() => {})
      .finally(() => closing.delete(done));
    closing.add(done);
  };
  const open = async (account: AccountValue): Promise<Client> => {
    const client = await openClient(job, credentials, account, limiterOf(account), sending);
    openedAt.set(client, performance.now());
    return client;
  };
  return {
    of(account) {
      const known = clients.get(account.id);
      if (known !== undefined) {
        // To the end, as the one used last.
        clients.delete(account.id);
        clients.set(account.id, known);
        return known;
      }
      const client = open(account);
      clients.set(account.id, client);
      client.catch(() => {
        if (clients.get(account.id) === client) clients.delete(account.id);
      });
      return client;
    },
    async refused(account, client, since) {
      if (client === null) return false;
      const known = clients.get(account);
      const newest = await known?.catch(() => null);
      // Another turn may have opened a newer one.
      if (newest === client && clients.get(account) === known) close(account);
      return (openedAt.get(client) ?? 0) < since;
    },
    trim(isInUse) {
      const idle = [...clients.keys()].filter((account) => !isInUse(account));
      for (const account of idle.slice(0, Math.max(0, idle.length - spare))) close(account);
    },
    async close() {
      for (const account of [...clients.keys()]) close(account);
      await Promise.all(closing);
    },
  };
}

async function openClient(
  job: PinnedJob,
  credentials: CredentialSource,
  account: AccountValue,
  limiter: Limiter | undefined,
  sending: Sending,
): Promise<Client> {
  const auth = await credentials(account.credential, account.id).catch((error: unknown) => {
    if (CallsError.is(error)) throw error;
    // Whatever it says, it may quote what it has read.
    throw new FleetError(
      'credential_missing',
      `The credentials of account ${account.id} (${account.credential}) could not be read: ${troubleOf(error).code}.`,
    );
  });
  return createClient({
    baseUrl: job.baseUrl,
    version: job.version,
    auth,
    limiter,
    // It would also end the wait for a limiter.
    timeout: { total: Number.POSITIVE_INFINITY },
    fetch: sending.fetch,
    dispatcher: sending.dispatcher,
    random: sending.random,
  });
}
