import type { Call } from '@call-attribution/core';
import type { Period } from '@call-attribution/core/time';
import type { Verdict } from '@call-attribution/node-stream/copies';
import type { AccountStatus, Answer, Question } from '@call-attribution/questions';
import type { StoreAccounts } from './accounts/accounts.ts';
import type { AccountTally, Claim, Note } from './accounts/claims.ts';
import type { ColumnBatch } from './columns.ts';
import type { StoreJournal } from './journal.ts';
import type { Page, PageQuery, Part } from './read.ts';
import type { StoreRemovals } from './removals.ts';
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

/** The answer of a store, and what is known of its accounts. */
export interface StoreAnswer {
  /** The answer. */
  readonly answer: Answer;
  /** How fresh each copy is, in their order. */
  readonly statuses: readonly AccountStatus[];
  /** What is proved of each copy about the time that was asked; null where none was synced. */
  readonly verdicts: readonly (Verdict | null)[];
}

/** How the calls of a store are asked. */
export interface StoreQuestion {
  /** The accounts. Default: all of the store. */
  readonly accounts?: readonly string[] | undefined;
  /** Ends the reading. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls, accounts and keys in one database. Several processes may call every method at the same
 * time.
 */
export interface Store extends StoreAccounts, StoreRemovals, AsyncDisposable {
  /** The URL of the store, without a password. */
  readonly name: string;

  /**
   * Adds calls or replaces them by sid: any number, 1,000 in a transaction of SQLite and 5,000 in
   * one of PostgreSQL. When one cannot be read, those before it are stored.
   *
   * @example
   * await store.upsert('101', client.calls({ filter: 'inc_gce:1' }));
   */
  upsert(account: string, calls: Iterable<Call> | AsyncIterable<Call>): Promise<Stored>;
  /** Deletes calls by sid. Returns the number of deleted calls. */
  remove(account: string, sids: readonly string[]): Promise<number>;

  /**
   * The number of calls of an account, or of a selection of them. As in all reads, an account that
   * the store does not have has no calls: `accounts()` lists those that it has.
   *
   * @example
   * await store.count('101');
   * await store.count('101', { period: periodOf(from, to), extensions: false });
   */
  count(account: string, selection?: Selection): Promise<number>;
  /** A page of records as JSON bytes, with the total: both from one snapshot. */
  page(account: string, query: PageQuery): Promise<Page>;
  /** One record of a version as JSON bytes, or null. */
  document(account: string, sid: string, version: 'v2' | 'v3'): Promise<Buffer | null>;
  /** One call in neutral form, or null. */
  get(account: string, sid: string): Promise<Call | null>;
  /**
   * The calls of a selection, or a part of them, in neutral form, in order. A call that changes
   * while they are read is as it is when reached.
   */
  calls(account: string, selection?: Selection, part?: Part): AsyncIterable<Call>;

  /**
   * Some fields of the calls of a selection, in the order of time and sid, in batches from one
   * snapshot. Of a store in memory, a call that changes while they are read is as it is when
   * reached.
   *
   * @example
   * for await (const { columns } of store.columns('101', ['ppc_campaign']))
   * count(columns.ppc_campaign);
   */
  columns(
    account: string,
    fields: readonly string[],
    selection?: Selection,
    signal?: AbortSignal,
  ): AsyncIterable<ColumnBatch>;
  /**
   * Answers a question about the calls of all accounts, or of those that are named, in one pass.
   *
   * @example
   * const { answer } = await store.ask({ groupBy: ['campaign'], period: 'last month' });
   * console.table(answer.rows);
   */
  ask(question: Question, options?: StoreQuestion): Promise<StoreAnswer>;
  /** A number that grows with each change of the calls of an account. */
  revision(account: string): Promise<number>;
  /**
   * When the calls of an account changed last, in milliseconds since 1970; null when they did not
   * since a release that notes it. Every later change has a later time, also when the clock goes
   * back, so that a run that asks for it first, and then for what changed since the last run, misses
   * nothing.
   *
   * @example
   * const now = await store.changedAt('101');
   * for await (const call of store.calls('101', { changedSince: last })) await copy(call);
   * for await (const { sid } of store.removedSince('101', last)) await deleteCopyOf(sid);
   * await save(now);
   */
  changedAt(account: string): Promise<number | null>;
  /** How many calls an account has, and how many its writes have left: both from one snapshot. */
  tally(account: string): Promise<AccountTally>;
  /** Notes that calls of an account are lost, and will be added again: the others count now. */
  noteLoss(account: string): Promise<void>;

  /** Claims the sync of an account: from then on earlier claims cannot write. */
  claim(account: string, holder: string): Promise<Claim>;
  /**
   * Upserts calls, and writes the note of a claim, if there is a new one, in one transaction.
   * Throws `claim_lost` when the account was claimed again, or when the database went back to an
   * earlier state.
   */
  commitClaimed(claim: Claim, batch: { calls: readonly Call[]; note?: unknown }): Promise<Stored>;
  /** The note of an account, such as the state of its sync; null when none was committed. */
  note(account: string): Promise<Note | null>;

  /**
   * What the syncs of an account have proved of the calls of a period, by default of all. Null when
   * none has begun.
   */
  verdict(account: string, period?: Period): Promise<Verdict | null>;

  /**
   * An append-only list of strings with one writer, kept with the calls, such as the ledger of what
   * was uploaded.
   */
  journal(name: string): StoreJournal;

  /** The size and age of each account. */
  sizes(): Promise<AccountSize[]>;
  /** Rejects when the database does not respond. */
  ping(): Promise<void>;
  /** Closes the connections. */
  close(): Promise<void>;
}
