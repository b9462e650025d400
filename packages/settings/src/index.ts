// The settings of programs that people start: options, then the environment (CALLS_*), then a
// configuration file with its accounts. Names, checks and defaults of all settings are in
// `@call-attribution/core/settings`, since `createClient()` reads the same variables.
export type { Annotation } from './annotations.ts';
export { type ConfigFile, type NamedRules, userConfigFile } from './config-file.ts';
export type { FileSection, NamedFile, NamedFiles } from './named-files.ts';
export {
  type AnnotatedNumbers,
  accountCalled,
  annotationsOf,
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
  type NamedReport,
  type Reports,
  reportFlags,
  reportOptions,
  reportsIn,
  reportTimes,
} from './reports.ts';
