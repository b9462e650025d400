// The one reader of settings and credentials: options, then the environment (CALLS_*), then a configuration file.
export { accountNameForm, accountNameWords, isAccountName } from './account-name.ts';
export { type ConfigFile, userConfigFile } from './config-file.ts';
export { type Connection, connectionOf, missingSettings } from './credentials.ts';
export { type Environment, isInProject, readVariable } from './environment.ts';
export {
  findProblem,
  type InputIssue,
  type InputProblem,
  type InputSchema,
  readInput,
  readJsonInput,
} from './input.ts';
export { isLoopback } from './loopback.ts';
export type { SettingProblem } from './problems.ts';
export {
  type ConfiguredAccount,
  readAccounts,
  readSettings,
  type Settings,
  type SettingsSource,
} from './read-settings.ts';
export { secretCommand } from './secret-command.ts';
export { readSmallFile, type SmallFile } from './small-file.ts';
export {
  type Origin,
  type PlainName,
  type PlainSettings,
  plainSettings,
  type SecretName,
  type Setting,
  type SettingOf,
  type SettingSpec,
  secretSettings,
} from './table.ts';
