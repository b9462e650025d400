import type { Call } from '@call-attribution/core';
import type { Account, Credential, CredentialInfo } from './accounts/accounts.ts';
import type { SmsEntry } from './accounts/sms.ts';
import type { Page, PageQuery } from './rows/pages.ts';
import type { Selection } from './rows/selection.ts';
import type { Stored } from './rows/write.ts';
import type { AccountSize, TallyFault } from './upkeep/upkeep.ts';

/** Calls, accounts and keys in one database. Every method may be called from several processes at once. */
export interface Store {
  /** Where the store is, without a password. */
  readonly name: string;

  putAccount(account: { id: string; name: string; disabled?: boolean }): Promise<void>;
  accounts(): Promise<Account[]>;
  putCredential(account: string, credential: Credential): Promise<void>;
  credentials(account?: string): Promise<CredentialInfo[]>;
  revokeCredential(id: string): Promise<boolean>;
  /** The account that a credential opens, or null. */
  findAccount(credential: Credential): Promise<Account | null>;

  /** Adds calls or replaces them by sid, in one transaction with their counts. */
  upsert(account: string, calls: readonly Call[]): Promise<Stored>;
  /** Upserts any number of calls, `batch` (default 500) per transaction. */
  load(
    account: string,
    calls: Iterable<Call> | AsyncIterable<Call>,
    options?: { batch?: number },
  ): Promise<Stored>;
  /** Deletes calls by sid; gives how many there were. */
  remove(account: string, sids: readonly string[]): Promise<number>;

  count(account: string, selection: Selection): Promise<number>;
  page(account: string, query: PageQuery): Promise<Page>;
  /** One call as JSON bytes in the view of a version, or null. */
  document(account: string, sid: string, version: 'v2' | 'v3'): Promise<Buffer | null>;
  /** One call in neutral form, or null. */
  get(account: string, sid: string): Promise<Call | null>;
  /** All calls of a selection in neutral form, in order; calls that change meanwhile are given as they are when reached. */
  calls(account: string, selection?: Selection): AsyncIterable<Call>;

  smsNumbers(account: string): Promise<SmsEntry[]>;
  /** Replaces the SMS numbers of an account. */
  putSmsNumbers(account: string, numbers: readonly SmsEntry[]): Promise<void>;

  /** What the last `commitSync` kept, or null. */
  syncState(account: string): Promise<unknown>;
  /** Upserts calls and keeps the state of the sync, in one transaction. */
  commitSync(account: string, batch: { calls: readonly Call[]; state: unknown }): Promise<Stored>;

  /** Deletes calls added before a wire time (`YYYY-MM-DD HH:MM:SS`); gives how many there were. */
  purge(account: string, before: string): Promise<number>;
  /** Deletes the calls of a caller number and keeps later syncs from bringing them back. */
  erase(account: string, caller: string): Promise<number>;
  /** Compares the counts with the calls; an empty list is right. */
  check(): Promise<TallyFault[]>;
  /** Counts everything anew. */
  rebuild(): Promise<void>;
  /** Bytes of the database, and size and age of each account. */
  sizes(): Promise<{ bytes: number; accounts: AccountSize[] }>;
  /** Fails when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
