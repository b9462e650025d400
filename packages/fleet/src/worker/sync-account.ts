import { syncFiles } from './sync-files.ts';
import { syncStore } from './sync-store.ts';
import type { AccountTurn } from './turn.ts';

/**
 * Brings an account that was proved up to date. A store takes new and changed records one by one; files are read again by parcels, so
 * the account goes back to `reading` and is closed once more.
 */
export const syncAccount: AccountTurn = (context, account) => {
  const { sync } = context.job;
  const sink = context.target.sync(account.id, context.holder);
  // Only accounts of jobs with a sync get into the phase.
  if (sync === null) return Promise.resolve();
  return sink === null ? syncFiles(context, account, sync) : syncStore(context, account, sync, sink);
};
