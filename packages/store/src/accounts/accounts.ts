import { createHash, timingSafeEqual } from 'node:crypto';
import { ConfigurationError } from '@call-attribution/core/errors';
import { accountNameWords, isAccountName } from '@call-attribution/core/settings';
import type { Driver, Session } from '../database/driver.ts';
import { holdAccount } from './claims.ts';

/** An account in a store. */
export interface Account {
  /** 1 to 64 letters, digits, dots, dashes or underscores. */
  readonly id: string;
  /** Name to show. */
  readonly name: string;
  /** Requests for a disabled account are refused with 403. */
  readonly disabled: boolean;
}

/** The credentials of a request: two keys, or a bearer token. */
export type AccountCredential =
  | { readonly kind: 'keys'; readonly accessKey: string; readonly secretKey: string }
  | { readonly kind: 'bearer'; readonly token: string };

/** A credential without its secrets, of which the store has hashes only. */
export interface CredentialInfo {
  /** The first digits of its hash, by which it can be revoked. */
  readonly id: string;
  /** Id of the account that it belongs to. */
  readonly account: string;
  /** Two keys, or a bearer token. */
  readonly kind: AccountCredential['kind'];
  /** Was it revoked? */
  readonly revoked: boolean;
}

// Keys are long and random, so they cannot be guessed from a plain hash.
const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const idOf = (c: AccountCredential): string =>
  hash(c.kind === 'keys' ? `keys:${c.accessKey}` : `bearer:${c.token}`);

/** Adds an account, or renames, disables or enables one. Without `disabled` that state does not change. */
export async function putAccount(
  driver: Driver,
  account: Omit<Account, 'disabled'> & { disabled?: boolean },
): Promise<void> {
  if (!isAccountName(account.id)) {
    throw new ConfigurationError('invalid_option', `An account id is ${accountNameWords}.`);
  }
  const values = [account.id, account.name, account.disabled === true ? 1 : 0];
  await driver.write((session) =>
    session.run(
      `INSERT INTO accounts (account, name, disabled) VALUES ($1, $2, $3)
         ON CONFLICT (account) DO UPDATE SET name = excluded.name${account.disabled === undefined ? '' : ', disabled = excluded.disabled'}`,
      values,
    ),
  );
}

/** All accounts by id. */
export async function listAccounts(driver: Driver): Promise<Account[]> {
  const rows = await driver.all('SELECT account, name, disabled FROM accounts ORDER BY account');
  return rows.map((row) => ({
    id: String(row.account),
    name: String(row.name),
    disabled: Number(row.disabled) === 1,
  }));
}

/** Adds a credential to an account. One that was revoked stays revoked. The secret itself is not kept. */
export async function putCredential(
  driver: Driver,
  account: string,
  credential: AccountCredential,
): Promise<void> {
  await driver.write((session) =>
    insert(session, account, credential, 0, 'secret_hash = excluded.secret_hash, synced = 0'),
  );
}

/** What the API said about keys: nothing yet, that it takes them, or that it does not. */
export type KeyVerdict = 'unknown' | 'accepted' | 'refused';

/**
 * Notes the keys that a sync reads with, so that whoever reads the copy can use them. Once the API has accepted them, those of
 * earlier syncs of the account no longer open it, and neither do keys that it has refused. Credentials that somebody has added, or
 * revoked, stay as they are.
 */
export async function noteSyncKeys(
  driver: Driver,
  account: string | null,
  keys: readonly AccountCredential[],
  verdict: KeyVerdict,
): Promise<void> {
  await driver.write(async (session) => {
    if (verdict === 'refused') {
      for (const key of keys)
        await session.run(
          `DELETE FROM credentials WHERE id = $1 AND synced = 1 AND revoked = 0 AND coalesce(secret_hash, '') = $2`,
          [idOf(key), secretHash(key) ?? ''],
        );
      return;
    }
    if (account === null) return;
    const change = verdict === 'accepted' ? 'secret_hash = excluded.secret_hash' : null;
    for (const key of keys) await insert(session, account, key, 1, change);
    if (verdict === 'unknown') return;
    const known = new Set(keys.map(idOf));
    const all = await session.all(
      'SELECT id FROM credentials WHERE account = $1 AND synced = 1 AND revoked = 0',
      [account],
    );
    for (const { id } of all)
      if (!known.has(String(id))) await session.run('DELETE FROM credentials WHERE id = $1', [String(id)]);
  });
}

