import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Environment } from '@call-attribution/core/settings';
import { type Access, hashedAccess, passwordAccess } from './access.ts';
import type { FeedsProblem } from './problems.ts';

/** Throws the error of a file of feeds. */
export type Refuse = (problem: FeedsProblem) => never;

/** Where `readFeeds` finds what the file refers to. */
export interface FeedsContext {
  /** What errors call the file. */
  readonly source: string;
  /** Folder that paths in it start from. */
  readonly folder: string;
  /** Variables with passwords. */
  readonly env: Environment;
  /** Time zone of feeds that name none. */
  readonly timeZone?: string | null;
}

const shortestPassword = 12;

type AccessFields = Readonly<
  Partial<Record<'user' | 'passwordEnv' | 'passwordFile' | 'passwordHash', unknown>>
>;

/** Who may fetch a feed; null when the file says nothing about it. */
export async function accessOf(
  fields: AccessFields,
  feed: number,
  context: FeedsContext,
  refuse: Refuse,
): Promise<Access | null> {
  const { user, passwordEnv, passwordFile, passwordHash } = fields;
  const given = [passwordEnv, passwordFile, passwordHash].filter((value) => value !== undefined);
  if (given.length > 1) refuse({ code: 'many_passwords', feed });
  if (user === undefined && given.length === 0) return null;
  if (user === undefined) return refuse({ code: 'user_alone', feed, missing: 'user' });
  if (given.length === 0) return refuse({ code: 'user_alone', feed, missing: 'password' });
  if (typeof user !== 'string' || !/^[^:\p{Cc}]{1,100}$/u.test(user))
    return refuse({
      code: 'wrong_value',
      feed,
      name: 'user',
      expected: 'at most 100 characters without a colon',
    });
  if (typeof given[0] !== 'string')
    return refuse({ code: 'wrong_value', feed, name: 'passwordEnv', expected: 'a string' });
  if (passwordHash !== undefined)
    return hashedAccess(user, String(passwordHash)) ?? refuse({ code: 'bad_hash', feed });

  const from = String(passwordEnv ?? passwordFile);
  if (passwordEnv !== undefined && !/^CALLS_\w*PASSWORD$/.test(from))
    refuse({ code: 'bad_variable', feed, name: from });
  const password =
    passwordEnv !== undefined ? context.env[from] : await fileOf(from, context.folder, feed, refuse);
  const bare = password?.replace(/\r?\n$/, '') ?? '';
  if (bare === '') refuse({ code: 'password_unset', feed, from });
  if (bare.length < shortestPassword) refuse({ code: 'password_short', feed, from, least: shortestPassword });
  return passwordAccess(user, bare);
}

/** The content of a file that the file of feeds names. */
export async function fileOf(name: string, folder: string, feed: number, refuse: Refuse): Promise<string> {
  try {
    return await readFile(resolve(folder, name), 'utf8');
  } catch (error) {
    return refuse({
      code: 'file_unreadable',
      feed,
      file: name,
      reason: String((error as { code?: unknown }).code),
    });
  }
}
