// The call-attribution API itself over a store: v2, v3, count and the SMS listing, a page for
// people and an OpenAPI document. Start with createService({ store }).listen(); the sandbox package
// starts one over generated calls.
export type { LimitOptions, Shape, ShapeOptions } from './defaults.ts';
export type {
  Feed,
  FeedAddress,
  FeedOutcomes,
  FeedReport,
  Once,
  ReportFeed,
  SheetFeed,
} from './feeds/feed.ts';
export { type FeedsContext, readFeeds } from './feeds/read-feeds.ts';
export { type Access, hashPassword } from './http/access.ts';
export type {
  Fetch,
  Intercept,
  LogEntry,
  LoggedRequest,
  NodeExchange,
  NodeHandler,
  RateLimit,
  ReplyChanges,
  Route,
  RouteFacts,
  Viewer,
} from './http/public-types.ts';
export { Refusal, type RefusalCode, type RefusalDetails } from './http/refusal.ts';
export { type OpenApiOptions, openApiDocument } from './openapi/document.ts';
export type {
  AccountWithKeys,
  Certificate,
  ListenOptions,
  PageAccount,
  PageAnnotation,
  PageFiles,
  PageOptions,
  PageReport,
  PageSandbox,
  PageSetup,
  ServiceOptions,
} from './options.ts';
export { readViewers } from './page/read-viewers.ts';
export { createService, type Listening, type Service } from './service.ts';
