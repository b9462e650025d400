// Call records as rows: in SQLite or PostgreSQL, a column for each field, with accounts and their
// keys. Start with openStore(url) and syncAccount(client, store).
export type {
  Account,
  AccountCredential,
  CredentialInfo,
  KeyVerdict,
  SmsEntry,
  StoreAccounts,
} from './accounts/accounts.ts';
export type { AccountTally, Claim, Note } from './accounts/claims.ts';
export { type AskedCopy, type AskOptions, ask, beginOf, statusesOf, verdictsOf } from './ask.ts';
export type { RemovedCall } from './changes.ts';
export type { ColumnBatch } from './columns.ts';
export type { Remains } from './database/driver.ts';
export { StoreError, type StoreErrorCode, type StoreErrorDetails } from './database/errors.ts';
export { sqliteInUse } from './database/sqlite-in-use.ts';
export type { SqlColumn, SqlResult, SqlRow } from './database/statement.ts';
export { storeName } from './database/store-url.ts';
export type { StoreJournal } from './journal.ts';
export { openStore } from './open-store.ts';
export type { StoreOptions } from './options.ts';
export type { Page, PageQuery, Part } from './read.ts';
export {
  type EraseOptions,
  type Erasure,
  type Purge,
  printRemovals,
  type RemovalNote,
  type Removals,
  removalsEnding,
  type StoreRemovals,
} from './removals.ts';
export {
  type FieldRange,
  type Selection,
  selectionOf,
} from './selection.ts';
export { querySql, type SqlOptions } from './sql.ts';
export type { AccountSize, Store, StoreAnswer, StoreQuestion } from './store.ts';
export {
  type AccountClient,
  type AccountSyncOptions,
  type AccountSyncSummary,
  type MirrorOptions,
  markUnread,
  mirrorSink,
  syncAccount,
} from './sync.ts';
export type { Stored } from './write.ts';
