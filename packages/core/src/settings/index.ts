// What reads settings: variables of the environment, small files, what people write in files, names
// of accounts, loopback addresses.
export { accountNameForm, accountNameWords, isAccountName } from './account-name.ts';
export {
  type Environment,
  isCredentialVariable,
  type ReadSecret,
  readSecretFile,
  readSecretVariable,
  readVariable,
  versionOfUrl,
} from './environment.ts';
export {
  findProblem,
  type InputProblem,
  type InputSchema,
  readInput,
  readJsonInput,
} from './input.ts';
export { notJsonText } from './json-error.ts';
export { isLoopback } from './loopback.ts';
export { readSmallFile, type SmallFile } from './small-file.ts';
export {
  namesOf,
  type Origin,
  type PlainName,
  type PlainSettings,
  plainSettings,
  quoted,
  type SecretName,
  type Setting,
  type SettingOf,
  type SettingProblem,
  type SettingSpec,
  secretSettings,
} from './table.ts';
