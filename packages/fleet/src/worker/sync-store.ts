import { CallsError } from '@call-attribution/core/errors';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import {
  type SyncSummary,
  sliceFilter,
  syncInto,
  syncStateFrom,
  type UpsertSink,
} from '@call-attribution/node-stream';
import type { PinnedJob } from '../job/job.ts';
import { giveAccountBack, synced } from '../lanes/account-entry.ts';
import type { AccountValue } from '../lanes/values.ts';
import type { AccountPlan } from '../parcels/parcel.ts';
import { whyNoPlan } from './close-words.ts';
import { giveAccount, giveAside } from './give-account.ts';
import type { TurnContext } from './turn.ts';

/**
 * Syncs an account into a store. The first sync looks back so far that it finds whatever came late or changed while the backfill
 * ran. A sync that was fenced off by a later one, or by a retry, is nobody's fault.
 */
export async function syncStore(
  context: TurnContext,
  account: AccountValue,
  sync: NonNullable<PinnedJob['sync']>,
  sink: UpsertSink,
): Promise<void> {
  const { board, target } = context;
  const { id } = account;
  const plan = await target.planOf(id);
  if (plan === null) return giveAside(context, id, whyNoPlan);
  let summary: SyncSummary;
  try {
    summary = await bringUpToDate(context, account, plan, sync, sink);
  } catch (error) {
    if (!CallsError.is(error, 'claim_lost')) throw error;
    const back = (mine: AccountValue) => ({ ...giveAccountBack(mine), notBefore: board.now() + sync.every });
    return giveAccount(context, id, back, { outcome: 'later', code: 'claim_lost' });
  }
  const at = board.now();
  const { new: added, changed, pending } = summary;
  await giveAccount(context, id, (mine) => synced(mine, summary, at, at + sync.every), {
    outcome: 'synced',
    code: null,
    sync: { new: added, changed, pending },
  });
}

async function bringUpToDate(
  context: TurnContext,
  account: AccountValue,
  { to, bounds }: AccountPlan,
  { lookback, settle }: NonNullable<PinnedJob['sync']>,
  sink: UpsertSink,
): Promise<SyncSummary> {
  const { job, signal, clock } = context;
  const client = await context.clientOf(account);
  const { version } = client;
  const filter = sliceFilter(job.filter, { from: job.from, to: null }, bounds, version);
  const since = formatNaive(parseNaive(to) - settle);
  const isFirst = account.sync === null;
  const beginning: UpsertSink = {
    ...(sink.compares === undefined ? {} : { compares: sink.compares }),
    async load() {
      const held = await sink.load();
      // Whatever a `calls sync` of the same account has left; a first sync that was interrupted goes on.
      return held === null || isFirst ? syncStateFrom({ filter, version, since, lookback, held }) : held;
    },
    leavesOut: (call) => sink.leavesOut?.(call) ?? false,
    commit: (batch) => sink.commit(batch),
  };
  const onError = job.skip ? 'skip' : 'fail';
  return syncInto(client, beginning, { filter, lookback, settle, signal, prefetch, clock, onError });
}

/** Pages that a slot may hold, as for a parcel. */
const prefetch = { pages: 4, bytes: 16 * 1024 * 1024 };
