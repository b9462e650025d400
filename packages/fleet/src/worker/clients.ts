import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Client, createClient, type Limiter, type WaitTrace } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import type { CredentialSource } from '../credentials.ts';
import { FleetError } from '../errors.ts';
import type { PlannedAccount, PlannedJob } from '../job.ts';
import type { Gate } from '../turn/gate.ts';
import type { WorkerOptions } from './worker-options.ts';

/** How requests are sent. */
type Sending = Pick<WorkerOptions, 'fetch' | 'dispatcher'>;

/** A client of an account, whose requests go through the gate of the turn that uses it. */
interface Kept {
  readonly client: Client;
  readonly account: PlannedAccount;
  gate: Gate | null;
}

/** Clients that nobody uses at the moment and that are kept nevertheless: each has connections. */
const spare = 8;
const waits = 'tracing:call-attribution:wait:start';

/** The clients of the accounts that a worker works on. */
export class Clients {
  readonly #credentials: CredentialSource;
  readonly #sending: Sending;
  readonly #kept = new Map<string, Kept>();
  readonly #gates = new WeakMap<object, Kept>();
  readonly #onWait = (message: unknown): void => this.#waits(message);

  constructor(credentials: CredentialSource, sending: Sending) {
    this.#credentials = credentials;
    this.#sending = sending;
    subscribe(waits, this.#onWait);
  }

  /** Takes the client of an account for a turn. */
  async take(job: PlannedJob, account: PlannedAccount, gate: Gate): Promise<Client> {
    const known = this.#kept.get(account.key);
    this.#kept.delete(account.key);
    if (known !== undefined && known.account === account) {
      known.gate = gate;
      this.#kept.set(account.key, known);
      return known.client;
    }
    await known?.client.close();
    const kept = await this.#open(job, account);
    kept.gate = gate;
    this.#kept.set(account.key, kept);
    return kept.client;
  }

  /** Gives it back. One whose credentials were refused is closed: the next turn looks for them again. */
  async leave(account: PlannedAccount, isRefused: boolean): Promise<void> {
    const kept = this.#kept.get(account.key);
    if (kept !== undefined) kept.gate = null;
    const idle = [...this.#kept].filter(([, { gate }]) => gate === null);
    const tooMany = idle.slice(0, Math.max(0, idle.length - spare));
    const closing = isRefused && kept !== undefined ? [...tooMany, [account.key, kept] as const] : tooMany;
    for (const [key, { client }] of closing) {
      this.#kept.delete(key);
      await client.close();
    }
  }

  async close(): Promise<void> {
    unsubscribe(waits, this.#onWait);
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
    const limiter: Limiter = {
      acquire: (signal) => kept.gate?.acquire(signal) ?? Promise.resolve(),
      release: () => kept.gate?.release(),
      pause: (ms) => kept.gate?.pause(ms),
    };
    const client = createClient({
      baseUrl: job.baseUrl,
      version: job.version,
      auth,
      limiter,
      // It would also end the wait for a limiter.
      timeout: { total: Number.POSITIVE_INFINITY },
      fetch: this.#sending.fetch,
      dispatcher: this.#sending.dispatcher,
    });
    const kept: Kept = { client, account, gate: null };
    this.#gates.set(client, kept);
    return kept;
  }

  #waits(message: unknown): void {
    if (!isWait(message) || message.reason !== 'retry') return;
    this.#gates.get(message.client)?.gate?.waits(message.waitMs ?? 0);
  }
}

const isWait = (message: unknown): message is WaitTrace & { readonly client: object } =>
  typeof message === 'object' && message !== null && 'waitMs' in message && 'client' in message;