const secretHash = (c: AccountCredential): string | null => (c.kind === 'keys' ? hash(c.secretKey) : null);

/** Adds a credential; `change` is what happens to one that is there. */
async function insert(
  session: Session,
  account: string,
  credential: AccountCredential,
  synced: 0 | 1,
  change: string | null,
): Promise<void> {
  const id = idOf(credential);
  const [owner] = await session.all('SELECT account FROM credentials WHERE id = $1', [id]);
  if (owner !== undefined && owner.account !== account) {
    throw new ConfigurationError(
      'invalid_option',
      `This credential already belongs to another account. Use a different one for account ${account}.`,
    );
  }
  await session.run(
    `INSERT INTO credentials (id, account, kind, secret_hash, revoked, synced) VALUES ($1, $2, $3, $4, 0, $5)
       ON CONFLICT (id) DO ${change === null ? 'NOTHING' : `UPDATE SET ${change}`}`,
    [id, account, credential.kind, secretHash(credential), synced],
  );
}

/** The credentials of one account or of all. */
export async function listCredentials(driver: Driver, account?: string): Promise<CredentialInfo[]> {
  const rows = await driver.all(
    'SELECT id, account, kind, revoked FROM credentials ORDER BY account, kind, id',
  );
  return rows
    .filter((row) => account === undefined || row.account === account)
    .map((row) => ({
      id: String(row.id).slice(0, 12),
      account: String(row.account),
      kind: row.kind as AccountCredential['kind'],
      revoked: Number(row.revoked) === 1,
    }));
}

/** Revokes a credential by the id from {@link listCredentials}. Returns false when there is none. */
export async function revokeCredential(driver: Driver, id: string): Promise<boolean> {
  if (!/^[0-9a-f]{12,64}$/.test(id)) return false;
  const revoked = await driver.write((session) =>
    session.run('UPDATE credentials SET revoked = 1 WHERE substr(id, 1, $2) = $1', [id, id.length]),
  );
  return revoked > 0;
}

/** The account that a credential belongs to, or null. It is looked up by hash, so timing reveals nothing about a secret. */
export async function findAccount(driver: Driver, credential: AccountCredential): Promise<Account | null> {
  const [row] = await driver.all(
    `SELECT c.account AS account, c.secret_hash AS secret_hash, c.revoked AS revoked, a.name AS name, a.disabled AS disabled
       FROM credentials c JOIN accounts a ON a.account = c.account WHERE c.id = $1`,
    [idOf(credential)],
  );
  const expected = typeof row?.secret_hash === 'string' ? row.secret_hash : hash('');
  const given = credential.kind === 'keys' ? hash(credential.secretKey) : hash('');
  const same = timingSafeEqual(Buffer.from(given, 'hex'), Buffer.from(expected, 'hex'));
  if (row === undefined || !same || Number(row.revoked) === 1) return null;
  return { id: String(row.account), name: String(row.name), disabled: Number(row.disabled) === 1 };
}

/** An entry of the SMS number listing. */
export interface SmsEntry {
  /** The number, digits only. */
  readonly number: string;
  /** The flag as it is sent, `1` or `0`. */
  readonly smsEnabled: string;
  /** URL of the listener. */
  readonly url: string;
}

/** The SMS numbers of an account, ordered by number. */
export async function listSms(driver: Driver, account: string): Promise<SmsEntry[]> {
  const rows = await driver.all(
    'SELECT number, sms_enabled, url FROM sms_numbers WHERE account = $1 ORDER BY number',
    [account],
  );
  return rows.map((row) => ({
    number: String(row.number),
    smsEnabled: String(row.sms_enabled),
    url: String(row.url),
  }));
}

/** Replaces the SMS numbers of an account. */
export async function replaceSms(
  driver: Driver,
  account: string,
  numbers: readonly SmsEntry[],
): Promise<void> {
  await driver.write(async (session) => {
    await holdAccount(driver, session, account);
    await session.run('DELETE FROM sms_numbers WHERE account = $1', [account]);
    for (const { number, smsEnabled, url } of numbers)
      await session.run(
        'INSERT INTO sms_numbers (account, number, sms_enabled, url) VALUES ($1, $2, $3, $4)',
        [account, number, smsEnabled, url],
      );
  });
}
