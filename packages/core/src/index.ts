// A client for the call-attribution API: it turns HTTP responses into checked, version-neutral call
// records. It covers credentials, deadlines, retries, paging, the XML of SMS numbers, and errors
// that never contain a secret. One table (record/fields.ts) describes every field; types and
// validators are generated from it. ./record has what it exports of records without the client.
export type { FilterInput } from '@call-attribution/query-dsl';
export type { Auth, BearerAuth, KeyAuth } from './auth/auth.ts';
export { apiKeys, bearerToken } from './auth/auth.ts';
export { type Secret, secret } from './auth/secret.ts';
export type {
  CallCount,
  CallList,
  CallPage,
  Client,
  CountSource,
  PageItem,
  RawPage,
  ResponseMeta,
} from './client/client.ts';
export { createClient } from './client/create-client.ts';
export type {
  AttemptTrace,
  ClientTrace,
  Operation,
  ReportEvent,
  RequestTrace,
  WaitTrace,
} from './client/events.ts';
export {
  type ClientOptions,
  type ClientReport,
  clientDefaults,
  type ListQuery,
  type RequestOptions,
  type RequestTimeoutOptions,
  type ResponseInfo,
  type SmsOptions,
  type TimeoutOptions,
  type Timeouts,
} from './client/options.ts';
export {
  CallsError,
  type ErrorDetails,
  type ErrorFamily,
  type ErrorWithCode,
  type ErrorWords,
  type KnownErrorCode,
} from './errors/calls-error.ts';
export {
  ConfigurationError,
  ConnectionError,
  DeadlineError,
  HttpError,
  ResponseError,
} from './errors/classes.ts';
export type { ErrorCode } from './errors/codes.ts';
export { redact } from './errors/redact.ts';
export type {
  DispatchController,
  HttpRequest,
  RequestDispatcher,
  ResponseHandler,
} from './http/dispatch.ts';
export type { Fetch, FetchInit, FetchResponse } from './http/fetch-dispatcher.ts';
export { createLimiter, type Limiter, type LimiterOptions } from './http/limiter.ts';
export type { RetryOptions, RetryPolicy } from './http/retry.ts';
export { type LogFormat, type Logger, type LogLevel, lineLogger } from './log/logger.ts';
export type { PageRange } from './page/content-range.ts';
export type { CopyScope } from './page/copy-scope.ts';
export type { ByteRange } from './page/split-records.ts';
export type { RecordProblem } from './record/check-record.ts';
export {
  type FieldGroup,
  type FieldSpec,
  type FieldType,
  fields,
  type Mask,
  type MaskClass,
  type Version,
} from './record/fields.ts';
export { fromCall } from './record/from-call.ts';
export type {
  Call,
  CallV2,
  CallV3,
  CallView,
  FieldName,
  PpcStatus,
} from './record/generated/calls.ts';
export { type ReadCallOptions, readCall } from './record/read-call.ts';
export type { RecordMode, ToCallOptions } from './record/to-call.ts';
export { toCall } from './record/to-call.ts';
export type { SmsNumber } from './sms/read-sms-numbers.ts';
export { type Clock, sleep, systemClock } from './time/clock.ts';
export type { Moment } from './time/moment.ts';
export type { TraceContext } from './tracing/index.ts';
