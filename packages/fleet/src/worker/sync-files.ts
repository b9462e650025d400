import { formatNaive, hour, parseNaive } from '@call-attribution/core/time';
import type { PinnedJob } from '../job/job.ts';
import { continued, synced } from '../lanes/account-entry.ts';
import type { AccountValue } from '../lanes/values.ts';
import type { AccountPlan } from '../parcels/parcel.ts';
import { ledgerOf } from '../proof/ledger.ts';
import { whyNoPlan } from './close-words.ts';
import { continuePlan } from './continue-plan.ts';
import { giveAccount, giveAside } from './give-account.ts';
import { openAgain } from './open-again.ts';
import type { TurnContext } from './turn.ts';

/** A naive time so long ago lies in the past in all time zones. */
const ahead = 14 * hour;

/**
 * Syncs an account into files: parcels whose records may have changed since the last round are read again, and the plan is
 * continued up to 14 hours ago. Parcels that are read with the same bytes leave their file as it is.
 */
export async function syncFiles(
  context: TurnContext,
  account: AccountValue,
  { every, settle }: NonNullable<PinnedJob['sync']>,
): Promise<void> {
  const { board, target, clock } = context;
  const { id } = account;
  const at = board.now();
  const before = await target.planOf(id);
  if (before === null) return giveAside(context, id, whyNoPlan);
  const ledger = await ledgerOf(before, target.verdicts(id));
  const client = await context.clientOf(account);

  // Opened before the plan is continued: whoever is stopped in between begins the round again from the same end.
  const since = formatNaive(parseNaive(lastRead(before, account)) - settle);
  const again = before.parcels.filter(({ to }) => to > since).map(({ index }) => index);
  await openAgain(context, id, ledger, again);
  const plan = await continuePlan(context, client, id, before, formatNaive(clock.now() - ahead));
  if (plan !== before) await openAgain(context, id, { ...ledger, plan }, []);

  const planned = totalOf(plan) - totalOf(before);
  const counts = { new: planned, changed: 0, pending: 0 };
  const isIdle = again.length === 0 && plan.parcels.length === before.parcels.length;
  const change = (mine: AccountValue): AccountValue => {
    const after = synced(mine, counts, at, at + every);
    return isIdle ? after : continued(after, plan.parcels.length, totalOf(plan));
  };
  await giveAccount(context, id, change, { outcome: 'synced', code: null, sync: counts });
}

/**
 * When the next piece is due: a round after the last one. After the backfill that is once a whole piece lies behind the end of the
 * plan.
 */
export const nextPiece = (account: AccountValue, plan: AccountPlan, every: number): number =>
  (account.sync?.at ?? parseNaive(plan.to) + ahead) + every;

/** All records from before this time that could change since were read after it, or when the last round began. */
function lastRead({ to }: AccountPlan, { sync }: AccountValue): string {
  const round = sync === null ? '' : formatNaive(sync.at - ahead);
  return round > to ? round : to;
}

const totalOf = ({ parcels }: AccountPlan): number => parcels.reduce((sum, { total }) => sum + total, 0);
