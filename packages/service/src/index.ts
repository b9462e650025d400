// The call-attribution API itself over a store: v2, v3, count and the SMS listing, a page for people and an OpenAPI document.
// Start with createService({ store }).listen(); the sandbox package starts one over generated calls.
export type { LimitOptions, Shape, ShapeOptions } from './defaults.ts';
export { type Access, hashPassword } from './feeds/access.ts';
export type { Feed, FeedSource, Once } from './feeds/feed.ts';
export {
  type CountingRules,
  type FeedsContext,
  type RulesFile,
  readFeeds,
  readRulesFile,
} from './feeds/read-feeds.ts';
export { storeFeeds } from './feeds/store-feeds.ts';
export type { NodeHandler } from './http/node.ts';
export type { RefusalCode } from './http/problems.ts';
export type { Fetch, Intercept, LogEntry, NodeExchange, ReplyChanges, Route } from './http/public-types.ts';
export type { RateLimit } from './http/rate-limit.ts';
export { Refusal, type RefusalDetails } from './http/refusal.ts';
export { type OpenApiOptions, openApiDocument } from './openapi/document.ts';
export type {
  AccountWithKeys,
  Certificate,
  ListenOptions,
  ServiceOptions,
} from './options.ts';
export type { PageAccount, PageOptions } from './page/page-options.ts';
export { createService, type Listening, type Service } from './service.ts';
