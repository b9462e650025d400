// The one reader of settings and credentials: options, then the environment (CALLS_*), then a configuration file.
export type { AccountValues } from './accounts.ts';
export { type ConfigFile, type ConfigName, configNames } from './config-file.ts';
export { type Connection, connectionOf, missingSettings } from './credentials.ts';
export { type Environment, takeEnvironment } from './environment.ts';
export { isInProject } from './in-project.ts';
export {
  findProblem,
  type InputIssue,
  type InputProblem,
  type InputSchema,
  readInput,
  readJsonInput,
} from './input.ts';
export { type JsonError, jsonError } from './json-error.ts';
export type { SettingProblem, SettingProblemCode } from './problems.ts';
export { readAccounts } from './read-accounts.ts';
export {
  type ConfiguredAccount,
  type Origin,
  type PlainName,
  readSettings,
  readVariable,
  type SecretName,
  type Setting,
  type Settings,
  type SettingsSource,
} from './read-settings.ts';
