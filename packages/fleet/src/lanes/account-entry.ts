import type { AccountSync, AccountValue, Aside } from './values.ts';

// What happens to an account. Each function takes a value of the board and returns the next one.

/** All of its parcels are read, and a worker takes it to compare their sum with the server. */
export const takeToClose = (account: AccountValue, by: string): AccountValue => ({
  ...account,
  phase: 'closing',
  by,
});

/** A worker takes it to sync it. */
export const takeToSync = (account: AccountValue, by: string): AccountValue => ({ ...account, by });

/** It is given back as it is. */
export const giveAccountBack = (account: AccountValue): AccountValue => ({ ...account, by: null });

/** Its records are as many as the server counts: it is final, or synced from now on. */
export const proved = (
  account: AccountValue,
  verdict: NonNullable<AccountValue['verdict']>,
  isSynced: boolean,
): AccountValue => ({
  ...wellAgain(account),
  phase: isSynced ? 'syncing' : 'final',
  notBefore: 0,
  rounds: 0,
  verdict,
});

/** The sum of its parcels was not the total of the server: parcels that differ are read again. */
export const readAgain = (account: AccountValue): AccountValue => ({
  ...wellAgain(account),
  phase: 'reading',
  notBefore: 0,
  rounds: account.rounds + 1,
});

/** Its plan was continued, or parcels that ended lately are to be read again: it is read, and closed when that is done. */
export const continued = (account: AccountValue, parcels: number, total: number): AccountValue => ({
  ...wellAgain(account),
  phase: 'reading',
  notBefore: 0,
  rounds: 0,
  parcels,
  total,
});

/** It was synced; the next sync is due at the board time `notBefore`. */
export const synced = (
  account: AccountValue,
  counts: Pick<AccountSync, 'new' | 'changed' | 'pending'>,
  at: number,
  notBefore: number,
): AccountValue => ({
  ...wellAgain(account),
  notBefore,
  sync: {
    runs: (account.sync?.runs ?? 0) + 1,
    new: (account.sync?.new ?? 0) + counts.new,
    changed: (account.sync?.changed ?? 0) + counts.changed,
    pending: counts.pending,
    at,
  },
});

/** Closing or syncing failed and is tried at the board time `notBefore`. */
export const accountLater = (account: AccountValue, why: Aside, notBefore: number): AccountValue => ({
  ...account,
  by: null,
  notBefore,
  tries: account.tries + 1,
  aside: why,
});

/** It is taken out of the work. */
export const setAccountAside = (account: AccountValue, why: Aside): AccountValue => ({
  ...account,
  phase: 'aside',
  by: null,
  notBefore: 0,
  aside: why,
});

/** What it was set aside for is put right: it is read to its end and closed. */
export const retried = (account: AccountValue): AccountValue =>
  account.phase === 'aside' ? { ...wellAgain(account), phase: 'reading', notBefore: 0, rounds: 0 } : account;

const wellAgain = (account: AccountValue): AccountValue => ({ ...account, by: null, tries: 0, aside: null });
