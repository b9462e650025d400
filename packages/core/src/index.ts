// Client for the call-attribution API: from HTTP answers to checked, version-neutral call records.
// Auth, deadlines, retries, paging, the legacy XML of SMS numbers, errors that never carry a secret.
// One table (record/fields.ts) knows every field; types and validators are generated from it.
export type { ErrorCode, ErrorDetails } from './errors/calls-error.ts';
export {
  CallsError,
  ConfigurationError,
  HttpError,
  NetworkError,
  ResponseError,
  TimeoutError,
} from './errors/calls-error.ts';
export type { RecordProblem } from './record/check-record.ts';
export type { FieldGroup, FieldSpec, FieldType } from './record/fields.ts';
export { fields } from './record/fields.ts';
export { fromCall } from './record/from-call.ts';
export type { Call, CallV2, CallV3, FieldName, PpcStatus } from './record/generated/calls.ts';
export type { RecordMode, ToCallOptions } from './record/to-call.ts';
export { toCall } from './record/to-call.ts';
export type { Version } from './version.ts';
