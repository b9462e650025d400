import { randomBytes } from 'node:crypto';
import { nearest } from '@call-attribution/query-dsl/nearest';
import type { Account, Store } from '@call-attribution/store';
import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, write } from '../io.ts';

const actions = ['list', 'add', 'key', 'revoke', 'disable', 'enable'];

/** `calls store accounts`. New keys are printed once; the store keeps their hashes only. */
export async function accounts(store: Store, args: Args, io: Io): Promise<number> {
  const [, action] = args.words;
  switch (action) {
    case 'list':
      for (const account of await store.accounts())
        await print(io, { ...account, credentials: await credentialsOf(store, account.id) });
      return exitCodes.ok;
    case 'add': {
      const id = needed(args, 'account');
      await store.putAccount({ id, name: args.text('name') ?? id });
      return exitCodes.ok;
    }
    case 'key':
      await print(io, await newKeys(store, needed(args, 'account')));
      return exitCodes.ok;
    case 'revoke':
      if (await store.revokeCredential(needed(args, 'credential'))) return exitCodes.ok;
      throw new UsageError('there is no such credential', {
        hints: ['calls store accounts list shows the IDs'],
      });
    case 'disable':
    case 'enable': {
      const account = await accountOf(store, needed(args, 'account'));
      await store.putAccount({ ...account, disabled: action === 'disable' });
      return exitCodes.ok;
    }
    default: {
      const near = action === undefined ? undefined : nearest(action, actions);
      throw new UsageError(`calls store accounts needs one of ${actions.join(', ')}`, {
        hints: near ? [`did you mean ${near}?`] : [],
      });
    }
  }
}

async function credentialsOf(store: Store, account: string) {
  return (await store.credentials(account)).map(({ id, kind, revoked }) => ({ id, kind, revoked }));
}

async function newKeys(store: Store, account: string) {
  const { id } = await accountOf(store, account);
  const random = () => randomBytes(24).toString('base64url');
  const keys = { accessKey: random(), secretKey: random(), bearerToken: random() };
  await store.putCredential(id, { kind: 'keys', accessKey: keys.accessKey, secretKey: keys.secretKey });
  await store.putCredential(id, { kind: 'bearer', token: keys.bearerToken });
  return { id, ...keys };
}

/** The account with this id, or an error that says how to add it. */
export async function accountOf(store: Store, id: string): Promise<Account> {
  const account = (await store.accounts()).find((found) => found.id === id);
  if (account !== undefined) return account;
  throw new UsageError(`the store has no account ${id}`, {
    hints: [`add it first: calls store accounts add --account ${id}`],
  });
}

/** The value of an option that the task cannot do without. */
export function needed(args: Args, name: string): string {
  const value = args.text(name);
  if (value !== null) return value;
  throw new UsageError(`calls store ${args.words.join(' ')} needs --${name}`, {
    hints: ['calls store --help describes each task'],
  });
}

/** One result as a line of JSON. */
export function print(io: Io, value: object): Promise<void> {
  return write(io.stdout, `${JSON.stringify(value)}\n`);
}
