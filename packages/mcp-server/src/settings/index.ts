// The settings of programs that people start: options, then the environment (CALLS_*), then a
// configuration file with its accounts. It loads nothing of the server.
export { type ConfigFile, userConfigFile } from './config-file.ts';
export {
  type ConfiguredAccount,
  connectionOf,
  missingSettings,
  readAccounts,
  readSettings,
  type Settings,
  type SettingsSource,
  secretCommand,
} from './read-settings.ts';
export {
  type Origin,
  type PlainName,
  type PlainSettings,
  plainSettings,
  type SecretName,
  type Setting,
  type SettingOf,
  type SettingProblem,
  type SettingSpec,
  secretSettings,
} from './table.ts';
