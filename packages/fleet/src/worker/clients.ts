import { type Client, createClient, createLimiter, type Limiter } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import type { CredentialSource } from '../credentials.ts';
import { FleetError } from '../errors.ts';
import type { PlannedAccount, PlannedJob } from '../job.ts';
import type { WorkerOptions } from './worker-options.ts';

/** How requests are sent. */
type Sending = Pick<WorkerOptions, 'fetch' | 'dispatcher'>;

/** A client of an account, and how many requests it has begun. */
interface Kept {
  readonly client: Client;
  readonly account: PlannedAccount;
  isUsed: boolean;
  started: number;
}

/** Clients that nobody uses at the moment and that are kept nevertheless: each has connections. */
const spare = 8;

/** The clients of the accounts that a worker works on. Each keeps to the rate of its credential as long as it is open. */
export class Clients {
  readonly #credentials: CredentialSource;
  readonly #sending: Sending;
  readonly #kept = new Map<string, Kept>();

  constructor(credentials: CredentialSource, sending: Sending) {
    this.#credentials = credentials;
    this.#sending = sending;
  }

  /** Takes the client of an account for a turn. */
  async take(job: PlannedJob, account: PlannedAccount): Promise<Readonly<Kept>> {
    const known = this.#kept.get(account.key);
    this.#kept.delete(account.key);
    const isSame = known !== undefined && known.account === account;
    if (!isSame) await known?.client.close();
    const kept = isSame ? known : await this.#open(job, account);
    kept.isUsed = true;
    kept.started = 0;
    this.#kept.set(account.key, kept);
    return kept;
  }

  /** Gives it back. One whose credentials were refused is closed: the next turn looks for them again. */
  async leave(account: PlannedAccount, isRefused: boolean): Promise<void> {
    const kept = this.#kept.get(account.key);
    if (kept !== undefined) kept.isUsed = false;
    const idle = [...this.#kept].filter(([, { isUsed }]) => !isUsed);
    const tooMany = idle.slice(0, Math.max(0, idle.length - spare));
    const closing = isRefused && kept !== undefined ? [...tooMany, [account.key, kept] as const] : tooMany;
    for (const [key, { client }] of closing) {
      this.#kept.delete(key);
      await client.close();
    }
  }

  async close(): Promise<void> {
    for (const { client } of this.#kept.values()) await client.close();
    this.#kept.clear();
  }

  async #open(job: PlannedJob, account: PlannedAccount): Promise<Kept> {
    const { credential, id } = account;
    const auth = await this.#credentials(credential, id).catch((error: unknown) => {
      if (CallsError.is(error)) throw error;
      // Whatever it says, it may quote what it has read.
      throw new FleetError(
        'credential_missing',
        `The credentials of account ${id} (${credential}) could not be read. Put them where the job says.`,
      );
    });
    const limiter = createLimiter({ requestsPerMinute: account.requestsPerMinute ?? undefined });
    const counting: Limiter = {
      ...limiter,
      async acquire(signal) {
        await limiter.acquire(signal);
        kept.started += 1;
      },
    };
    const client = createClient({
      baseUrl: job.baseUrl,
      version: job.version,
      auth,
      limiter: counting,
      // It would also end the wait for a limiter.
      timeout: { total: Number.POSITIVE_INFINITY },
      fetch: this.#sending.fetch,
      dispatcher: this.#sending.dispatcher,
    });
    const kept: Kept = { client, account, isUsed: false, started: 0 };
    return kept;
  }
}
