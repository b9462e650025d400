import { realpath } from 'node:fs/promises';
import { isAbsolute, resolve, sep } from 'node:path';
import { type Auth, apiKeys, bearerToken } from '@call-attribution/core';
import { CallsError, codeOf, type ErrorWords } from '@call-attribution/core/errors';
import {
  type Environment,
  readInput,
  readJsonInput,
  readSmallFile,
  readVariable,
  type SmallFile,
} from '@call-attribution/core/settings';
import type { ZodType } from 'zod';
import { FleetError } from './errors.ts';

/**
 * Finds the credentials of an account by the reference in the job. Throws `credential_missing` when
 * they are not there.
 */
export type CredentialSource = (reference: string, account: string) => Promise<Auth>;

/** Where references are looked up. */
export interface CredentialOptions {
  /** Folder of the files that `file:` names. Without it there are none. */
  readonly folder?: string | undefined;
  /**
   * Environment of the variables that `env:` names. Programs that own their process pass
   * `takeEnvironment()`. Default `process.env`.
   */
  readonly env?: Environment | undefined;
  /**
   * Called once for each file that others on this machine can read, with its reference. Default: a
   * warning of the process.
   */
  readonly onWarning?: ((message: string, reference: string) => void) | undefined;
}

const form = '{ "accessKey": "...", "secretKey": "..." } or { "bearerToken": "..." }';
const wayOut = `it looks like ${form}`;

/**
 * Credentials from files and environment variables. `file:101.json` is a file below the folder, and
 * never outside of it;
 * `env:CALLS_101` a variable. Both hold `{ "accessKey": "...", "secretKey": "..." }` or `{ "bearerToken": "..." }`. In place of
 * the variable there may be `CALLS_101_ACCESS_KEY` and `CALLS_101_SECRET_KEY`, or
 * `CALLS_101_BEARER_TOKEN`.
 *
 * @example
 * const credentials = credentialsFrom({ folder: '/run/secrets/calls' });
 * await credentials('file:101.json', '101');
 */
export function credentialsFrom(options: CredentialOptions = {}): CredentialSource {
  const { folder, env = process.env } = options;
  const { onWarning = (message) => process.emitWarning(message) } = options;
  const warned = new Set<string>();
  return async (reference, account) => {
    const place = `The credential of account ${account} (${reference})`;
    const fail = (problem: string): FleetError => missing({ message: `${place}: ${problem}` });
    const name = reference.slice(reference.indexOf(':') + 1);
    if (reference.startsWith('env:')) return fromVariable(name, env, place);
    if (!reference.startsWith('file:')) throw fail('a reference begins with file: or env:.');
    if (folder === undefined) throw fail('no folder of keys was named. Name one with --keys.');
    const { text, isExposed } = await readKeyFile(folder, name, fail);
    if (isExposed && !warned.has(reference)) {
      warned.add(reference);
      onWarning(
        `The credentials of account ${account} (${reference}) can be read by other users of this machine. Run chmod 600 on the file.`,
        reference,
      );
    }

    return parseAuth(text, place);
  };
}

type Fail = (problem: string) => FleetError;

const missing = ({ message, hint }: ErrorWords): FleetError =>
  new FleetError('credential_missing', hint === undefined ? message : `${message}; ${hint}`);

async function fromVariable(name: string, env: Environment, place: string): Promise<Auth> {
  const text = readVariable(env, name);
  if (text !== null) return parseAuth(text, place);
  const [accessKey, secretKey, token] = ['ACCESS_KEY', 'SECRET_KEY', 'BEARER_TOKEN'].map((end) =>
    readVariable(env, `${name}_${end}`),
  );
  if (accessKey === null && secretKey === null && token === null)
    throw missing({ message: `${place}: nothing is there`, hint: `set ${name} to ${form}` });
  return authOf(
    readInput(await keySchema(), { accessKey, secretKey, bearerToken: token }, place, missing),
    place,
  );
}

async function readKeyFile(folder: string, name: string, fail: Fail): Promise<SmallFile> {
  const outside = 'it lies outside of the folder of keys, where nothing is read.';
  const path = resolve(folder, name);
  if (isAbsolute(name) || !isBelow(path, resolve(folder))) throw fail(outside);
  try {
    const real = await realpath(path);
    // A link may lead out of it. Those of a mounted secret of Kubernetes stay inside.
    if (!isBelow(real, await realpath(folder))) throw fail(outside);
    return readSmallFile(real);
  } catch (error) {
    if (CallsError.is(error)) throw error;
    const code = codeOf(error) ?? 'unknown reason';
    throw fail(
      code === 'ENOENT'
        ? `there is no such file below the folder of keys. Put one there that looks like ${form}.`
        : `it cannot be read (${code}).`,
    );
  }
}

const isBelow = (path: string, folder: string): boolean =>
  path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);

async function parseAuth(text: string, place: string): Promise<Auth> {
  return authOf(readJsonInput(await keySchema(), text, place, missing), place);
}

/** zod is loaded with the first credentials. */
async function keySchema(): Promise<ZodType<Keys>> {
  const { z } = await import('zod');
  const text = z.string().nullish();
  return z
    .strictObject({ accessKey: text, secretKey: text, bearerToken: text })
    .superRefine(({ accessKey, secretKey, bearerToken: token }, context) => {
      const refuse = (path: string[], message: string, hint: string) =>
        context.addIssue({ code: 'custom', path, message, params: { hint } });
      const hasKeys = accessKey != null || secretKey != null;
      if (hasKeys && token != null) refuse([], 'has keys and a token', 'keep one of the two');
      else if (!hasKeys && token == null) refuse([], 'has neither keys nor a token', wayOut);
      else if (hasKeys && accessKey == null) refuse(['accessKey'], 'is missing', wayOut);
      else if (hasKeys && secretKey == null) refuse(['secretKey'], 'is missing', wayOut);
    });
}

type Keys = Partial<Record<'accessKey' | 'secretKey' | 'bearerToken', string | null | undefined>>;

function authOf({ accessKey, secretKey, bearerToken: token }: Keys, place: string): Auth {
  try {
    return token == null ? apiKeys(accessKey ?? '', secretKey ?? '') : bearerToken(token);
  } catch (error) {
    throw missing({
      message: `${place}: ${CallsError.is(error) ? error.message : 'they cannot be used'}`,
    });
  }
}
