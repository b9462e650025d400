import { randomBytes } from 'node:crypto';
import { UsageError } from '../errors.ts';
import { accountOf, onStore, print } from './on-store.ts';

/** `calls store accounts list`: accounts and the IDs of their credentials. */
export const listAccounts = onStore(async (store, _args, io) => {
  for (const account of await store.accounts()) {
    const credentials = await store.credentials(account.id);
    await print(io, {
      ...account,
      credentials: credentials.map(({ id, kind, revoked }) => ({ id, kind, revoked })),
    });
  }
});

/** `calls store accounts add`: adds or renames an account. */
export const addAccount = onStore(
  (store, args) => {
    const id = args.need('account');
    return store.putAccount({ id, name: args.text('name') ?? id });
  },
  { create: true },
);

/** `calls store accounts key`: makes keys. They are printed once; the store keeps their hashes only. */
export const makeKeys = onStore(async (store, args, io) => {
  const { id } = await accountOf(store, args.need('account'));
  const random = () => randomBytes(24).toString('base64url');
  const keys = { accessKey: random(), secretKey: random(), bearerToken: random() };
  await store.putCredential(id, { kind: 'keys', accessKey: keys.accessKey, secretKey: keys.secretKey });
  await store.putCredential(id, { kind: 'bearer', token: keys.bearerToken });
  await print(io, { id, ...keys });
});

/** `calls store accounts revoke`: its keys are refused from now on. */
export const revokeKey = onStore(async (store, args) => {
  if (await store.revokeCredential(args.need('credential'))) return;
  throw new UsageError('there is no such credential', {
    hints: ['calls store accounts list shows the IDs'],
  });
});

/** `calls store accounts disable`: all keys of an account are refused. */
export const disableAccount = onStore(async (store, args) =>
  store.putAccount({ ...(await accountOf(store, args.need('account'))), disabled: true }),
);

/** `calls store accounts enable`: undoes that. */
export const enableAccount = onStore(async (store, args) =>
  store.putAccount({ ...(await accountOf(store, args.need('account'))), disabled: false }),
);
