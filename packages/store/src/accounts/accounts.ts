import { createHash, timingSafeEqual } from 'node:crypto';
import { ConfigurationError } from '@call-attribution/core/errors';
import { checkNames } from '@call-attribution/core/options';
import { accountNameWords, isAccountName } from '@call-attribution/core/settings';
import type { Driver, Row, Session } from '../database/driver.ts';
import { writeHeld } from './claims.ts';

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
  /** Two keys, or a bearer token. */
  readonly kind: AccountCredential['kind'];
  /** Was it revoked? */
  readonly revoked: boolean;
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

/** What the API said about keys: nothing yet, that it takes them, or that it does not. */
export type KeyVerdict = 'unknown' | 'accepted' | 'refused';

/** The account that was given: a program without types may have left it out. */
export function checkAccount(account: unknown): string {
  if (typeof account === 'string') return account;
  throw new ConfigurationError(
    'invalid_option',
    'The account must be its ID, such as "101". store.accounts() lists those of the store.',
  );
}

/** The accounts of a store, with their credentials and SMS numbers. */
export interface StoreAccounts {
  /** Adds an account, or changes its name. Without `disabled` that state does not change. */
  putAccount(account: { id: string; name: string; disabled?: boolean }): Promise<void>;
  /** All accounts, ordered by id. */
  accounts(): Promise<Account[]>;
  /**
   * Adds a credential to an account. The store keeps its hash only. One that was revoked stays
   * revoked.
   */
  putCredential(account: string, credential: AccountCredential): Promise<void>;
  /**
   * Notes what the API says about the keys that a sync reads an account with. They open the copy as
   * well; once the API accepts them, those of earlier syncs no longer do, and refused ones do not
   * either. What `putCredential` has added stays. Of refused keys the account need not be known.
   */
  noteSyncKeys(
    account: string | null,
    keys: readonly AccountCredential[],
    verdict: KeyVerdict,
  ): Promise<void>;
  /** The credentials of an account. */
  credentials(account: string): Promise<CredentialInfo[]>;
  /** Revokes a credential by the id from `credentials`. Returns false when there is none. */
  revokeCredential(id: string): Promise<boolean>;
  /** The account that a credential belongs to, or null. */
  findAccount(credential: AccountCredential): Promise<Account | null>;
  /** The SMS numbers of an account, ordered by number. */
  smsNumbers(account: string): Promise<SmsEntry[]>;
  /** Replaces the SMS numbers of an account. */
  putSmsNumbers(account: string, numbers: readonly SmsEntry[]): Promise<void>;
}

// Keys are long and random, so they cannot be guessed from a plain hash.
const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const idOf = (c: AccountCredential): string =>
  hash(c.kind === 'keys' ? `keys:${c.accessKey}` : `bearer:${c.token}`);

const secretHash = (c: AccountCredential): string | null =>
  c.kind === 'keys' ? hash(c.secretKey) : null;

/** Adds a credential; `change` is what happens to one that is there. */
async function insert(
  session: Session,
  account: string,
  credential: AccountCredential,
  synced: 0 | 1,
  change: string,
): Promise<void> {
  checkNames(credential, ['kind', 'accessKey', 'secretKey', 'token'], 'credential');
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
       ON CONFLICT (id) DO ${change}`,
    [id, account, credential.kind, secretHash(credential), synced],
  );
}

/** The accounts in a database. */
export const accountsIn = (driver: Driver): StoreAccounts => ({
  async putAccount({ id, name, disabled }) {
    if (!isAccountName(id))
      throw new ConfigurationError('invalid_option', `An account id is ${accountNameWords}.`);
    const state = disabled === undefined ? '' : ', disabled = excluded.disabled';
    await driver.write((session) =>
      session.run(
        `INSERT INTO accounts (account, name, disabled) VALUES ($1, $2, $3)
           ON CONFLICT (account) DO UPDATE SET name = excluded.name${state}`,
        [id, name, Number(disabled === true)],
      ),
    );
  },
  async accounts() {
    const rows = await driver.all('SELECT account, name, disabled FROM accounts ORDER BY account');
    return rows.map(accountOf);
  },

  putCredential: (account, credential) =>
    driver.write((session) =>
      insert(
        session,
        account,
        credential,
        0,
        'UPDATE SET secret_hash = excluded.secret_hash, synced = 0',
      ),
    ),
  async noteSyncKeys(account, keys, verdict) {
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
      const change =
        verdict === 'accepted' ? 'UPDATE SET secret_hash = excluded.secret_hash' : 'NOTHING';
      for (const key of keys) await insert(session, account, key, 1, change);
      if (verdict === 'unknown') return;
      const known = new Set(keys.map(idOf));
      const all = await session.all(
        'SELECT id FROM credentials WHERE account = $1 AND synced = 1 AND revoked = 0',
        [account],
      );
      for (const { id } of all)
        if (!known.has(String(id)))
          await session.run('DELETE FROM credentials WHERE id = $1', [String(id)]);
    });
  },
  async credentials(account) {
    const rows = await driver.all(
      'SELECT id, kind, revoked FROM credentials WHERE account = $1 ORDER BY kind, id',
      [account],
    );
    return rows.map((row) => ({
      id: String(row.id).slice(0, 12),
      kind: row.kind as AccountCredential['kind'],
      revoked: Number(row.revoked) === 1,
    }));
  },
  async revokeCredential(id) {
    if (!/^[0-9a-f]{12,64}$/.test(id)) return false;
    const revoked = await driver.write((session) =>
      session.run('UPDATE credentials SET revoked = 1 WHERE substr(id, 1, $2) = $1', [
        id,
        id.length,
      ]),
    );
    return revoked > 0;
  },
  // It is looked up by hash, so timing reveals nothing about a secret.
  async findAccount(credential) {
    const [row] = await driver.all(
      `SELECT c.secret_hash AS secret_hash, c.revoked AS revoked, a.account AS account, a.name AS name, a.disabled AS disabled
         FROM credentials c JOIN accounts a ON a.account = c.account WHERE c.id = $1`,
      [idOf(credential)],
    );
    const expected = row?.secret_hash ?? hash('');
    const given = secretHash(credential) ?? hash('');
    const same = timingSafeEqual(Buffer.from(given, 'hex'), Buffer.from(String(expected), 'hex'));
    return row === undefined || !same || Number(row.revoked) === 1 ? null : accountOf(row);
  },

  async smsNumbers(account) {
    const rows = await driver.all(
      'SELECT number, sms_enabled, url FROM sms_numbers WHERE account = $1 ORDER BY number',
      [account],
    );
    return rows.map((row) => ({
      number: String(row.number),
      smsEnabled: String(row.sms_enabled),
      url: String(row.url),
    }));
  },
  putSmsNumbers: (account, numbers) =>
    writeHeld(driver, account, async (session) => {
      await session.run('DELETE FROM sms_numbers WHERE account = $1', [account]);
      for (const { number, smsEnabled, url } of numbers)
        await session.run(
          'INSERT INTO sms_numbers (account, number, sms_enabled, url) VALUES ($1, $2, $3, $4)',
          [account, number, smsEnabled, url],
        );
    }),
});

const accountOf = ({ account, name, disabled }: Row): Account => ({
  id: String(account),
  name: String(name),
  disabled: Number(disabled) === 1,
});
