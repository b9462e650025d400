import { hostname } from 'node:os';
import type { Call, Client } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import { accountNameWords, isAccountName } from '@call-attribution/core/settings';
import type {
  SyncOptions,
  SyncState,
  SyncSummary,
  UpsertSink,
} from '@call-attribution/node-stream';
import { syncInto } from '@call-attribution/node-stream';
import { withUnread } from '@call-attribution/node-stream/copies';
import { type Filter, toFilter } from '@call-attribution/query-dsl';
import { type AccountCredential, checkAccount } from './accounts/accounts.ts';
import type { Claim } from './accounts/claims.ts';
import { StoreError } from './database/errors.ts';
import type { Removals } from './removals.ts';
import type { Store } from './store.ts';

/** Settings of `mirrorSink`. */
export interface MirrorOptions extends Pick<SyncOptions, 'onError'> {
  /**
   * Who syncs, for the error of a sync that is overtaken. Default: the name of the machine and the
   * id of the process.
   */
  readonly holder?: string | undefined;
  /** Reads all calls again, whatever the store has. Default false. */
  readonly restart?: boolean | undefined;
  /** Called with each call that the store cannot keep, when `onError` does not end the sync. */
  readonly onRefused?: ((call: Call, error: unknown) => void) | undefined;
}

/** Who syncs, where nobody says it. */
const thisProcess = `process ${process.pid} on ${hostname()}`;

/**
 * A sink by which `syncInto` writes into an account of a store: page by page, each in one
 * transaction with the state of the sync after it.
 *
 * Of two syncs of one account only the one that started later goes on; the other one fails with
 * `claim_lost`. The account must exist.
 *
 * @example
 * await syncInto(client, mirrorSink(store, '101'), { filter: 'inc_gce:1' });
 */
export function mirrorSink(store: Store, account: string, options: MirrorOptions = {}): UpsertSink {
  const { holder = thisProcess, restart = false, onError = 'fail', onRefused } = options;
  checkAccount(account);
  let claim: Claim | undefined;
  let removals: Removals | undefined;

  const claimed = async () => {
    claim ??= await store.claim(account, holder);
    return claim;
  };

  return {
    async load() {
      claim = undefined;
      const { note } = await claimed();
      removals = await store.removals(account);
      return restart ? null : (note as SyncState | null);
    },
    leavesOut: (call) => removals?.isRemoved(call) ?? false,
    async commit({ calls, state, stateWithout }) {
      const own = await claimed();
      try {
        return await store.commitClaimed(own, { calls, note: state });
      } catch (error) {
        const refused = new Set(error instanceof StoreError ? error.refused : []);
        if (onError === 'fail' || refused.size === 0) throw error;
        for (const at of refused) {
          const call = calls[at];
          if (call !== undefined) onRefused?.(call, error);
        }
        const others = calls.filter((_, at) => !refused.has(at));
        const note = stateWithout(refused.size);
        const stored = await store.commitClaimed(own, { calls: others, note });
        return { ...stored, refused: refused.size };
      }
    },
  };
}

/** The part of core's client that `syncAccount` uses. */
export type AccountClient = Pick<Client, 'version' | 'fetchPage' | 'listCalls'>;

/** Settings of `syncAccount`, next to those of `syncInto`. */
export interface AccountSyncOptions extends SyncOptions, MirrorOptions {
  /** The ID of the account in the store. Default: the one that the API gives with its calls. */
  readonly account?: string | undefined;
  /**
   * The credentials of the account. They open the copy, too, until the API refuses them. Default:
   * none.
   */
  readonly keys?: readonly AccountCredential[] | undefined;
}

/** What a sync of an account did, and what it leaves. */
export interface AccountSyncSummary extends SyncSummary {
  /** The ID of the account in the store. */
  readonly account: string;
}

/**
 * Brings an account of a store up to date: adds it where it is not there, claims its sync, reads
 * what is due and commits it page by page. Calls through call extensions are read whatever the
 * filter says, since a service over the store answers for both versions of the API.
 *
 * Of two syncs of one account only the one that started later goes on; the other one fails with
 * `claim_lost`.
 *
 * @example
 * const summary = await syncAccount(client, store, { account: '101', signal });
 * if (summary.proof !== 'whole') console.error(describe(summary).lacks);
 */
export async function syncAccount(
  client: AccountClient,
  store: Store,
  options: AccountSyncOptions = {},
): Promise<AccountSyncSummary> {
  const { account: given, keys = [], holder, restart, onRefused, ...reading } = options;
  let account = given ?? null;
  try {
    account ??= await accountIn(client, reading.signal);
    const accounts = await store.accounts();
    if (!accounts.some(({ id }) => id === account))
      await store.putAccount({ id: account, name: account });
    // Who reads the copy while it is filled may use the same keys.
    await store.noteSyncKeys(account, keys, 'unknown');
    const sink = mirrorSink(store, account, {
      holder,
      restart,
      onRefused,
      onError: reading.onError,
    });
    const filter = toFilter(reading.filter ?? '', { version: client.version });
    const summary = await syncInto(client, sink, {
      ...reading,
      filter: client.version === 'v3' ? withExtensions(filter) : filter,
    });
    await store.noteSyncKeys(account, keys, 'accepted');
    return { account, ...summary };
  } catch (error) {
    if (CallsError.is(error, 'unauthorized')) await store.noteSyncKeys(account, keys, 'refused');
    throw error;
  }
}

/**
 * Notes that calls of a period are not in the store any more, whatever its syncs have proved: the
 * next sync reads them again. Resolves with false when there was no sync, so that there is nothing
 * to note.
 *
 * @example
 * await markUnread(store, '101', { from: '2026-10-01 00:00:00', to: '2026-11-01 00:00:00' });
 */
export async function markUnread(
  store: Store,
  account: string,
  period: { readonly from: string | null; readonly to: string | null },
): Promise<boolean> {
  const claim = await store.claim(account, thisProcess);
  if (claim.note === null) return false;
  await store.commitClaimed(claim, {
    calls: [],
    note: withUnread(claim.note as SyncState, period),
  });
  await store.noteLoss(account);
  return true;
}

/** The ID of the account whose calls the API gives. */
async function accountIn(client: AccountClient, signal: AbortSignal | undefined): Promise<string> {
  const { records } = await client.listCalls({ rows: 1, signal });

  // A few servers send it as a number.
  const id = String(records[0]?.acct_id ?? '');
  if (isAccountName(id)) return id;
  throw new StoreError('unknown_account', {
    message:
      id === ''
        ? 'The account has no calls yet, so its ID is unknown.'
        : `The ID that the server gives the account cannot be used: it is not ${accountNameWords}.`,
    hint: 'Name another one.',
  });
}

function withExtensions(filter: Filter): Filter {
  if (filter.clauses.some(({ kind }) => kind === 'flag')) return filter;
  return { clauses: [...filter.clauses, { kind: 'flag', field: 'inc_gce' }] };
}
