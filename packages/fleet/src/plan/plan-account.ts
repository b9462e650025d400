import type { Board, Json } from '../board/board.ts';
import { type accountClients, referenceOf } from '../job/account-client.ts';
import type { JobAccount, PinnedJob } from '../job/job.ts';
import { continued, setAccountAside } from '../lanes/account-entry.ts';
import { accountKey, laneKey } from '../lanes/keys.ts';
import { newLane } from '../lanes/lane.ts';
import type { AccountValue, Aside, LaneValue } from '../lanes/values.ts';
import type { AccountPlan } from '../parcels/parcel.ts';
import type { Target } from '../target/target.ts';
import { changeEntry } from '../worker/change-entry.ts';
import { makePlan, recordsOf } from './account-plan.ts';

/** What the accounts of a job are planned with. */
export interface PlanContext {
  readonly board: Board;
  readonly target: Target;
  readonly job: PinnedJob;
  /** Runs requests for an account. */
  readonly reach: ReturnType<typeof accountClients>;
  readonly signal: AbortSignal | undefined;
}

/** What an account has, and the requests it took to find out. */
export interface PlannedAccount {
  readonly parcels: number;
  readonly records: number;
  readonly requests: number;
  /** The board had all of it before. */
  readonly isKnown: boolean;
}

/**
 * Plans an account, unless the target has its plan, and puts it on the board, unless it is there. Whatever was there before stays,
 * so that it can be run again, and by two at once. Throws when the account cannot be planned.
 */
export async function planAccount(context: PlanContext, account: JobAccount): Promise<PlannedAccount> {
  const { board, target, job } = context;
  const held = valueOn(board, account.id);
  const isPlanned = held !== undefined && !(held.phase === 'aside' && held.parcels === 0);
  const wasOnBoard = isPlanned && hasLanes(context, account.id);
  if (wasOnBoard && (await target.planOf(account.id)) !== null) {
    await renew(context, account);
    return { parcels: held.parcels, records: held.total, requests: 0, isKnown: true };
  }
  let requests = 0;
  const plan = await target.plan(account, async () => {
    const reached = {
      ...entryOf(account),
      requestsPerMinute: account.requestsPerMinute ?? job.requestsPerMinute,
    };
    const made = await context.reach(reached, (client) => makePlan(client, job, context.signal));
    requests = made.requests;
    return made.plan;
  });
  await putOnBoard(context, account, plan);
  // The target has lost what was there: nothing that the board says of the account is true any more.
  if (wasOnBoard) await beginAgain(context, account.id, plan);
  return { parcels: plan.parcels.length, records: recordsOf(plan), requests, isKnown: false };
}

/** Puts an account that cannot be planned on the board, so that people see it. One that is there stays as it is. */
export async function putAside(context: PlanContext, account: JobAccount, why: Aside): Promise<void> {
  const { board } = context;
  const key = accountKey(account.id);
  const written = await board.write(key, json(setAccountAside(entryOf(account), why)), 0);
  if (written !== null) return;
  await renew(context, account);
  // The reason may be another one now.
  await changeEntry<AccountValue>(board, key, (value) =>
    value.phase === 'aside' && !hasLanes(context, account.id) ? setAccountAside(value, why) : null,
  );
}

async function putOnBoard(
  { board, job }: PlanContext,
  account: JobAccount,
  plan: AccountPlan,
): Promise<void> {
  const parcels = plan.parcels.length;
  // The lanes first: whoever sees the account sees all of it.
  for (let k = 0; k < job.lanes; k += 1)
    if (board.get(laneKey(account.id, k)) === undefined)
      await board.write(laneKey(account.id, k), json(newLane(k, parcels)), 0);
  const total = recordsOf(plan);
  const key = accountKey(account.id);
  const written = await board.write(key, json({ ...entryOf(account), parcels, total }), 0);
  if (written !== null) return;
  // It was set aside before it could be planned.
  await changeEntry<AccountValue>(board, key, (value) =>
    value.phase === 'aside' && value.parcels === 0
      ? { ...continued(value, parcels, total), ...settingsOf(account) }
      : null,
  );
}

async function beginAgain({ board, job }: PlanContext, id: string, plan: AccountPlan): Promise<void> {
  const parcels = plan.parcels.length;
  for (let k = 0; k < job.lanes; k += 1)
    await changeEntry<LaneValue>(board, laneKey(id, k), () => newLane(k, parcels));
  await changeEntry<AccountValue>(board, accountKey(id), (value) => ({
    ...continued(value, parcels, recordsOf(plan)),
    verdict: null,
    sync: null,
  }));
}

/** The name, credential and limit of an account may change from plan to plan. */
async function renew({ board }: PlanContext, account: JobAccount): Promise<void> {
  const settings = settingsOf(account);
  await changeEntry<AccountValue>(board, accountKey(account.id), (value) =>
    Object.entries(settings).every(([name, setting]) => value[name as keyof typeof settings] === setting)
      ? null
      : { ...value, ...settings },
  );
}

const hasLanes = ({ board, job }: PlanContext, id: string): boolean =>
  Array.from({ length: job.lanes }, (_, k) => board.get(laneKey(id, k))).every((lane) => lane !== undefined);

const valueOn = (board: Board, id: string): AccountValue | undefined =>
  board.get(accountKey(id))?.value as unknown as AccountValue | undefined;

const settingsOf = (account: JobAccount) => ({
  name: account.name ?? null,
  credential: referenceOf(account),
  requestsPerMinute: account.requestsPerMinute ?? null,
});

/** An account of which nothing was read yet. */
const entryOf = (account: JobAccount): AccountValue => ({
  id: account.id,
  ...settingsOf(account),
  phase: 'reading',
  parcels: 0,
  total: 0,
  by: null,
  notBefore: 0,
  tries: 0,
  rounds: 0,
  aside: null,
  verdict: null,
  sync: null,
});

const json = (value: object): Json => value as unknown as Json;
