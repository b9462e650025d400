import { randomBytes } from 'node:crypto';
import type { Account, Store } from '@call-attribution/store';
import { SettingsError } from '../config/read-settings.ts';
import type { CommandIo } from './io.ts';

/** Flags of the `accounts` command. */
export interface AccountFlags {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly key: string | undefined;
}

/** `accounts list | add | key | revoke | disable | enable`. New keys are printed once and kept as hashes only. */
export async function accounts(
  store: Store,
  action: string | undefined,
  flags: AccountFlags,
  io: CommandIo,
): Promise<number> {
  const say = (value: object) => io.stdout.write(`${JSON.stringify(value)}\n`);
  switch (action) {
    case 'list':
      for (const account of await store.accounts())
        say({ ...account, credentials: await credentialsOf(store, account.id) });
      return 0;
    case 'add': {
      const id = needed(flags.id, '--id');
      await store.putAccount({ id, name: flags.name ?? id });
      return 0;
    }
    case 'key':
      say(await newKeys(store, needed(flags.id, '--id')));
      return 0;
    case 'revoke': {
      if (await store.revokeCredential(needed(flags.key, '--key'))) return 0;
      throw new SettingsError('There is no such credential. See: accounts list.');
    }
    case 'disable':
    case 'enable': {
      const id = needed(flags.id, '--id');
      const account = await accountOf(store, id);
      await store.putAccount({ ...account, disabled: action === 'disable' });
      return 0;
    }
    default:
      throw new SettingsError('Which of accounts list, add, key, revoke, disable, enable?');
  }
}

async function credentialsOf(store: Store, account: string) {
  return (await store.credentials(account)).map(({ id, kind, revoked }) => ({ id, kind, revoked }));
}

async function newKeys(store: Store, id: string) {
  await accountOf(store, id);
  const random = () => randomBytes(24).toString('base64url');
  const keys = { accessKey: random(), secretKey: random(), bearerToken: random() };
  await store.putCredential(id, { kind: 'keys', accessKey: keys.accessKey, secretKey: keys.secretKey });
  await store.putCredential(id, { kind: 'bearer', token: keys.bearerToken });
  return { id, ...keys };
}

/** The account of an id, or an error that says how to add one. */
export async function accountOf(store: Store, id: string): Promise<Account> {
  const account = (await store.accounts()).find((found) => found.id === id);
  if (account !== undefined) return account;
  throw new SettingsError(`The store has no account ${id}. Add it first: accounts add --id ${id}.`);
}

/** A flag that the command cannot do without. */
export function needed(value: string | undefined, flag: string): string {
  if (value !== undefined) return value;
  throw new SettingsError(`This command needs ${flag}. See --help.`);
}
