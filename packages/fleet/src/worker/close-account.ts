import { proved, readAgain } from '../lanes/account-entry.ts';
import { laneKey } from '../lanes/keys.ts';
import type { AccountValue, LaneValue } from '../lanes/values.ts';
import { ledgerOf } from '../proof/ledger.ts';
import { proveAccount } from '../proof/prove-account.ts';
import { serverTotal } from '../proof/server-total.ts';
import { whyAside, whyNoPlan, whyNotProved, whyTorn } from './close-words.ts';
import { continuePlan } from './continue-plan.ts';
import { giveAccount, giveAside } from './give-account.ts';
import { openAgain } from './open-again.ts';
import { nextPiece } from './sync-files.ts';
import type { AccountTurn, TurnContext } from './turn.ts';

/** How often parcels that differ are read again before their account is set aside. */
const mostRounds = 3;

/**
 * Closes an account whose lanes are at their end: the ledger has to cover the plan, and its sum has to be what the server counts and
 * what lies in the target. Parcels that differ are read again.
 */
export const closeAccount: AccountTurn = async (context, account) => {
  const { board, target, job, holder, signal } = context;
  const { id, rounds } = account;
  const plan = await target.planOf(id);
  if (plan === null) return giveAside(context, id, whyNoPlan);
  const ledger = await ledgerOf(plan, target.verdicts(id));
  if (ledger.isTorn) return giveAside(context, id, whyTorn);
  // One that another worker has committed after all is not missing.
  const aside = parcelsAside(context, id).filter(([index]) => ledger.verdicts[index] === null);
  if (aside.length > 0) return giveAside(context, id, whyAside(aside, plan.parcels.length));

  const client = await context.clientOf(account);
  const proof = await proveAccount(ledger, {
    total: serverTotal(client, { filter: job.filter, bounds: plan.bounds, signal }),
    count: ({ from, to }) => target.count(id, from, to ?? plan.to),
  });
  if (proof.isProved) {
    const verdict = { records: proof.records, total: proof.total, at: board.now() };
    const { sync } = job;
    const waits = sync !== null && target.sync(id, holder) === null;
    const finish = (mine: AccountValue): AccountValue => {
      const after = proved(mine, verdict, sync !== null);
      return waits ? { ...after, notBefore: nextPiece(mine, plan, sync.every) } : after;
    };
    return giveAccount(context, id, finish, { outcome: 'proved', code: null });
  }
  if (rounds >= mostRounds) return giveAside(context, id, whyNotProved(proof, ledger.missing, rounds));

  // No parcel is read while a sync writes, of whoever it is.
  if (job.sync !== null) await target.sync(id, holder)?.load();
  // An account that had no records when it was planned has no parcel that could be read again.
  const held = plan.parcels.length > 0 ? plan : await continuePlan(context, client, id, plan, plan.to);
  await openAgain(context, id, { ...ledger, plan: held }, proof.parcels);
  const parcels = held.parcels.length;
  const total = held.parcels.reduce((sum, parcel) => sum + parcel.total, 0);
  await giveAccount(context, id, (mine) => ({ ...readAgain(mine), parcels, total }), {
    outcome: 'reopened',
    code: null,
  });
};

function parcelsAside({ board, job }: TurnContext, id: string): LaneValue['aside'] {
  return Array.from({ length: job.lanes }, (_, k) => board.get(laneKey(id, k))?.value)
    .flatMap((lane) => (lane as LaneValue | undefined)?.aside ?? [])
    .sort(([a], [b]) => a - b);
}
