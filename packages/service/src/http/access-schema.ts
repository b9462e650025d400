import { resolve } from 'node:path';
import { codeOf } from '@call-attribution/core/errors';
import { type Environment, readSmallFile } from '@call-attribution/core/settings';
import * as z from 'zod';
import { limits } from '../defaults.ts';
import { type Access, hashedAccess, passwordAccess } from './access.ts';

// A user and a password as files name them: those of feeds, and of viewers of the page. zod is
// loaded with this.

/** Where the names in a file lead to. */
export interface Surroundings {
  /** Folder that paths in it start from. */
  readonly folder: string;
  /** Variables with passwords. */
  readonly env: Environment;
}

/** A string of a form. */
export const shaped = (form: RegExp, expected: string) => z.string(expected).regex(form, expected);

/** A string that is not empty. */
export const text = z.string().min(1);

const passwordWays = 'use passwordEnv, passwordFile or passwordHash';

/** A user, and what holds the password. */
export const accessFields = {
  user: shaped(/^[^:\p{Cc}]{1,100}$/u, 'must be at most 100 characters without a colon'),
  passwordEnv: shaped(
    /^CALLS_\w*PASSWORD$/,
    'must be the name of a variable CALLS_..._PASSWORD, which is taken out of the environment',
  ),
  passwordFile: text,
  passwordHash: text,
  password: z.custom<never>(() => false, {
    error: 'must not be in the file',
    params: { hint: passwordWays },
  }),
};

/** What a file says of a user. */
type AccessNames = Readonly<
  Partial<Record<'user' | 'passwordEnv' | 'passwordFile' | 'passwordHash', string | undefined>>
>;

/** Adds a problem of a name, or of the whole. */
export type Refuse<Name extends string = string> = (
  name: Name | null,
  message: string,
  hint?: string,
) => null;

/** Adds problems to what zod reads. */
export const refusing =
  (context: z.RefinementCtx): Refuse =>
  (name, message, hint) => {
    context.addIssue({
      code: 'custom',
      path: name === null ? [] : [name],
      message,
      params: { hint },
    });
    return null;
  };

/** Who has access; null when the file says nothing about it. */
export function accessOf(
  named: AccessNames,
  { folder, env }: Surroundings,
  refuse: Refuse<keyof AccessNames>,
): Access | null {
  const { user, passwordEnv, passwordFile, passwordHash } = named;
  const given = [passwordEnv, passwordFile, passwordHash].filter((one) => one !== undefined);
  const [from] = given;
  if (given.length > 1) return refuse(null, 'has more than one password', passwordWays);
  if (from === undefined)
    return user === undefined ? null : refuse(null, 'has a user without a password', passwordWays);

  if (user === undefined) return refuse('user', 'is missing: there is a password');
  if (passwordHash !== undefined)
    return (
      hashedAccess(user, passwordHash) ??
      refuse('passwordHash', 'is not a hash that hashPassword has made')
    );

  const name = passwordEnv === undefined ? 'passwordFile' : 'passwordEnv';
  const found =
    passwordEnv === undefined ? namedFile(from, folder) : { text: env[passwordEnv] ?? '' };
  if ('problem' in found) return refuse(name, found.problem);
  const password = found.text.replace(/\r?\n$/, '');
  if (password === '') return refuse(name, `names ${from}, which holds no password`);
  const { passwordLength } = limits;
  if (password.length < passwordLength)
    return refuse(name, `names ${from}, which must hold at least ${passwordLength} characters`);
  return passwordAccess(user, password);
}

/** Most bytes of a file that another file names: a password, or rules of values. */
const mostBytes = 1024 * 1024;

/** The content of a file that another file names, or why it cannot be read. */
function namedFile(
  name: string,
  folder: string,
): { readonly text: string } | { readonly problem: string } {
  try {
    return { text: readSmallFile(resolve(folder, name), mostBytes).text };
  } catch (error) {
    return {
      problem: `names ${name}, which cannot be read (${codeOf(error) ?? 'unknown reason'})`,
    };
  }
}
