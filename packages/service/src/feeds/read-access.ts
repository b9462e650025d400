import { resolve } from 'node:path';
import { type Environment, readSmallFile } from '@call-attribution/core/settings';
import { type Access, hashedAccess, passwordAccess } from './access.ts';
import type { FeedFields } from './feeds-schema.ts';

/** Throws the error of a feed: what is wrong with the setting of a name. */
export type Refuse = (name: keyof FeedFields, what: string) => never;

const shortestPassword = 12;

/** Who may fetch a feed; null when the file says nothing about it. */
export async function accessOf(
  { user, passwordEnv, passwordFile, passwordHash }: FeedFields,
  { folder, env }: { readonly folder: string; readonly env: Environment },
  refuse: Refuse,
): Promise<Access | null> {
  if (user === undefined) return null;
  if (passwordHash !== undefined)
    return (
      hashedAccess(user, passwordHash) ?? refuse('passwordHash', 'is not a hash that hashPassword has made')
    );
  const name = passwordEnv === undefined ? 'passwordFile' : 'passwordEnv';
  const from = passwordEnv ?? passwordFile ?? '';
  const text =
    passwordEnv === undefined
      ? await fileOf(from, folder, (what) => refuse(name, what))
      : (env[passwordEnv] ?? '');
  const password = text.replace(/\r?\n$/, '');
  if (password === '') refuse(name, `names ${from}, which holds no password`);
  if (password.length < shortestPassword)
    refuse(name, `names ${from}, which must hold at least ${shortestPassword} characters`);
  return passwordAccess(user, password);
}

/** Most bytes of a file that the file of feeds names: a password, or rules of values. */
const fileBytes = 1024 * 1024;

/** The content of a file that the file of feeds names. */
export async function fileOf(name: string, folder: string, refuse: (what: string) => never): Promise<string> {
  try {
    return readSmallFile(resolve(folder, name), fileBytes).text;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    return refuse(`names ${name}, which cannot be read (${code})`);
  }
}
