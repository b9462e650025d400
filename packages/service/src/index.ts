// The call-attribution API itself, over a database: v2, v3, count and the SMS listing.
// As a sandbox it serves made-up calls to anyone; as a mirror it serves your own synced records.
// Start with openStore(url) and createService({ store }), or run the bin call-attribution-service.
export type { CountShape, Fault, RequestKind } from './faults/fault.ts';
export { FaultSyntaxError, parseFaults } from './faults/fault.ts';
export type { FaultBook, RequestFacts } from './faults/fault-book.ts';
export { faultHeader } from './faults/intercept.ts';
export type { Journal, JournalEntry } from './faults/journal.ts';
export type { Answer, AnswerChanges, Exchange, Intercept, Route, Shape } from './http/exchange.ts';
export type { LogEntry } from './http/front.ts';
export type { RateLimit } from './http/rate-limit.ts';
export type { Limits } from './http/server.ts';
export type { LiveOptions } from './live/live-clock.ts';
export { type GenerateOptions, generate } from './made-up/generate.ts';
export { mirrorSink } from './mirror/mirror-sink.ts';
export { exportCalls, importCalls, type RecordForm } from './mirror/transfer.ts';
export { type OpenApiOptions, openApiDocument } from './openapi/document.ts';
export type { PageAccount, PageOptions } from './page/page-routes.ts';
export { type Sandbox, type SandboxAccount, type SandboxOptions, startSandbox, testKeys } from './sandbox.ts';
export {
  type AccountWithKeys,
  createService,
  type Listening,
  type ListenOptions,
  type Service,
  type ServiceOptions,
} from './service.ts';
export type { Account, Credential, CredentialInfo } from './store/accounts.ts';
export { StoreError, type StoreErrorCode } from './store/errors.ts';
export { openStore, type StoreOptions } from './store/open-store.ts';
export type { Page, PageQuery } from './store/pages.ts';
export { everything, type Selection, selectionOf } from './store/selection.ts';
export type { SmsEntry } from './store/sms.ts';
export type { Store } from './store/store.ts';
export type { AccountSize, TallyFault } from './store/upkeep.ts';
export type { Stored } from './store/write.ts';
