// The settings of programs that people start: options, then the environment (CALLS_*), then a configuration file with its accounts.
// It loads nothing of the server.
export { type ConfigFile, userConfigFile } from './config-file.ts';
export { type Connection, connectionOf, missingSettings } from './credentials.ts';
export type { SettingProblem } from './problems.ts';
export {
  type ConfiguredAccount,
  readAccounts,
  readSettings,
  type Settings,
  type SettingsSource,
} from './read-settings.ts';
export { secretCommand } from './secret-command.ts';
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
