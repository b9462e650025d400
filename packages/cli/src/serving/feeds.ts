import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isLoopback } from '@call-attribution/core/settings';
import { type Feed, readFeeds } from '@call-attribution/service';
import { askHidden, canAsk } from '../config/prompt.ts';
import { systemCode, UsageError } from '../errors.ts';
import type { Io } from '../io.ts';

/** The feeds of a file; none without one. `timeZone` is that of the settings, for feeds that name none. */
export async function readFeedFile(file: string | null, timeZone: string | null, io: Io): Promise<Feed[]> {
  if (file === null) return [];
  const path = resolve(io.cwd, file);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new UsageError(`--feeds: cannot read ${file} (${systemCode(cause)})`, { cause });
  }
  return readFeeds(text, { source: file, folder: dirname(path), env: io.env, timeZone });
}

/** A password that is typed, or the first line of stdin. */
export async function readPassword(io: Io): Promise<string> {
  if (canAsk(io)) return askHidden('Password of the feed (not shown)', io);
  let text = '';
  for await (const chunk of io.stdin) text += String(chunk);
  const [password = ''] = text.split(/\r?\n/);
  if (password.length >= 12) return password;
  throw new UsageError('the password on stdin must have at least 12 characters', {
    hints: ['it is not an option, so that it stays out of the shell history'],
  });
}

/** A feed of an account that is not there would be empty without anybody noticing. An empty store is filled later. */
export function refuseStrangeAccounts(
  feeds: readonly Feed[],
  accounts: readonly { readonly id: string }[],
): void {
  const strange = feeds.find(({ account }) => !accounts.some(({ id }) => id === account));
  if (strange === undefined || accounts.length === 0) return;
  throw new UsageError(
    `the feed ${strange.path} is of account ${strange.account}, which is not in the store`,
    {
      hints: [`it has ${accounts.map(({ id }) => id).join(', ')}`],
    },
  );
}

/** Names the address of each feed. `host` is what the service listens on. */
export function sayFeeds(
  feeds: readonly Feed[],
  { url, host }: { readonly url: string; readonly host: string },
  notify: (line: string) => void,
): void {
  for (const { path, format, account, days, access } of feeds) {
    const by = access === null ? 'no password' : `user ${access.user}`;
    notify(`feed ${url}${path}: ${format.title}, account ${account}, last ${days} days, ${by}`);
  }
  if (feeds.length === 0) return;
  notify(`how they are doing: ${url}/feeds`);
  if (url.startsWith('http:') && !isLoopback(host))
    notify(
      'note: over http others can read the passwords; use --tls-cert and --tls-key, or a proxy with TLS',
    );
}
