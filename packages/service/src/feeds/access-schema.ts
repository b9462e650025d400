import type { Environment } from '@call-attribution/core/settings';
import * as z from 'zod';
import { type Access, hashedAccess, passwordAccess } from './access.ts';
import { namedFile } from './named-file.ts';

/** Where the names in a file of feeds lead to. */
export interface Surroundings {
  /** Folder that paths in it start from. */
  readonly folder: string;
  /** Variables with passwords. */
  readonly env: Environment;
}

const shortestPassword = 12;
const ways = 'use passwordEnv, passwordFile or passwordHash';

/** What a feed says about who may fetch it. */
export const accessFields = {
  user: z
    .string()
    .regex(/^[^:\p{Cc}]{1,100}$/u, 'must be at most 100 characters without a colon')
    .optional(),
  passwordEnv: z
    .string()
    .regex(
      /^CALLS_\w*PASSWORD$/,
      'must be the name of a variable CALLS_..._PASSWORD, which is taken out of the environment',
    )
    .optional(),
  passwordFile: z.string().min(1).optional(),
  passwordHash: z.string().min(1).optional(),
  password: z
    .custom<never>(() => false, { error: 'must not be in the file', params: { hint: ways } })
    .optional(),
};

const named = z.object(accessFields);

/** Reads who may fetch a feed; null when the file says nothing about it. */
export const accessSchema = ({ folder, env }: Surroundings) =>
  named.transform(({ user, passwordEnv, passwordFile, passwordHash }, context): Access | null => {
    const refuse = (name: keyof typeof accessFields | null, message: string, hint?: string): never => {
      context.addIssue({ code: 'custom', path: name === null ? [] : [name], message, params: { hint } });
      return z.NEVER;
    };
    const passwords = [passwordEnv, passwordFile, passwordHash].filter((one) => one !== undefined);
    if (passwords.length > 1) return refuse(null, 'has more than one password', ways);
    const [from] = passwords;
    if (user === undefined)
      return from === undefined ? null : refuse('user', 'is missing: the feed has a password');
    if (from === undefined) return refuse(null, 'has a user without a password', ways);
    if (passwordHash !== undefined)
      return (
        hashedAccess(user, passwordHash) ?? refuse('passwordHash', 'is not a hash that hashPassword has made')
      );
    const name = passwordEnv === undefined ? 'passwordFile' : 'passwordEnv';
    const found = passwordEnv === undefined ? namedFile(from, folder) : { text: env[passwordEnv] ?? '' };
    if ('problem' in found) return refuse(name, found.problem);
    const password = found.text.replace(/\r?\n$/, '');
    if (password === '') return refuse(name, `names ${from}, which holds no password`);
    if (password.length < shortestPassword)
      return refuse(name, `names ${from}, which must hold at least ${shortestPassword} characters`);
    return passwordAccess(user, password);
  });
