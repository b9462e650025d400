import { randomBytes } from 'node:crypto';
import type { Store } from '@call-attribution/store';
import type { Args, Handler } from '../args.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { accountOf, onStore, print } from './on-store.ts';

/** `calls store accounts`: lists and adds accounts of a store, makes and revokes their keys, disables and enables them. */
export const storeAccounts: Handler = (args, io) => {
  const action = args.words[0] ?? 'list';
  return onStore((store, args, io) => act(action, store, args, io), { create: action === 'add' })(args, io);
};

async function act(action: string, store: Store, args: Args, io: Io): Promise<void> {
  switch (action) {
    case 'list':
      for (const account of await store.accounts()) {
        const credentials = await store.credentials(account.id);
        const shown = credentials.map(({ id, kind, revoked }) => ({ id, kind, revoked }));
        await print(io, { ...account, credentials: shown });
      }
      return;
    case 'add': {
      const id = typed('account', action, args);
      return store.putAccount({ id, name: args.text('name') ?? id });
    }
    case 'revoke':
      if (await store.revokeCredential(typed('credential', action, args))) return;
      throw new UsageError('there is no such credential', {
        hints: ['calls store accounts list shows the IDs'],
      });
    case 'key': {
      const { id } = await accountOf(store, typed('account', action, args));
      const random = () => randomBytes(24).toString('base64url');
      const keys = { accessKey: random(), secretKey: random(), bearerToken: random() };
      await store.putCredential(id, { kind: 'keys', accessKey: keys.accessKey, secretKey: keys.secretKey });
      await store.putCredential(id, { kind: 'bearer', token: keys.bearerToken });
      // They are printed once; the store keeps their hashes only.
      return print(io, { id, ...keys });
    }
    default: {
      const account = await accountOf(store, typed('account', action, args));
      return store.putAccount({ ...account, disabled: action === 'disable' });
    }
  }
}

function typed(option: string, action: string, args: Args): string {
  const value = args.text(option);
  if (value !== null) return value;
  throw new UsageError(`calls store accounts ${action} needs --${option} ID`, {
    hints: ['calls store accounts list shows the IDs'],
  });
}
