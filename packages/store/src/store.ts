import type { Call } from '@call-attribution/core';
import type { TimeSlice } from '@call-attribution/node-stream';
import type { CopyVerdict, Erasure, RemovalNote, Removals } from '@call-attribution/node-stream/copies';
import type {
  Account,
  AccountCredential,
  CredentialInfo,
  KeyVerdict,
  SmsEntry,
} from './accounts/accounts.ts';
import type { Claim, Note } from './accounts/claims.ts';
import type { ColumnBatch } from './columns.ts';
import type { StoreJournal } from './journal.ts';
import type { Page, PageQuery, Part } from './read.ts';
import type { Selection } from './selection.ts';
import type { Stored } from './write.ts';

/** The calls of an account, and their ages. */
export interface AccountSize {
  /** Id of the account. */
  readonly account: string;
  /** The number of calls. */
  readonly calls: number;
  /** `date_added` of the first call; null for an empty account. */
  readonly oldest: string | null;
  /** `date_added` of the last call; null for an empty account. */
  readonly newest: string | null;
  /** When the last sync was committed, in milliseconds since 1970; null when there was none. */
  readonly syncedAt: number | null;
}

/** Calls, accounts and keys in one database. Several processes may call every method at the same time. */
export interface Store extends AsyncDisposable {
  /** The URL of the store, without a password. */
  readonly name: string;

  /** Adds an account, or changes its name. Without `disabled` that state does not change. */
  putAccount(account: { id: string; name: string; disabled?: boolean }): Promise<void>;
  /** All accounts, ordered by id. */
  accounts(): Promise<Account[]>;
  /** Adds a credential to an account. The store keeps its hash only. */
  putCredential(account: string, credential: AccountCredential): Promise<void>;
  /**
   * Notes what the API says about the keys that a sync reads an account with. They open the copy as well; once the API accepts them,
   * those of earlier syncs no longer do, and refused ones do not either. What `putCredential` has added stays. Of refused keys the
   * account need not be known.
   */
  noteSyncKeys(
    account: string | null,
    keys: readonly AccountCredential[],
    verdict: KeyVerdict,
  ): Promise<void>;
  /** The credentials of one account, or of all. */
  credentials(account?: string): Promise<CredentialInfo[]>;
  /** Revokes a credential by the id from `credentials`. Returns false when there is none. */
  revokeCredential(id: string): Promise<boolean>;
  /** The account that a credential belongs to, or null. */
  findAccount(credential: AccountCredential): Promise<Account | null>;

  /**
   * Adds calls or replaces them by sid: any number, 1,000 in a transaction of SQLite and 5,000 in one of PostgreSQL. When one cannot be read, those before it are stored.
   *
   * @example
   * await store.upsert('101', client.calls({ filter: 'inc_gce:1' }));
   */
  upsert(account: string, calls: Iterable<Call> | AsyncIterable<Call>): Promise<Stored>;
  /** Deletes calls by sid. Returns the number of deleted calls. */
  remove(account: string, sids: readonly string[]): Promise<number>;

  /** The number of calls in a selection. */
  count(account: string, selection: Selection): Promise<number>;
  /** A page of records as JSON bytes, with the total: both from one snapshot. */
  page(account: string, query: PageQuery): Promise<Page>;
  /** One record of a version as JSON bytes, or null. */
  document(account: string, sid: string, version: 'v2' | 'v3'): Promise<Buffer | null>;
  /** One call in neutral form, or null. */
  get(account: string, sid: string): Promise<Call | null>;
  /** The calls of a selection, or a part of them, in neutral form, in order. A call that changes while they are read is as it is when reached. */
  calls(account: string, selection?: Selection, part?: Part): AsyncIterable<Call>;

  /**
   * Some fields of the calls of a selection, in the order of time and sid, in batches from one snapshot.
   *
   * @example
   * for await (const { columns } of store.columns('101', everything, ['ppc_campaign'])) count(columns.ppc_campaign);
   */
  columns(
    account: string,
    selection: Selection,
    fields: readonly string[],
    signal?: AbortSignal,
  ): AsyncIterable<ColumnBatch>;
  /** A number that grows with each change of the calls of an account. */
  revision(account: string): Promise<number>;

  /** The SMS numbers of an account. */
  smsNumbers(account: string): Promise<SmsEntry[]>;
  /** Replaces the SMS numbers of an account. */
  putSmsNumbers(account: string, numbers: readonly SmsEntry[]): Promise<void>;

  /** Claims the sync of an account: from then on earlier claims cannot write. */
  claim(account: string, holder: string): Promise<Claim>;
  /**
   * Upserts calls, and writes the note of a claim, if there is a new one, in one transaction. Throws `claim_lost` when the account was
   * claimed again, or when the database went back to an earlier state.
   */
  commitClaimed(claim: Claim, batch: { calls: readonly Call[]; note?: unknown }): Promise<Stored>;
  /** The note of an account, such as the state of its sync; null when none was committed. */
  note(account: string): Promise<Note | null>;

  /** What the syncs of an account have proved of the calls of a period, by default of all. Null when none has begun. */
  verdict(account: string, period?: TimeSlice): Promise<CopyVerdict | null>;

  /** An append-only list of strings with one writer, kept with the calls, such as the ledger of what was uploaded. */
  journal(name: string): StoreJournal;

  /** Deletes calls added before a time (`YYYY-MM-DD HH:MM:SS`), now and in later writes. Returns the number of deleted calls. */
  purge(account: string, before: string): Promise<number>;
  /**
   * Deletes the calls of callers by their numbers, written in any way, and leaves these callers out of later writes. Only keyed hashes of
   * the numbers stay; what else the database has about these calls goes, too.
   */
  erase(account: string, callers: readonly string[]): Promise<Erasure>;
  /** What was erased and purged from an account. A copy of its calls takes `note` with it. */
  removals(account: string): Promise<Removals>;
  /**
   * Takes over what was removed from a copy whose calls come into this account, and deletes the calls of callers who were erased there.
   * Where the account has calls from before a purge, they stay. Returns the number of deleted calls.
   */
  addRemovals(account: string, note: RemovalNote): Promise<number>;
  /** The size of the database in bytes, and the size and age of each account. */
  sizes(): Promise<{ bytes: number; accounts: AccountSize[] }>;
  /** Rejects when the database does not respond. */
  ping(): Promise<void>;
  /** Closes the connections. */
  close(): Promise<void>;
}
