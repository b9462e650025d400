// The one family of errors, and the one check of options. Light: it loads nothing of the client.
export * from './calls-error.ts';
export {
  checkOption,
  checkOptions,
  either,
  group,
  kinds,
  number,
  type OptionKind,
  type OptionShape,
  oneOf,
  only,
  whole,
  withMethods,
} from './check-options.ts';
export { type CodeTable, codeTable } from './code-table.ts';
export type {
  ConfigurationErrorCode,
  ConnectionErrorCode,
  DeadlineErrorCode,
  ErrorCode,
  HttpErrorCode,
  InputErrorCode,
  ResponseErrorCode,
} from './codes.ts';
export { propertyOf } from './property.ts';
