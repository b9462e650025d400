import { resolve } from 'node:path';
import { codeOf } from '../errors/index.ts';
import { readSmallFile } from './small-file.ts';

/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** An environment variable without spaces around it; null when it is empty or not set. */
export function readVariable(env: Environment, name: string): string | null {
  const value = env[name]?.trim();
  // Some hosts pass on the placeholder of a setting that the user left empty, such as ${input:key}.
  return value === undefined || value === '' || /^\$\{.*\}$/.test(value) ? null : value;
}

const credentialName = /^CALLS_\w*(?:KEY|TOKEN|SECRET|PASSWORD)$/;

/**
 * Is this the name of a variable that holds a credential of this project, which `takeEnvironment`
 * takes out?
 */
export function isCredentialVariable(name: string): boolean {
  return credentialName.test(name);
}

/**
 * A credential that was read, and the variable or the file it is in; or what is wrong with that
 * file.
 */
export type ReadSecret =
  | { readonly value: string; readonly from: string; readonly isFile: boolean }
  | { readonly problem: string };

/**
 * A credential of the environment: in this variable, or in the file that the one with `_FILE`
 * names. Null when neither is set.
 */
export function readSecretVariable(env: Environment, name: string, cwd = ''): ReadSecret | null {
  const direct = readVariable(env, name);
  if (direct !== null) return { value: direct, from: name, isFile: false };
  const path = readVariable(env, `${name}_FILE`);
  if (path === null) return null;
  return readSecretFile(resolve(cwd, path), `${name}_FILE`);
}

/** The credential in a file. `from`: the setting that names the file, for messages. */
export function readSecretFile(path: string, from: string): ReadSecret {
  try {
    const value = readSmallFile(path).text.trim();
    if (value !== '') return { value, from: path, isFile: true };
    return { problem: `${from}: ${path} is empty` };
  } catch (error) {
    return { problem: `${from}: ${path} cannot be read (${codeOf(error) ?? 'unknown reason'})` };
  }
}

/** The version of the API that a URL ends in; null when it does not say one. */
export const versionOfUrl = (url: string): 'v2' | 'v3' | null =>
  (/\/(v[23])(?:\/user\/bid-management)?\/*$/.exec(url)?.[1] as 'v2' | 'v3' | undefined) ?? null;
