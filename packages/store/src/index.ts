// Call records as rows: in SQLite or PostgreSQL, found by rank, counted in constant time, with accounts and their keys.
// Start with openStore(url) and syncAccount(client, store).
export type { Account, AccountCredential, CredentialInfo, KeyVerdict } from './accounts/accounts.ts';
export type { Claim, Note } from './accounts/claims.ts';
export type { SmsEntry } from './accounts/sms.ts';
export { StoreError, type StoreErrorCode, type StoreErrorDetails } from './database/errors.ts';
export { type GroupedField, groupedFields } from './database/own-columns.ts';
export type { SqlColumn, SqlResult, SqlRow } from './database/statement.ts';
export type { StoreJournal } from './journal.ts';
export { openStore, storeName } from './open-store.ts';
export type { StoreOptions } from './options.ts';
export type { ColumnBatch } from './rows/columns.ts';
export type { Part } from './rows/each-call.ts';
export type { Page, PageQuery, PageStream } from './rows/pages.ts';
export type { ScannedCalls, ScanPart, ScanStart, ScanTaker } from './rows/scan.ts';
export { everything, type NumericFilter, selectionOf } from './rows/selection.ts';
export type { Stored } from './rows/write.ts';
export { querySql, type SqlOptions } from './sql.ts';
export type { Store } from './store.ts';
export {
  type AccountClient,
  type AccountSyncOptions,
  type AccountSyncSummary,
  markUnread,
  mirrorSink,
  syncAccount,
} from './sync.ts';
export type { AccountSize, TallyFault } from './upkeep/upkeep.ts';
